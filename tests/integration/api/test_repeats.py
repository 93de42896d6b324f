"""R19: a write that carries an idempotency key is done once, whatever happens to its first run."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.client import BaseClient

from functions.composition import work
from infra.grants import REMEMBERING
from tests.support.api import Api
from tests.support.deployment import IDEMPOTENCY, Context, Deployment
from touchstone.errors import StoreError
from touchstone.records import Answers, Role
from touchstone.workflows import Workflows

GOOD = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12"}
KEY = "3f0e8c2a-6d1b-4f5e-9a7c-0d2b4c6e8f10"


@pytest.fixture(autouse=True)
def granted_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In all that is done here, the table of keys is asked for nothing but what the stack grants."""
    asked: set[str] = set()
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(client: BaseClient, operation: str, given: dict[str, Any]) -> Any:
        if given.get("TableName") == IDEMPOTENCY and {"Key", "Item"} & given.keys():
            asked.add(f"dynamodb:{operation}")
        return call(client, operation, given)

    monkeypatch.setattr(BaseClient, "_make_api_call", noted)
    yield
    assert "dynamodb:UpdateItem" in asked
    assert asked <= set(REMEMBERING)


class Killed(BaseException):
    """The process ends here: nothing catches it, nothing is cleaned up."""


def test_r19_the_same_request_again_gets_the_first_answer_and_makes_no_second_record(acme: Api) -> None:
    first, again = (acme.post("/v1/verifications", GOOD, key=KEY) for _ in range(2))
    assert (first.status, again.status) == (201, 201)
    assert again.json == first.json
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["content-type"] == first.headers["content-type"] == "application/json"
    assert len(acme.get("/v1/answers").json["items"]) == 1


@pytest.mark.parametrize("other", [GOOD | {"answer": "10/12"}, GOOD | {"use_cache": False}])
def test_r19_the_key_of_another_request_is_refused(acme: Api, other: dict[str, Any]) -> None:
    acme.post("/v1/verifications", GOOD, key=KEY)
    refused = acme.post("/v1/verifications", other, key=KEY)
    assert (refused.status, refused.json["type"]) == (422, "urn:touchstone:problem:idempotency_key_reused")
    assert acme.post("/v1/solutions", {"problem": GOOD["problem"]}, key=KEY).status == 422
    assert len(acme.get("/v1/answers").json["items"]) == 1


