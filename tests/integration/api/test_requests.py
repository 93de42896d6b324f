"""Requests that cannot be taken: each gets a problem document that says what, where and what to do."""

import base64
import json
import re
from typing import Any
from urllib.parse import parse_qsl, quote

import pytest

from functions.api import app
from functions.api.requests import MAX_BODY_BYTES
from tests.support.api import PUBLISHED, Api, Response
from tests.support.deployment import Deployment
from tests.support.events import event
from tests.support.sinks import SaidAloud
from touchstone.answers.model import MAX_IMAGE_BYTES
from touchstone.records import Role

GOOD = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}


def _is_problem(response: Response, status: int) -> dict[str, Any]:
    document: dict[str, Any] = response.json
    assert (response.status, document["status"]) == (status, status)
    assert response.headers["content-type"] == "application/problem+json"
    assert document["type"].startswith("urn:touchstone:problem:")
    assert document["title"]
    assert document["detail"]
    return document


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (GOOD | {"sting": "unknown"}, "body.sting"),
        (GOOD | {"problem": ""}, "body.problem"),
        (GOOD | {"answer": None}, "body.answer"),
        ({"problem": "What?"}, "body.answer"),
        (GOOD | {"difficulty": "impossible"}, "body.difficulty"),
        (GOOD | {"verify_seconds": 6}, "body.verify_seconds"),
        ([], "body"),
        ("text", "body"),
        (GOOD | {"problem": "half \ud800 a character"}, "body.problem"),
    ],
)
def test_a_request_that_does_not_fit_is_refused_with_the_field_at_fault(acme: Api, body: Any, where: str) -> None:
    document = _is_problem(acme.post("/v1/verifications", body), 422)
    assert document["errors"][0]["where"] == where
    assert acme.get("/v1/answers").json["items"] == []


@pytest.mark.parametrize("body", [None, ""])
def test_a_body_that_is_missing_is_refused(acme: Api, body: str | None) -> None:
    assert _is_problem(acme.call("POST", "/v1/verifications", body), 422)["errors"][0]["where"] == "body"


def test_a_blank_problem_is_refused(acme: Api) -> None:
    assert _is_problem(acme.post("/v1/verifications", GOOD | {"problem": " \n"}), 400)["where"] == "problem"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "not json",
        '{"problem": NaN, "answer": "1"}',
        '{"problem": "p", "answer": Infinity}',
        '{"problem": "p", "problem": "q", "answer": "1"}',
        '{"a": ' * 10_000 + "1" + "}" * 10_000,
        "[" * 100_000,
        '{"problem": "p", "answer": "1", "' + "\\ud800" + '": 1}',
        '{"answer": ' + "9" * 5_000 + "}",
    ],
)
def test_r18_what_is_no_json_is_refused(acme: Api, text: str) -> None:
    document = _is_problem(acme.call("POST", "/v1/verifications", text), 400)
    assert document["where"] == "body"


def test_a_body_that_no_function_could_pass_on_is_refused_whole(acme: Api) -> None:
    fitting = json.dumps(GOOD | {"sting": ""})
    padded = fitting[:-2] + "x" * (MAX_BODY_BYTES - len(fitting)) + fitting[-2:]
    assert acme.call("POST", "/v1/verifications", padded).status == 422
    document = _is_problem(acme.call("POST", "/v1/verifications", padded + " "), 413)
    assert "/v1/batches" in document["detail"]


def test_an_image_of_the_greatest_size_fits_into_a_request_and_the_request_into_an_event(acme: Api) -> None:
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(MAX_IMAGE_BYTES - 8)).decode()
    body = json.dumps({"image": {"data_base64": picture}})
    assert acme.call("POST", "/v1/solutions", body).status == 202
    most = event("api_verify", body=body.ljust(MAX_BODY_BYTES), headers={"x": "x" * 10_240})
    assert len(json.dumps(most)) < 6 * 1024 * 1024


def test_a_batch_says_where_to_upload_to_those_who_may(acme: Api, deployment: Deployment) -> None:
    batch = acme.post("/v1/batches").json
    may: dict[Role, bool] = {"reader": False, "member": True, "admin": True}
    for role, shown in may.items():
        who = Api(token=deployment.token("acme", role))
        for seen in (who.get("/v1/batches").json["items"][0], who.get(f"/v1/batches/{batch['id']}").json):
            assert (seen["upload_url"] is not None) is shown
            assert seen["id"] == batch["id"]


def _pins(api: Api) -> dict[str, str]:
    """Who is pinned by hand, by subject."""
    return {one["subject"]: one["pinned"] for one in api.get("/v1/routing").json["subjects"]}


@pytest.mark.parametrize("subject", ["代数", "a%41", "50%25 off"])
def test_a_subject_may_have_any_name_and_is_decoded_once(deployment: Deployment, subject: str) -> None:
    admin, address = Api(token=deployment.token("acme", "admin")), f"/v1/routing/{quote(subject, safe='')}"
    pinned = admin.call("PUT", address, '{"provider": "openai"}')
    assert (pinned.status, pinned.json) == (200, {subject: "openai"})
    assert _pins(admin) == {subject: "openai"}
    assert admin.call("DELETE", address).status == 204
    assert _pins(admin) == {}


