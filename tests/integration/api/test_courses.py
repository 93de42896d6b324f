"""Curricula and learners through the API: put, read, listed, deleted, and refused with the field at fault."""

import copy
import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.api import Api, refusal
from tests.support.courses import CHAPTER, CURRICULUM, LEARNER
from tests.support.deployment import Deployment
from tests.support.events import FOLDER

SAMPLES = {"curricula": CURRICULUM, "learners": LEARNER}


def put(api: Api, kind: str, body: Any, name: str = "book-1", **how: Any) -> Any:
    return api.call("PUT", f"/v1/{kind}/{name}", json.dumps(body), **how)


@pytest.mark.parametrize("kind", SAMPLES)
def test_what_is_put_is_read_back_listed_and_deleted(acme: Api, rival: Api, kind: str) -> None:
    made = put(acme, kind, SAMPLES[kind])
    assert (made.status, made.json["id"]) == (200, "book-1")
    read = acme.get(f"/v1/{kind}/book-1").json
    assert {name: read[name] for name in SAMPLES[kind]} == SAMPLES[kind]
    assert acme.get(f"/v1/{kind}").json == {"items": [made.json], "cursor": None}
    assert refusal(rival.get(f"/v1/{kind}/book-1"), 404)
    assert refusal(rival.call("DELETE", f"/v1/{kind}/book-1"), 404)
    assert rival.get(f"/v1/{kind}").json["items"] == []
    assert acme.call("DELETE", f"/v1/{kind}/book-1").status == 204
    assert refusal(acme.get(f"/v1/{kind}/book-1"), 404)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_repeat_with_its_key_is_done_once(acme: Api, kind: str) -> None:
    first = put(acme, kind, SAMPLES[kind], key="one")
    assert put(acme, kind, SAMPLES[kind], key="one").json == first.json
    gone = [acme.call("DELETE", f"/v1/{kind}/book-1", key="two").status for _ in range(2)]
    assert gone == [204, 204]


def test_a_summary_counts_what_there_is(acme: Api) -> None:
    summary = put(acme, "curricula", CURRICULUM).json
    assert [summary[name] for name in ("title", "chapters", "words", "patterns")] == ["華語第一冊", 2, 3, 1]
    assert put(acme, "learners", LEARNER).json["weak_points"] == 2


def test_a_table_is_taken_as_well_as_its_json(acme: Api) -> None:
    course = (FOLDER / "curriculum.csv").read_text(encoding="utf-8")
    made = put(acme, "curricula", {"title": "華語", "csv": "\ufeff" + course.replace("\n", "\r\n")})
    assert made.status == 200, made.body
    assert (made.json["title"], made.json["chapters"]) == ("華語", 4)
    first = acme.get("/v1/curricula/book-1").json["chapters"][0]["vocabulary"][0]
    assert first == {"hanzi": "朋友", "pinyin": "péngyǒu", "meanings": {"en": "friend"}}
    rows = "learner,ui_language,item,error_rate\nbook-1,ja,圖書館,35%\n"
    assert put(acme, "learners", {"csv": rows}).status == 200
    learner = acme.get("/v1/learners/book-1").json
    assert (learner["ui_language"], learner["weak_points"][0]["error_rate"]) == ("ja", 0.35)
    assert put(acme, "learners", {"csv": rows, "ui_language": "en"}).json["ui_language"] == "en"


@pytest.mark.parametrize(
    ("kind", "rows", "where"),
    [
        ("curricula", "chapter,kind,item\n1,word,朋友\n1,verb,吃\n", "line 3, column kind"),
        ("curricula", "chapter,kind\n1,word\n", None),
        ("curricula", "", None),
        ("learners", "learner,item,error_rate\nbook-1,朋友,often\n", "line 2, column error_rate"),
        ("learners", "learner,item,error_rate\nann,朋友,0.5\n", "csv"),
        ("learners", "learner,item,error_rate\nbook-1,朋友,0.5\nann,朋友,0.5\n", "csv"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_with_line_and_column(
    acme: Api, kind: str, rows: str, where: str | None
) -> None:
    document = refusal(put(acme, kind, {"csv": rows}), 400)
    assert where in {None, document["where"]}
    assert acme.get(f"/v1/{kind}").json["items"] == []


@pytest.mark.parametrize("name", ["華語", "ann@example.org", "a b", "100%", "a%41", "a%2Fb", "50%25"])
def test_an_id_is_any_name_that_an_address_can_say_and_is_decoded_once(acme: Api, name: str) -> None:
    address = f"/v1/learners/{quote(name, safe='')}"
    made = put(acme, "learners", LEARNER, quote(name, safe=""))
    assert (made.status, made.json["id"]) == (200, name)
    assert acme.get(address).json["id"] == name
    assert acme.call("DELETE", address).status == 204
    assert acme.get(address).status == 404


def test_an_id_that_is_too_long_is_refused(acme: Api) -> None:
    assert refusal(put(acme, "learners", LEARNER, "x" * 129), 400)["where"] == "id"


def test_a_reader_puts_and_deletes_nothing(acme: Api, deployment: Deployment) -> None:
    put(acme, "learners", LEARNER)
    reader = Api(token=deployment.token("acme", "reader"))
    assert refusal(put(reader, "learners", LEARNER), 403)
    assert refusal(reader.call("DELETE", "/v1/learners/book-1"), 403)
    assert reader.get("/v1/learners/book-1").status == 200


def changed(**changes: Any) -> dict[str, Any]:
    body = copy.deepcopy(CURRICULUM)
    body["chapters"][0] |= changes
    return body


@pytest.mark.parametrize(
    ("kind", "body", "where", "status"),
    [
        ("curricula", {"title": "x", "chapters": []}, "body.chapters", 422),
        ("curricula", {"title": "x", "chapters": [CHAPTER, CHAPTER]}, "body", 422),
        ("curricula", changed(vocabulary=[], grammar=[]), "body.chapters.0", 422),
        ("curricula", changed(vocabulary=[{"hanzi": " "}]), "body.chapters.0.vocabulary.0.hanzi", 422),
        ("curricula", changed(vocabulary=[{"hanzi": "x" * 300}]), "body.chapters.0.vocabulary.0.hanzi", 413),
        ("curricula", changed(words=[]), "body.chapters.0.words", 422),
        ("curricula", {"title": "x"}, "body", 422),
        ("curricula", CURRICULUM | {"csv": "chapter,kind,item"}, "body", 422),
        ("learners", LEARNER | {"csv": "learner,item,error_rate"}, "body", 422),
        ("learners", {"ui_language": "??"}, "body.ui_language", 422),
        ("learners", {"weak_points": [{"item": "公園", "error_rate": 1.5}]}, "body.weak_points.0.error_rate", 422),
        ("learners", {"weak_points": [{"item": "公園", "error_rate": 1}] * 2}, "body", 422),
        ("learners", {"id": "another"}, "id", 400),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(acme: Api, kind: str, body: Any, where: str, status: int) -> None:
    document = refusal(put(acme, kind, body), status)
    assert (document["errors"][0] if "errors" in document else document)["where"] == where
    assert acme.get(f"/v1/{kind}").json["items"] == []
