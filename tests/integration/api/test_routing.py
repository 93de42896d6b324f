"""Routing through the API: who solves a subject and why, since when, and who would take over."""

import json
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import EndpointConnectionError

from functions.environment import environment
from tests.support.api import Api
from tests.support.deployment import Deployment
from touchstone.clock import system_clock
from touchstone.records.table import Item

SUBJECT = "geography"
"""What the judges say that the problem is about."""


def answered(deployment: Deployment, provider: str, *, decided: int, correct: int, tenant: str = "acme") -> None:
    """Count so many verified answers of a provider, more than a test can have made."""
    key = {"pk": f"T#{tenant}#COUNTS#0", "sk": f"PROVIDER#{provider}#{SUBJECT}"}
    deployment.table.put_item(Item={**key, "n": decided, "correct": correct, "skipped": 0})


def of_subject(api: Api) -> dict[str, Any]:
    """What is told of the subject."""
    [found] = [one for one in api.get("/v1/routing").json["subjects"] if one["subject"] == SUBJECT]
    return dict(found)


def solve(api: Api) -> None:
    """Have a new problem of the subject solved."""
    problem = {"problem": f"Name the capital of country {system_clock().timestamp()}.", "subject": SUBJECT}
    made = api.post("/v1/solutions", problem)
    assert made.status == 202, made.body


@pytest.fixture
def admin(judged: Deployment) -> Api:
    return Api(token=judged.token("acme", "admin"))


def test_a_subject_goes_from_the_default_to_the_data_to_a_pin_and_back(judged: Deployment, admin: Api) -> None:
    assert admin.get("/v1/routing").json == {
        "default": "claude", "min_samples": 500, "subjects": [], "cursor": None,
    }  # fmt: skip
    answered(judged, "openai", decided=480, correct=470)
    found = of_subject(admin)
    assert (found["provider"], found["why"], found["since"]) == ("claude", "default", None)
    assert found["candidate"] == {"provider": "openai", "decided": 480, "rate": pytest.approx(470 / 480), "lacks": 20}
    answered(judged, "openai", decided=600, correct=590)
    before = system_clock()
    assert (of_subject(admin)["provider"], of_subject(admin)["since"]) == ("openai", None)
    solve(admin)
    found = of_subject(admin)
    assert (found["provider"], found["why"], found["before"], found["candidate"]) == ("openai", "data", None, None)
    since = found["since"]
    assert before.isoformat() <= since.replace("Z", "+00:00") <= system_clock().isoformat()
    assert found["evidence"][-1]["counts"] is True
    assert found["evidence"][-1]["lower"] < 590 / 600 < found["evidence"][-1]["upper"]
    solve(admin)
    assert of_subject(admin)["since"] == since
    admin.call("PUT", f"/v1/routing/{SUBJECT}", json.dumps({"provider": "gemini"}))
    found = of_subject(admin)
    assert (found["provider"], found["why"], found["pinned"], found["pinned_by"]) == (
        "gemini", "pinned", "gemini", "tenant",
    )  # fmt: skip
    assert found["without_pin"] == {"provider": "openai", "why": "data"}
    assert found["since"] > since
    # What the data says is noted under a pin too: on taking that out, all of it is known.
    answered(judged, "claude", decided=900, correct=898)
    solve(admin)
    admin.call("DELETE", f"/v1/routing/{SUBJECT}")
    found = of_subject(admin)
    assert (found["provider"], found["why"]) == ("claude", "data")
    assert found["before"] == {"provider": "openai", "why": "data"}
    assert found["since"] > since


def test_a_pin_of_the_deployment_is_told_as_such_and_gives_way_to_the_tenants_own(
    judged: Deployment, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBJECT_PROVIDER_MAP", json.dumps({SUBJECT: "anthropic"}))
    environment.cache_clear()
    found = of_subject(admin)
    assert (found["provider"], found["why"], found["since"]) == ("claude", "pinned", None)
    assert (found["pinned"], found["pinned_by"]) == ("claude", "deployment")
    admin.call("PUT", f"/v1/routing/{SUBJECT}", json.dumps({"provider": "gemini"}))
    found = of_subject(admin)
    assert (found["provider"], found["pinned_by"]) == ("gemini", "tenant")


def test_where_no_provider_has_a_key_nobody_is_chosen(deployment: Deployment) -> None:
    reader = Api(token=deployment.token("acme", "reader"))
    answered(deployment, "openai", decided=0, correct=0)
    found = of_subject(reader)
    assert (found["provider"], found["why"], found["without_pin"], found["candidate"]) == (None, None, None, None)
    assert found["evidence"][0]["rate"] is None
    assert reader.get("/v1/routing").json["default"] is None


def test_another_tenants_routing_is_not_told(judged: Deployment, admin: Api) -> None:
    answered(judged, "openai", decided=600, correct=590, tenant="rival")
    Api(token=judged.token("rival", "admin")).call("PUT", "/v1/routing/optics", json.dumps({"provider": "gemini"}))
    assert admin.get("/v1/routing").json["subjects"] == []


def test_it_is_read_by_as_many_requests_however_many_subjects_there_are(
    judged: Deployment, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, asked = BaseClient._make_api_call, []  # type: ignore[attr-defined]

    def counted(self: BaseClient, operation: str, parameters: Any) -> Any:
        asked.append(operation)
        return send(self, operation, parameters)

    numbers = []
    for more in (1, 200):
        with judged.table.batch_writer() as batch:
            for number in range(more):
                item: Item = {"pk": "T#acme#COUNTS#1", "sk": f"PROVIDER#openai#s{number}", "n": 1, "correct": 1}
                batch.put_item(Item=item | {"skipped": 0})
        with monkeypatch.context() as watched:
            asked.clear()
            watched.setattr(BaseClient, "_make_api_call", counted)
            assert len(admin.get("/v1/routing").json["subjects"]) == more
            assert len(admin.get("/v1/statistics/rates").json["provider_subject"]) == more
            numbers.append(asked.count("Query") + asked.count("GetItem"))
    assert numbers[0] == numbers[1]
    for path, rows in (("/v1/routing", "subjects"), ("/v1/statistics/rates", "provider_subject")):
        first = admin.get(path, limit=150).json
        rest = admin.get(path, limit=150, cursor=first["cursor"]).json
        assert (len(first[rows]), len(rest[rows]), rest["cursor"]) == (150, 50, None)
        assert admin.get(path, cursor="nonsense").status == 400
        assert admin.get(path, limit=1001).status == 422


def test_a_note_that_cannot_be_kept_costs_nobody_an_answer(
    judged: Deployment, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(judged, "openai", decided=600, correct=590)
    send = BaseClient._make_api_call  # type: ignore[attr-defined]

    def failing(self: BaseClient, operation: str, parameters: Any) -> Any:
        if operation == "PutItem" and str(parameters["Item"].get("sk", "")).startswith("CHOICE#"):
            raise EndpointConnectionError(endpoint_url="https://table")
        return send(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", failing)
    solve(admin)
    [listed] = admin.get("/v1/answers").json["items"]
    assert listed["verification_status"] == "verified"
    assert of_subject(admin)["since"] is None
