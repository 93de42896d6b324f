"""Curricula and learners through the API: put, read, listed, deleted, and refused with the field at fault."""

import copy
import json
from typing import Any

import pytest

from tests.support.api import Api, refusal
from tests.support.courses import CHAPTER, CURRICULUM, LEARNER
from tests.support.deployment import Deployment

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


@pytest.mark.parametrize("name", ["%E8%8F%AF%E8%AA%9E", "ann@example.org", "a%20b", "華語"])
def test_an_id_is_any_name_that_an_address_can_say(acme: Api, name: str) -> None:
    made = put(acme, "learners", LEARNER, name)
    assert made.status == 200, made.body
    assert acme.get(f"/v1/learners/{name}").json["id"] == made.json["id"]


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