def test_a_provider_is_pinned_by_any_of_its_names_and_an_unknown_one_is_refused(deployment: Deployment) -> None:
    admin = Api(token=deployment.token("acme", "admin"))
    assert admin.call("PUT", "/v1/routing/algebra", '{"provider": "anthropic"}').json == {"algebra": "claude"}
    document = _is_problem(admin.call("PUT", "/v1/routing/algebra", '{"provider": "nobody"}'), 400)
    assert (document["where"], "claude, openai, gemini" in document["detail"]) == ("provider", True)
    assert _pins(admin) == {"algebra": "claude"}


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded", "x"])
def test_a_body_that_is_said_to_be_no_json_is_refused(acme: Api, kind: str) -> None:
    sent = acme.call("POST", "/v1/verifications", json.dumps(GOOD), headers={"content-type": kind})
    assert _is_problem(sent, 400)["where"] == "Content-Type"


def test_the_type_of_a_body_may_name_its_encoding(acme: Api) -> None:
    headers = {"content-type": "application/json; charset=utf-8"}
    assert acme.call("POST", "/v1/verifications", json.dumps(GOOD), headers=headers).status == 201


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/nothing?badge=verified", "/v2"])
def test_an_address_that_is_none_is_absent(acme: Api, path: str) -> None:
    address, _, query = path.partition("?")
    _is_problem(acme.get(address, **dict(parse_qsl(query))), 404)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/v1/verifications", "POST"),
        ("POST", "/v1/statistics/rates", "GET"),
        ("DELETE", "/v1/answers/some", "GET"),
        ("POST", "/v1/curricula/book", "DELETE, GET, PUT"),
        ("POST", "/health", "GET"),
    ],
)
def test_a_method_that_an_address_does_not_take_is_refused_with_those_it_takes(
    acme: Api, method: str, path: str, allowed: str
) -> None:
    refused = acme.call(method, path)
    document = _is_problem(refused, 405)
    assert (refused.headers["allow"], document["type"]) == (allowed, "urn:touchstone:problem:method_not_allowed")
    assert allowed in document["detail"]


DESCRIBED: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))["paths"]


@pytest.mark.parametrize("path", [path for path, taken in DESCRIBED.items() if "get" in taken and path != "/health"])
def test_no_list_and_no_record_takes_a_parameter_that_it_would_pass_over(deployment: Deployment, path: str) -> None:
    taken = {one["name"] for one in DESCRIBED[path]["get"].get("parameters", []) if one["in"] == "query"}
    needed = {"party": "x"} if "party" in taken else {}
    asked = re.sub(r"\{.*?\}", "some", path)
    document = _is_problem(Api(token=deployment.token("acme", "admin")).get(asked, badge="verified", **needed), 422)
    assert [one["where"] for one in document["errors"]] == ["query.badge"]
    there = ", ".join(sorted(taken)) or "none"
    assert document["detail"].startswith("query.badge is no parameter here; there ")
    assert document["detail"].endswith(f" {there}.")


def test_a_list_takes_all_the_parameters_it_names_and_its_own_cursor(acme: Api) -> None:
    for _ in range(2):
        acme.post("/v1/verifications", GOOD)
    first = acme.get("/v1/answers", limit=1, status="verified", sort="newest").json
    second = acme.get("/v1/answers", limit=1, status="verified", sort="newest", cursor=first["cursor"]).json
    assert first["items"][0]["id"] != second["items"][0]["id"]


@pytest.mark.parametrize("key", ["", "x" * 256, "line\nbreak", "\x00"])
def test_an_idempotency_key_that_cannot_serve_is_refused(acme: Api, key: str) -> None:
    assert _is_problem(acme.post("/v1/verifications", GOOD, key=key), 400)["where"] == "Idempotency-Key"


def test_a_fault_of_ours_is_told_without_its_words(
    acme: Api, monkeypatch: pytest.MonkeyPatch, warnings_printed: SaidAloud
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("canary of a fault")

    monkeypatch.setattr("functions.api.routes.answers.answers", broken)
    document = _is_problem(acme.get("/v1/answers"), 500)
    assert "canary" not in document["detail"]
    assert "ZeroDivisionError" in warnings_printed()
    assert "canary" not in warnings_printed()


@pytest.mark.parametrize("text", ["\\u5b57" * 900_000, '\\"' * 1_600_000], ids=["Chinese", "quotation marks"])
def test_r17_what_is_too_large_for_a_reply_is_said_to_be(acme: Api, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lambda takes 6,291,556 bytes; of a larger reply the gateway says nothing but that something went wrong."""
    large: dict[str, Any] = {"statusCode": 200, "headers": {}, "body": f'"{text}"', "isBase64Encoded": False}
    assert len(large["body"]) < 6_291_556 < len(json.dumps(large))
    monkeypatch.setattr(app.app, "resolve", lambda *_: large)
    document = _is_problem(acme.get("/v1/measurements/01M8HHRPCQQQTG77JMQVEJGKRP"), 409)
    assert "too many for a reply" in document["detail"]
    fits = large | {"body": f'"{"x" * 5_900_000}"', "headers": {"Content-Type": "application/json"}}
    monkeypatch.setattr(app.app, "resolve", lambda *_: fits)
    assert acme.get("/v1/measurements/01M8HHRPCQQQTG77JMQVEJGKRP").status == 200


def test_a_store_that_fails_is_worth_a_repeat(acme: Api, deployment: Deployment) -> None:
    from functions.composition import stores
    from tests.support.store_faults import refusing

    with refusing(stores.table().meta.client, "TransactWriteItems", "ProvisionedThroughputExceededException", times=9):
        refused = acme.post("/v1/verifications", GOOD)
    assert _is_problem(refused, 503)
    assert refused.headers["retry-after"] == "2"
