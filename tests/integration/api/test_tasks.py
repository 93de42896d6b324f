"""Tasks through the API: created once, read, listed, their deadline moved, and refused with the field at fault."""

import json
from typing import Any

import pytest

from tests.support.api import Api, refusal
from tests.support.api_tasks import CRITERION, DESCRIPTION, HOUR, UNKNOWN, ApiTask, task_body
from tests.support.clocks import later
from tests.support.deployment import Deployment
from touchstone.oracle.task import LONGEST_CONTEST

BRIEF = {"description": DESCRIPTION, "acceptance_criteria": [CRITERION]}


def test_a_task_is_open_with_its_locked_dimensions_whose_weights_sum_to_one(buyer: Api) -> None:
    made = buyer.post("/v1/tasks", task_body())
    assert (made.status, made.json["state"]) == (202, "drafting")
    assert made.location == f"/v1/tasks/{made.json['id']}"
    task = buyer.get(made.location).json
    assert (task["state"], task["path"], task["owner"], task["failure"]) == ("open", "quality_first", "buyer", None)
    assert 4 <= len(task["dimensions"]) <= 6
    assert {"substantiveness", "credibility", "completeness"} < {each["id"] for each in task["dimensions"]}
    assert sum(each["weight"] for each in task["dimensions"]) == pytest.approx(1.0)
    assert task["tokens"] > 0
    assert (task["ranking"], task["winner"], task["closed_at"]) == (None, None, None)


def test_without_a_judge_a_task_stays_in_the_making_and_says_what_to_set(acme: Api) -> None:
    task = acme.post("/v1/tasks", task_body()).json
    seen = acme.get(f"/v1/tasks/{task['id']}").json
    assert (seen["state"], seen["dimensions"]) == ("drafting", [])
    assert "ANTHROPIC_API_KEY" in seen["failure"]
    refused = refusal(acme.post(f"/v1/tasks/{task['id']}/submissions", {"submitter": "ann", "text": "Work."}), 409)
    assert "dimensions" in refused["detail"]


@pytest.mark.parametrize(
    ("changes", "where", "status"),
    [
        ({"brief": {"description": DESCRIPTION, "acceptance_criteria": []}}, "brief.acceptance_criteria", 422),
        ({"brief": {"description": DESCRIPTION}}, "brief.acceptance_criteria", 422),
        ({"brief": BRIEF | {"acceptance_criteria": [CRITERION] * 40}}, "brief.acceptance_criteria", 413),
        ({"brief": BRIEF | {"acceptance_criteria": [" \n"]}}, "brief.acceptance_criteria.0", 422),
        ({"brief": BRIEF | {"acceptance_criteria": ["x" * 1001]}}, "brief.acceptance_criteria.0", 413),
        ({"brief": BRIEF | {"description": "\u200b"}}, "brief.description", 422),
        ({"brief": BRIEF | {"description": "x" * 20_001}}, "brief.description", 413),
        ({"path": "best_of_three"}, "path", 422),
        ({"deadline": "2030-01-01T00:00:00"}, "deadline", 422),
        ({"deadline": "tomorrow"}, "deadline", 422),
        ({"owner": ""}, "owner", 422),
        ({"challenge_seconds": 31 * 24 * HOUR}, "challenge_seconds", 422),
        ({"challenge_seconds": -1}, "challenge_seconds", 422),
        ({"dimensions": []}, "dimensions", 422),
    ],
)
def test_a_task_that_does_not_fit_is_refused_with_the_field_at_fault(
    acme: Api, changes: dict[str, Any], where: str, status: int
) -> None:
    document = refusal(acme.post("/v1/tasks", task_body(**changes)), status)
    assert document["errors"][0]["where"] == f"body.{where}"
    assert acme.get("/v1/tasks").json["items"] == []


@pytest.mark.parametrize("seconds", [-60, 0, LONGEST_CONTEST.total_seconds() + HOUR])
def test_a_deadline_that_is_past_or_too_far_isrefusal(acme: Api, seconds: float) -> None:
    assert refusal(acme.post("/v1/tasks", task_body(seconds=seconds)), 400)["where"] == "deadline"
    assert acme.get("/v1/tasks").json["items"] == []