def test_r19_a_repeat_while_the_first_runs_is_told_to_wait(acme: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    verify = work.verify_now

    def repeated_meanwhile(*asked: Any, **of: Any) -> None:
        refused = acme.post("/v1/verifications", GOOD, key=KEY)
        seen.append(refused.status)
        assert refused.headers["retry-after"]
        verify(*asked, **of)

    monkeypatch.setattr(work, "verify_now", repeated_meanwhile)
    assert acme.post("/v1/verifications", GOOD, key=KEY).status == 201
    assert seen == [409]


def test_r19_another_tenants_key_is_another_key(acme: Api, rival: Api) -> None:
    mine, theirs = (who.post("/v1/verifications", GOOD, key=KEY).json for who in (acme, rival))
    assert mine["id"] != theirs["id"]
    assert acme.get(f"/v1/answers/{theirs['id']}").status == 404


@pytest.mark.parametrize("role", ["reader", "admin"])
def test_r19_what_one_role_was_answered_is_not_shown_to_another(acme: Api, deployment: Deployment, role: Role) -> None:
    assert acme.post("/v1/verifications", GOOD, key=KEY).status == 201
    other = Api(token=deployment.token("acme", role)).post("/v1/verifications", GOOD, key=KEY)
    assert (other.status, other.json["type"]) == (422, "urn:touchstone:problem:idempotency_key_reused")
    assert "verification_status" not in other.body


@pytest.mark.parametrize("remaining_ms", [0, 20])
def test_r6_a_first_run_that_died_does_not_lock_its_key(
    acme: Api, remaining_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = Api(token=acme.token, context=Context(remaining_ms=remaining_ms))

    def killed(*_: Any, **_of: Any) -> bool:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(work, "verify_now", killed)
        with pytest.raises(Killed):
            dying.post("/v1/verifications", GOOD, key=KEY)
    time.sleep(0.03)
    again = acme.post("/v1/verifications", GOOD, key=KEY)
    assert (again.status, again.json["verification_status"]) == (201, "verified")
    assert len(acme.get("/v1/answers").json["items"]) == 1


@pytest.mark.parametrize("stored", [False, True])
def test_r3_a_repeat_after_a_death_meets_the_record_of_the_first_run(
    acme: Api, deployment: Deployment, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    """The process dies before anything of the answer is stored, or with its end stored and nobody told."""
    verify, seen = work.verify_now, list[str]()

    def killed(answers: Answers, answer_id: str, *asked: Any, **of: Any) -> None:
        seen.append(answer_id)
        if stored:
            verify(answers, answer_id, *asked, **of)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(work, "verify_now", killed)
        with pytest.raises(Killed):
            Api(token=acme.token, context=Context(remaining_ms=0)).post("/v1/verifications", GOOD, key=KEY)
    assert len(acme.get("/v1/answers").json["items"]) == stored
    again, after = (acme.post("/v1/verifications", GOOD, key=KEY).json for _ in range(2))
    assert (again["id"], again["verification_status"]) == (seen[0], "verified")
    assert after == again
    assert [item["id"] for item in acme.get("/v1/answers").json["items"]] == seen
    counted = [row for row in deployment.rows() if "status_verified" in row and str(row["sk"]).startswith("DAY#")]
    assert [row["status_verified"] for row in counted] == [1]


def test_r19_a_run_that_failed_leaves_its_records_id_to_the_next(acme: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record is stored when the machine cannot be started; the caller is told to repeat."""

    def refused(*_: Any, **_how: Any) -> None:
        raise StoreError("The workflow could not be started; it is safe to repeat.")

    with monkeypatch.context() as patch:
        patch.setattr(Workflows, "start", refused)
        assert acme.post("/v1/solutions", {"problem": GOOD["problem"]}, key=KEY).status == 503
    made = acme.post("/v1/solutions", {"problem": GOOD["problem"]}, key=KEY)
    assert made.status == 202
    assert [item["id"] for item in acme.get("/v1/answers").json["items"]] == [made.json["id"]]


def test_a_request_that_was_refused_does_not_use_its_key_up(acme: Api) -> None:
    assert acme.post("/v1/verifications", GOOD | {"problem": " "}, key=KEY).status == 400
    assert acme.post("/v1/verifications", GOOD, key=KEY).status == 201


def test_a_batch_is_begun_once(acme: Api) -> None:
    first, again = (acme.post("/v1/batches", key=KEY) for _ in range(2))
    assert (first.status, again.json["id"]) == (201, first.json["id"])


def test_a_token_is_shown_once_and_remembered_nowhere(deployment: Deployment) -> None:
    admin = Api(token=deployment.token("acme", "admin"))
    first, again = (admin.post("/v1/tokens", {"role": "reader", "name": "wall"}, key=KEY) for _ in range(2))
    assert (first.status, again.status) == (201, 201)
    token = first.json["token"]
    assert Api(token=token).get("/v1/answers").status == 200
    assert again.json == first.json | {"token": None}
    assert token not in json.dumps(deployment.rows(), default=str)


def test_a_pin_that_is_removed_again_answers_without_a_body(deployment: Deployment) -> None:
    admin = Api(token=deployment.token("acme", "admin"))
    assert admin.call("PUT", "/v1/routing/algebra", '{"provider": "openai"}', key="pin").json == {"algebra": "openai"}
    for _ in range(2):
        gone = admin.call("DELETE", "/v1/routing/algebra", key="unpin")
        assert (gone.status, gone.body) == (204, "")
    assert admin.get("/v1/routing").json["subjects"] == []
