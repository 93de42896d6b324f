"""A judge that passes an answer while its own is another one in words: no verdict, and another provider is asked."""

import asyncio
from typing import Any

import pytest

from tests.support import replies
from tests.support.judges import Line, Script
from touchstone.answers.ends import passing_reason
from touchstone.answers.model import AnswerRecord, SolveRequest, VerifyRequest
from touchstone.answers.pipeline import solve_and_verify, verify_answer
from touchstone.answers.progress import route, status_of
from touchstone.answers.verification import ANOTHER_SECONDS, Verified, quick_verify, second_judge
from touchstone.answers.view import AnswerView
from touchstone.clock import Deadline
from touchstone.errors import DayQuotaError, MisconfiguredError, OverloadedError, RefusedError

RIDDLE = "Which green gem is named in the poem?"
GEMS = [(RIDDLE, "Emerald", "Ruby"), ("诗里提到的绿色宝石叫什么？", "翡翠", "红宝石")]
RUBY = replies.verify(independent_answer="Ruby")
EMERALD = replies.verify(independent_answer="An emerald.")


async def _verify(
    script: Script, *, problem: str = RIDDLE, answer: str = "Emerald", seconds: float = 5.0, alone: bool = False
) -> Verified:
    judges = script.judges()
    judge = judges.default("verify")
    another = None if alone else second_judge(judges, judge)
    return await quick_verify(problem, answer, judge=judge, another=another, deadline=Deadline.after(seconds))


@pytest.mark.parametrize(("problem", "answer", "own"), GEMS)
async def test_a_judge_whose_own_answer_is_in_other_words_passes_nothing(problem: str, answer: str, own: str) -> None:
    script = Script({"verify": [replies.verify(independent_answer=own)]})
    found = (await _verify(script, problem=problem, answer=answer, alone=True)).verification
    assert (found.passed, found.confidence, found.method) == (None, 0.0, "none")
    assert (found.skip_reason, found.independent_answer) == ("other_answer", own)
    assert (found.provider, found.contradicted) == ("gemini", False)
    assert found.error is not None
    assert own in found.error
    assert status_of(found) == "unverified"
    assert route(found, 1) == "enrich"


@pytest.mark.parametrize(("problem", "answer", "own"), GEMS)
async def test_a_judge_that_fails_an_answer_with_other_words_is_an_ordinary_failure(
    problem: str, answer: str, own: str
) -> None:
    script = Script({"verify": [replies.failed(independent_answer=own)]})
    found = (await _verify(script, problem=problem, answer=answer)).verification
    assert (found.passed, found.confidence, found.skip_reason) == (False, 0.9, None)
    assert len(script.asked) == 1


async def test_another_provider_that_agrees_in_the_same_words_verifies_it() -> None:
    script = Script({"gemini/verify": [RUBY], "verify": [EMERALD]})
    verified = await _verify(script)
    found = verified.verification
    assert (found.passed, found.confidence, found.skip_reason) == (True, 0.95, None)
    assert (found.provider, found.independent_answer) == ("claude", "An emerald.")
    assert [spend.provider for spend in verified.spends] == ["gemini", "claude"]


async def test_another_provider_that_fails_it_fails_it() -> None:
    script = Script({"gemini/verify": [RUBY], "verify": [replies.failed(independent_answer="Ruby")]})
    found = (await _verify(script)).verification
    assert (found.passed, found.provider) == (False, "claude")


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (RUBY, "other_answer"),
        (RefusedError("Declined."), "other_answer"),
        (OverloadedError("Overloaded."), "overloaded"),
        (MisconfiguredError("No key."), "other_answer"),
        (DayQuotaError("Spent."), "day_quota"),
        ("nonsense", "unreadable"),
    ],
)
async def test_one_more_is_asked_and_no_third_and_it_is_an_end_where_another_try_would_say_the_same(
    second: Line, reason: str
) -> None:
    script = Script({"gemini/verify": [RUBY], "verify": [second]})
    verified = await _verify(script)
    found = verified.verification
    assert (found.passed, found.skip_reason, found.provider) == (None, reason, "gemini")
    assert "Ruby" in (found.error or ""), "what the first said is told in any case"
    record = await verify_answer(VerifyRequest(problem=RIDDLE, answer="Emerald"), judges=script.judges())
    ends_locally = passing_reason(AnswerView.of(record).model_dump(mode="json")) is None
    ends_deployed = verified.failure is None
    assert ends_locally == ends_deployed == (reason == "other_answer")
    assert {asked.provider for asked in script.asked} == {"gemini", "claude"}


async def test_nobody_else_is_asked_where_there_is_no_other_provider_or_no_time() -> None:
    alone = Script({"verify": [RUBY]}, providers=("gemini",))
    assert (await _verify(alone)).verification.skip_reason == "other_answer"
    assert len(alone.asked) == 1
    hurried = Script({"verify": [RUBY]})
    assert (await _verify(hurried, seconds=ANOTHER_SECONDS * 0.9)).verification.skip_reason == "timed_out"
    assert len(hurried.asked) == 1


async def test_a_second_judge_that_is_too_slow_leaves_what_the_first_said() -> None:
    script = Script({"gemini/verify": [RUBY], "verify": [30.0]})
    async with asyncio.timeout(20.0):
        verified = await _verify(script, seconds=ANOTHER_SECONDS * 1.2)
    assert (verified.verification.skip_reason, verified.verification.provider) == ("timed_out", "gemini")
    assert "Ruby" in (verified.verification.error or "")
    assert [spend.provider for spend in verified.spends] == ["gemini"]


async def _own(script: Script) -> AnswerRecord:
    return await verify_answer(VerifyRequest(problem=RIDDLE, answer="Emerald"), judges=script.judges())


async def _solved(script: Script) -> AnswerRecord:
    return await solve_and_verify(SolveRequest(problem=RIDDLE), judges=script.judges())


def _script(first: dict[str, Any], second: dict[str, Any]) -> Script:
    return Script(
        {
            "analyze": [replies.analyze()],
            "solve": [replies.solve(answer="Emerald")],
            "gemini/verify": [first],
            "verify": [second],
            "enrich": [replies.enrich()],
        }
    )


@pytest.mark.parametrize("way", [_own, _solved])
async def test_the_library_never_verifies_it_and_does_not_solve_again(way: Any) -> None:
    record: AnswerRecord = await way(_script(RUBY, RUBY))
    assert (record.verification_status, record.verification_confidence) == ("unverified", 0.0)
    assert record.attempt_count == 1
    record = await way(_script(RUBY, EMERALD))
    assert (record.verification_status, record.verification_confidence) == ("verified", 0.95)
    assert [spend.provider for spend in record.spends if spend.purpose == "verify"] == ["gemini", "claude"]
