"""A judge that is slow, broken or spent: the caller has an answer in time, and it never says more than is known."""

import os
import subprocess
import sys
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
SLOW = {"kind": "hang", "seconds": 20.0}
LIMIT_SECONDS = 5.3
"""Five for the verification, and what the way there and back may take."""
OUTSIDE_SECONDS = 1.0
"""What of a request lies outside the five seconds that the product counts itself, everything cold; it is what grows on
a machine that others load."""
SYNCHRONOUS = ("ApiAuthorizer", "ApiVerifying")
"""Every function between the caller and the verdict."""
QUIET = 1.25
"""Below this slowness the machine counts as quiet, and the limit holds as it stands."""
SPIN = "import time; end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def slowness() -> float:
    """How much longer than its processor time a computation takes here now: 1.0 on a machine that is ours alone.

    One computation of 0.3 s on each processor at once; the ratio of the time that passes to the time that they compute
    tells what others leave us.
    """
    alone = time.monotonic()
    subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
    start = time.monotonic() - alone
    began = time.monotonic()
    spins = [subprocess.Popen([sys.executable, "-S", "-c", SPIN]) for _ in range(os.cpu_count() or 1)]
    for spin in spins:
        spin.wait()
    return max(1.0, (time.monotonic() - began - start) / 0.3)


@pytest.fixture
def in_time(record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a call and hold its time against the limit: as it stands, or in proportion on a machine that others load.

    How loaded it is is asked of a call alone that took longer. An overloaded machine is said to be so on the terminal
    and in the report, never passed over.
    """

    def run(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        began = time.monotonic()
        view = call()
        took = time.monotonic() - began
        load = 1.0 if took <= LIMIT_SECONDS else max(slowness(), slowness())
        allowed = LIMIT_SECONDS if load <= QUIET else LIMIT_SECONDS + OUTSIDE_SECONDS * (load - 1.0)
        record_property("seconds", round(took, 3))
        record_property("slowness", round(load, 2))
        with capsys.disabled():
            loaded = "" if load <= QUIET else f"; the machine is overloaded x{load:.1f}, so {allowed:.1f} s are allowed"
            print(f" [{took:.2f} s{loaded}] ", end="")
        assert took <= allowed
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