def test_tasks_are_listed_newest_first_a_page_at_a_time(acme: Api, rival: Api) -> None:
    made = [acme.post("/v1/tasks", task_body(path)).json["id"] for path in ("quality_first", "fastest_first") * 2]
    rival.post("/v1/tasks", task_body())
    first = acme.get("/v1/tasks", limit=3).json
    rest = acme.get("/v1/tasks", limit=3, cursor=first["cursor"]).json
    assert [item["id"] for item in (*first["items"], *rest["items"])] == made[::-1]
    assert rest["cursor"] is None
    assert first["items"][0]["description"] == DESCRIPTION
    assert rival.get("/v1/tasks", cursor=first["cursor"]).status == 400
    assert acme.get("/v1/answers", cursor=first["cursor"]).status == 400


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"cursor": "garbled"}])
def test_a_page_of_tasks_that_cannot_be_isrefusal(acme: Api, query: dict[str, Any]) -> None:
    assert acme.get("/v1/tasks", **query).status in {400, 422}


def test_r19_a_task_is_created_once_by_its_key(acme: Api, rival: Api) -> None:
    body = task_body()
    first, again = (acme.post("/v1/tasks", body, key="k") for _ in range(2))
    assert (first.status, again.status, again.json) == (202, 202, first.json)
    assert again.headers["location"] == first.headers["location"]
    assert refusal(acme.post("/v1/tasks", body | {"owner": "another"}, key="k"), 422)
    assert rival.post("/v1/tasks", body, key="k").json["id"] != first.json["id"]
    assert len(acme.get("/v1/tasks").json["items"]) == 1


def test_a_deadline_moves_earlier_and_later_until_it_has_passed(buyer: Api, judged: Deployment) -> None:
    task = ApiTask.created(buyer, judged)
    locked = task.seen()["dimensions"]
    for seconds in (2 * HOUR, HOUR / 2):
        deadline = task_body(seconds=seconds)["deadline"]
        moved = buyer.call("PATCH", task.path, f'{{"deadline": "{deadline}"}}')
        assert (moved.status, moved.json["state"], moved.json["dimensions"]) == (200, "open", locked)
        assert moved.json["deadline"] == deadline.replace("+00:00", "Z")
    task.hand_in("ann")
    task.pass_time(HOUR / 2 + 1)
    assert task.seen()["state"] == "challenge", "the contest ended at the deadline that was set last"
    late = refusal(buyer.call("PATCH", task.path, f'{{"deadline": "{task_body()["deadline"]}"}}'), 409)
    assert "passed" in late["detail"]


def test_a_deadline_that_passed_cannot_be_moved_although_nobody_closed_the_task_yet(
    buyer: Api, judged: Deployment
) -> None:
    task = ApiTask.created(buyer, judged)
    later(HOUR)
    assert task.seen()["state"] == "open"
    assert refusal(buyer.call("PATCH", task.path, f'{{"deadline": "{task_body()["deadline"]}"}}'), 409)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"brief": BRIEF}, 409),
        ({"path": "fastest_first"}, 409),
        ({"owner": "another"}, 409),
        ({"challenge_seconds": 5}, 409),
        ({"deadline": "2030-01-01T00:00:00Z", "owner": "another"}, 409),
        ({}, 400),
        ({"deadline": None}, 400),
        ({"deadline": "2020-01-01T00:00:00Z"}, 400),
        ({"deadline": "2129-01-01T00:00:00Z"}, 400),
        ({"deadline": "soon"}, 422),
        ({"dimensions": []}, 422),
        ({"state": "final"}, 422),
    ],
)
def test_nothing_but_the_deadline_of_a_locked_task_changes(
    buyer: Api, judged: Deployment, body: dict[str, Any], status: int
) -> None:
    task = ApiTask.created(buyer, judged)
    before = task.seen()
    refusal(buyer.call("PATCH", task.path, json.dumps(body)), status)
    assert task.seen() == before


def test_a_task_that_is_none_is_absent_by_every_address(buyer: Api) -> None:
    party = {"party": "buyer"}
    work = {"submitter": "ann", "text": "Work."}
    challenge = {"challenger": "buyer", "submission_id": UNKNOWN, "reason": "So."}
    here = f"/v1/tasks/{UNKNOWN}"
    for reply in (
        buyer.get(here),
        buyer.call("PATCH", here, '{"deadline": "2030-01-01T00:00:00Z"}'),
        buyer.post(f"{here}/submissions", work),
        buyer.get(f"{here}/submissions", **party),
        buyer.get(f"{here}/submissions/{UNKNOWN}", **party),
        buyer.post(f"{here}/challenges", challenge),
        buyer.get(f"{here}/challenges", **party),
    ):
        refusal(reply, 404)
