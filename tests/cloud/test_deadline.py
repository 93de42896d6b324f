"""A judge that is slow, broken or spent: the caller has an answer in time, and it never says more than is known."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.callers import Caller
from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer
from tests.support.overrides import own_model, registry

pytestmark = pytest.mark.cloud

BONES: dict[str, Any] = {"problem": "How many bones does an adult human have?", "answer": "206", "use_cache": False}
SLOW: dict[str, Any] = {"kind": "hang", "seconds": 20.0}
LIMIT_SECONDS = 5.3
"""Five for the verification, and what the way there and back may take on a machine that has nothing else to do."""
SYNCHRONOUS = ("ApiAuthorizer", "ApiVerifying")
"""Every function between the caller and the verdict."""


@pytest.fixture
def in_time(record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a call, and see that it did not wait for its judge.

    That the five seconds are kept to the hundredth is shown in made-up time (`tests.integration.faults`). How long the
    way takes beside them is the machine's: it is told on the terminal and in the report, and no test fails of it.
    """

    def run(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        began = time.monotonic()
        view = call()
        took = time.monotonic() - began
        record_property("seconds", round(took, 3))
        with capsys.disabled():
            slow = "" if took <= LIMIT_SECONDS else f", and {LIMIT_SECONDS} s on a machine at rest"
            print(f" [{took:.2f} s{slow}] ", end="")
        assert took < SLOW["seconds"]
        return view

    return run


def test_a_judge_of_20_s_leaves_the_caller_unverified_in_time(caller: Caller, judge: JudgeServer, in_time: Any) -> None:
    warm_up(caller)
    judge.rule(SLOW, schema_title="VerifyReply")
    view = in_time(lambda: caller.verify(**BONES))
    assert (view["verification_status"], view["skip_reason"]) == ("unverified", "timed_out")
    assert (view["verify_passed"], view["verification_confidence"]) == (None, 0.0)
    assert len(judge.calls(text="206")) == 1


def test_so_it_does_when_every_function_is_cold(cloud: Cloud, caller: Caller, judge: JudgeServer, in_time: Any) -> None:
    judge.rule(SLOW, schema_title="VerifyReply")
    with cloud.functions.changed(*SYNCHRONOUS, variables={"TOUCHSTONE_FRESH_SHARE": "0.1"}):
        view = in_time(lambda: caller.verify(**BONES))
        assert (view["verification_status"], view["skip_reason"]) == ("unverified", "timed_out")
    assert caller.answer(view["id"])["verification_status"] == "unverified"


def test_a_judge_that_drips_its_answer_is_no_faster(caller: Caller, judge: JudgeServer, in_time: Any) -> None:
    judge.rule({"kind": "drip", "seconds": 1.0}, schema_title="VerifyReply")
    view = in_time(lambda: caller.verify(**BONES))
    assert (view["verification_status"], view["skip_reason"]) == ("unverified", "timed_out")


def warm_up(caller: Caller) -> None:
    """Have every function between the caller and the judge at work, as they are in a deployment that is in use."""
    while caller.verify(problem="Name the capital of Australia.", answer="Canberra")["method"] != "judge":
        pass


FAILURES = {
    "off_schema": "unreadable",
    "truncated": "unreadable",
    "html": "unreadable",
    "max_tokens": "unreadable",
    "empty": "unreadable",
    "refused": "refused",
    "blocked": "refused",
    "server_error": "overloaded",
    "overloaded": "overloaded",
    "reset": "overloaded",
    "unauthorized": "misconfigured",
    "forbidden": "misconfigured",
    "unknown_model": "misconfigured",
}
"""R13: what the judge does, and the reason that the record gives."""


@pytest.mark.parametrize(("kind", "reason"), FAILURES.items(), ids=FAILURES)
def test_r13_a_judge_that_fails_is_no_verdict(
    caller: Caller, judge: JudgeServer, in_time: Any, kind: str, reason: str
) -> None:
    judge.rule({"kind": kind}, schema_title="VerifyReply")
    view = in_time(lambda: caller.verify(**BONES))
    assert (view["verification_status"], view["verify_passed"], view["verification_confidence"]) == (
        "unverified",
        None,
        0.0,
    )
    assert view["skip_reason"] == reason
    assert view["verify_error"]
    assert caller.get("v1/statistics/volume")[0]["skips"] == {reason: 1}


@pytest.mark.parametrize(("kind", "reason"), [("day_quota", "day_quota"), ("minute_quota", "minute_quota")])
def test_a_quota_that_the_provider_says_is_spent_is_learned(
    cloud: Cloud, caller: Caller, judge: JudgeServer, kind: str, reason: str
) -> None:
    name, model = own_model(tier="verify", per_day=1000, per_minute=1000)
    with cloud.functions.changed("ApiVerifying", "ApiApp", variables=registry(gemini=model)):
        warm_up(caller)
        judge.rule({"kind": kind, "limit": 20, "retry_after": 37.5}, schema_title="VerifyReply")
        first, second = caller.verify(**BONES), caller.verify(**BONES)
        [quota] = [quota for quota in caller.get("v1/budget")["quotas"] if quota["tier"] == "verify"]
    assert (first["verification_status"], first["skip_reason"]) == ("unverified", reason)
    assert (second["verification_status"], second["skip_reason"]) == ("unverified", "quota")
    assert len(judge.calls(model=name, text="206")) == 1, "a spent quota is not asked again"
    learned = {"day_quota": "learned_per_day", "minute_quota": "learned_per_minute"}[kind]
    assert (quota["model"], quota[learned]) == (name, 20)
