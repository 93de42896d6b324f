"""How long a judge has where nobody waits: the request's own seconds, else the setting's; its SDK is loaded before."""

import threading
import time
from collections.abc import Mapping

import pytest

from tests.support import replies
from tests.support.judges import Script
from touchstone.answers.judge_time import (
    DEFAULT_SECONDS,
    MOST_SECONDS,
    START_SECONDS,
    VARIABLE,
    judge_seconds,
    whole_seconds,
)
from touchstone.answers.model import AnswerRecord, SolveRequest, Verification, VerifyRequest
from touchstone.answers.panel import verifying_seconds
from touchstone.answers.pipeline import solve_and_verify, verify_answer
from touchstone.clock import Deadline
from touchstone.errors import SettingsError

RIDDLE = VerifyRequest(problem="Name the capital of Australia.", answer="Canberra")


@pytest.mark.parametrize(
    ("environ", "own", "seconds"),
    [
        ({}, None, DEFAULT_SECONDS),
        ({VARIABLE: ""}, None, DEFAULT_SECONDS),
        ({VARIABLE: " 20 "}, None, 20.0),
        ({VARIABLE: "300"}, None, MOST_SECONDS),
        ({VARIABLE: "20"}, 2.5, 2.5),
    ],
)
def test_the_request_goes_before_the_setting(environ: Mapping[str, str], own: float | None, seconds: float) -> None:
    assert judge_seconds(own, environ) == seconds


@pytest.mark.parametrize("given", ["5 s", "0", "0.5", "-5", "301", "nan", "inf"])
def test_a_setting_that_is_no_such_number_is_refused_in_a_sentence(given: str) -> None:
    with pytest.raises(SettingsError) as refused:
        judge_seconds(None, {VARIABLE: given})
    assert str(refused.value) == f"{VARIABLE} is {given!r}; set it to a number of seconds from 1 to 300."


def test_no_verification_takes_longer_than_a_deployment_waits() -> None:
    assert whole_seconds(MOST_SECONDS) == whole_seconds(MOST_SECONDS / 2)


@pytest.mark.parametrize("by", ["request", "setting"])
@pytest.mark.parametrize("kind", ["verify", "solve"])
async def test_a_judge_that_is_too_slow_is_said_to_have_had_so_many_seconds(
    kind: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"verify_seconds": 1.0} if by == "request" else {}
    if by == "setting":
        monkeypatch.setenv(VARIABLE, "1")
    others = {"analyze": [replies.analyze()], "solve": [replies.solve()], "enrich": [replies.enrich()]}
    judges = Script({"verify": [30.0], **others}).judges()
    begun = time.perf_counter()
    if kind == "verify":
        found = _verification(await verify_answer(RIDDLE.model_copy(update=own), judges=judges))
    else:
        found = _verification(await solve_and_verify(SolveRequest(problem=RIDDLE.problem, **own), judges=judges))
    assert time.perf_counter() - begun < 15
    assert found.skip_reason == "timed_out"
    assert found.error is not None
    assert "It had 1 s; TOUCHSTONE_VERIFY_SECONDS, or the request's verify_seconds, gives it more." in found.error


async def test_who_waits_is_not_told_of_a_setting_that_would_not_help() -> None:
    judges = Script({"verify": [30.0]}).judges()
    found = _verification(await verify_answer(RIDDLE, judges=judges, deadline=Deadline.after(0.3)))
    assert found.skip_reason == "timed_out"
    assert VARIABLE not in (found.error or "")


async def test_loading_an_sdk_is_not_on_the_judges_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = Script({"verify": [replies.verify()]}).judges()
    monkeypatch.setattr("tests.support.judges._Adapter.load", lambda _: time.sleep(1.3))
    record = await verify_answer(RIDDLE.model_copy(update={"verify_seconds": 1.0}), judges=judges)
    assert record.verification_status == "verified"


async def test_for_a_caller_who_waits_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = Script({"verify": [replies.verify()]}).judges()
    loaded = threading.Event()
    monkeypatch.setattr("tests.support.judges._Adapter.load", lambda _: loaded.wait(30))
    begun = time.perf_counter()
    found = _verification(await verify_answer(RIDDLE, judges=judges, deadline=Deadline.after(0.3)))
    assert time.perf_counter() - begun < 15
    loaded.set()
    assert found.skip_reason == "timed_out"


def _verification(record: AnswerRecord) -> Verification:
    assert record.best is not None
    assert record.best.verification is not None
    return record.best.verification


def test_judges_that_are_asked_in_turn_have_time_for_all_of_them() -> None:
    assert verifying_seconds(10.0, "until_sure") == START_SECONDS + 3 * 10.0
    assert verifying_seconds(10.0, 3) == verifying_seconds(10.0, 1) == START_SECONDS + 2 * 10.0
