"""The steps of tasks as they are deployed: what they take and say, and that nothing is doubled or lost on the way."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from functions import sweep
from functions.api import app
from functions.oracle import close, compare, decide, draft, finalise, gate, rank, rescore, score
from tests.support.api import Api
from tests.support.api_tasks import HOUR, ApiTask, task_body
from tests.support.clocks import later
from tests.support.deployment import Context, Deployment
from tests.support.events import event
from tests.support.machines import Handler
from tests.support.providers import ProviderServer, error, success
from tests.support.sinks import listening
from tests.support.wire import Kind
from touchstone.errors import NotFoundError

STEPS: dict[str, Handler] = {
    "draft": draft,
    "gate": gate,
    "score": score,
    "close": close,
    "compare": compare,
    "rank": rank,
    "finalise": finalise,
    "rescore": rescore,
    "decide": decide,
}
BEFORE_THE_DEADLINE = ("draft", "gate", "score")
STALLED = (2 * HOUR, HOUR / 2)
"""Seconds after which nobody can be at work any more: on a round of comparisons, and on any other step."""


@pytest.fixture
def demo(judged: Deployment) -> Api:
    """A member of the tenant that the sample events name."""
    return Api(token=judged.token("demo"))


@pytest.mark.parametrize("name", STEPS)
def test_the_sample_of_a_step_holds_references_and_names_what_is_not_there(deployment: Deployment, name: str) -> None:
    with pytest.raises(NotFoundError, match="There is no"):
        STEPS[name](event(f"step_{name}"), Context())


@pytest.mark.parametrize("name", ["api_task", "api_submission", "api_challenge"])
def test_the_sample_requests_are_taken(deployment: Deployment, name: str) -> None:
    said = app.handler(event(name), Context())
    assert said["statusCode"] == (202 if name == "api_task" else 404), said["body"]


def _whole_contest(demo: Api, judged: Deployment) -> ApiTask:
    task = ApiTask.created(demo, judged)
    for name, reading in (("ann", 90), ("bob", 80), ("cy", 70)):
        task.hand_in(name, reading)
    task.pass_time()
    task.contest("cy", "bob")
    task.pass_time()
    assert task.seen()["state"] == "final"
    return task


def test_r20_every_step_repeated_after_its_effect_doubles_nothing(
    demo: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judged.machines.repeats = 2
    task = _whole_contest(demo, judged)
    assert task.ranking() == [("ann", 1), ("bob", 2), ("cy", 3)]
    asked = [(call.provider, call.title) for call in judges.calls]
    first, second = ([title for who, title in asked if who == provider] for provider in ("anthropic", "openai"))
    assert {title: first.count(title) for title in set(first)} == {
        "DimensionsReply": 1,
        "GateReply": 3,
        "IndividualReply": 3,
        "HorizontalReply": 4 * 2,
    }
    assert {title: second.count(title) for title in set(second)} == {"IndividualReply": 1, "HorizontalReply": 4 * 2}
    assert len(asked) == len(first) + len(second)
    assert sorted(told["kind"] for told in judged.told()) == ["payout.due", "result.final", "task.closed"]
    assert len({told["id"] for told in judged.told()}) == 3


@pytest.mark.parametrize("lost", STEPS)
def test_r3_whatever_step_is_lost_the_sweep_takes_its_work_up_again(demo: Api, judged: Deployment, lost: str) -> None:
    task = _losing(
        judged,
        lost if lost == "draft" else "",
        lambda: ApiTask.created(
            demo, judged, challenge_seconds=3 * HOUR, deadline=task_body(seconds=2 * HOUR)["deadline"]
        ),
    )
    _losing(judged, lost if lost in {"gate", "score"} else "", task.hand_in, "ann", 90)
    task.hand_in("bob", 80)
    _losing(judged, lost if lost in {"close", "compare", "rank"} else "", task.pass_time, 2 * HOUR)
    _losing(judged, lost if lost in {"rescore", "decide"} else "", task.contest, "bob", "bob")
    assert [one["state"] for one in task.challenges()] == ["rejected"]
    _losing(judged, lost if lost == "finalise" else "", task.pass_time, 3 * HOUR + 1)
    assert (task.seen()["state"], task.ranking()) == ("final", [("ann", 1), ("bob", 2)])
    assert sorted(told["kind"] for told in judged.told()) == ["payout.due", "result.final", "task.closed"]
    assert sweep.handler({"source": "schedule"}, Context())["restarted"] == 0


def _losing[T](judged: Deployment, step: str, work: Callable[..., T], *given: Any) -> T:
    """Work in which a step is lost, and what the sweep does when nobody can be at it any more."""
    machines = judged.machines
    machines.lost = frozenset({step} - {""})
    done = work(*given)
    if machines.lost:
        machines.lost = frozenset()
        assert sweep.handler({"source": "schedule"}, Context())["restarted"] == 0, "it may be at work yet"
        later(STALLED[step in BEFORE_THE_DEADLINE])
        assert sweep.handler({"source": "schedule"}, Context())["restarted"] == 1
    return done


def test_r21_a_deadline_that_passes_twice_closes_once_and_one_that_was_moved_is_superseded(
    demo: Api, judged: Deployment
) -> None:
    task = ApiTask.created(demo, judged)
    task.hand_in("ann", 90)
    references = {"tenant": "demo", "task_id": task.id}
    old = task.seen()["deadline"]
    early = close({**references, "deadline": old}, Context())
    assert (early["state"], early["wait_seconds"] > HOUR - 60) == ("waiting", True)
    moved = task.api.call("PATCH", task.path, json.dumps({"deadline": task_body(seconds=2 * HOUR)["deadline"]}))
    later(HOUR + 1)
    assert close({**references, "deadline": old}, Context())["state"] == "superseded"
    task.hand_in("bob", 80)
    later(HOUR)
    twice = [close({**references, "deadline": moved.json["deadline"]}, Context()) for _ in range(2)]
    assert [said["state"] for said in twice] == ["comparing", "comparing"]
    assert twice[0] == twice[1]
    for dimension in twice[0]["dimensions"]:
        compare({**references, "dimension": dimension}, Context())
    assert [rank(references, Context())["state"] for _ in range(2)] == ["challenge", "challenge"]
    assert task.ranking() == [("ann", 1), ("bob", 2)]


MET = {
    "number": 1,
    "evidence": None,
    "reason": "It does so throughout.",
    "passed": True,
    "confidence": 0.9,
    "revision_hint": None,
}
MOST_LOOKS = 12
A_WHILE = 1000.0
"""Seconds that a provider asks for: more than a step has."""
FAULTS: list[tuple[Kind, str]] = [
    ("overloaded", "overloaded"),
    ("server_error", "overloaded"),
    ("minute_quota", "minute_quota"),
    ("off_schema", "unreadable"),
    ("refused", "refused"),
    ("unauthorized", "misconfigured"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_judge_that_fails_is_waited_for_and_why_is_counted(
    demo: Api,
    judged: Deployment,
    judges: ProviderServer,
    fault: tuple[Kind, str],
) -> None:
    kind, reason = fault
    task = ApiTask.created(demo, judged)
    judges.rule(error(kind, retry_after=A_WHILE), schema="GateReply")
    with listening() as heard:
        seen = task.hand_in("ann", 90)
    said = [one for name, one in judged.machines.said if name == "gate"]
    noted = heard()
    if said[-1]["state"] == "waiting":
        assert seen["standing"] == "received"
        assert f"'reason': '{reason}'" in noted
        assert "'step': 'Gate', 'state': 'waiting'" in noted
        judges.rule(success({"criteria_checks": [MET]}), schema="GateReply")
        # A key that was refused is remembered for three minutes, so that it takes more than one look.
        for _ in range(MOST_LOOKS):
            waited = [one["wait_seconds"] for name, one in judged.machines.said if name == "gate"]
            later(waited[-1])
            judged.machines.wake()
            if task.own("ann")["standing"] != "received":
                break
        assert task.own("ann")["standing"] == "gate_passed"
    else:
        assert (seen["standing"], seen["unscored"]) == ("unscored", reason)
        assert "'step': 'Gate', 'state': 'unscored'" in noted
