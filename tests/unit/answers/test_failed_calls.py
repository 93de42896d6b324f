"""A judge call that brought nothing is paid for all the same where a model had worked: every job says so."""

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime

import pytest

from tests.support import replies
from tests.support.judges import USAGE, Line, Script, paid
from tests.support.scripted_adapters import FreeTicket
from touchstone.answers.analysis import analyze
from touchstone.answers.enrichment import enrich
from touchstone.answers.evaluation import evaluate
from touchstone.answers.model import MAX_ANSWER_CHARS, AnswerRecord, ImageSource, Solution, SolveRequest
from touchstone.answers.pipeline import solve_and_verify
from touchstone.answers.solving import next_attempt
from touchstone.answers.verification import quick_verify
from touchstone.answers.view import AnswerView
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, QuotaExceededError, RefusedError, SpendingCeilingError, UnreadableError
from touchstone.judges import MemoryCache, load_registry
from touchstone.judges.base import Call, Judge, Permit
from touchstone.judges.questions import cost_usd
from touchstone.judges.spends import Spend

PROBLEM = "Name the capital of Australia."
SOLUTION = Solution(answer="Canberra", provider="openai", model="m")
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 16).decode()
NONSENSE = "no JSON"


async def _verify(judge: Judge) -> Sequence[Spend]:
    return (await quick_verify(PROBLEM, "Canberra", judge=judge, deadline=Deadline.after(5.0))).spends


async def _analyze(judge: Judge) -> Sequence[Spend]:
    return (await analyze(PROBLEM, judge=judge, deadline=Deadline.after(5.0))).spends


async def _enrich(judge: Judge) -> Sequence[Spend]:
    return (await enrich(PROBLEM, SOLUTION, status="verified", judge=judge, deadline=Deadline.after(5.0))).spends


async def _evaluate(judge: Judge) -> Sequence[Spend]:
    return (await evaluate(PROBLEM, SOLUTION, judge=judge, deadline=Deadline.after(5.0))).spends


type Job = Callable[[Judge], Awaitable[Sequence[Spend]]]
JOBS: Mapping[str, tuple[Job, Line]] = {
    "verify": (_verify, replies.verify()),
    "analyze": (_analyze, replies.analyze()),
    "enrich": (_enrich, replies.enrich()),
    "evaluate": (_evaluate, replies.evaluate()),
}


@pytest.mark.parametrize("name", JOBS)
async def test_a_call_that_failed_before_the_one_that_answered_stands_beside_it(name: str) -> None:
    job, answer = JOBS[name]
    judge = Script({name: [NONSENSE, answer]}).judges().get("openai", "fast")
    failed, answered = await job(judge)
    assert (failed.purpose, failed.failure, answered.failure) == (name, "unreadable", None)
    assert (failed.provider, failed.model) == (answered.provider, answered.model) == ("openai", "gpt-6-luna-answered")
    assert (failed.input_tokens, failed.output_tokens) == (USAGE.input_tokens, USAGE.output_tokens)
    assert failed.cost_usd == answered.cost_usd is not None
    assert failed.prompt_version == answered.prompt_version


@pytest.mark.parametrize("name", ["verify", "analyze", "enrich"])
async def test_where_nobody_answered_each_call_that_was_paid_is_told(name: str) -> None:
    judge = Script({name: [NONSENSE]}).judges().get("openai", "fast")
    assert [spend.failure for spend in await JOBS[name][0](judge)] == ["unreadable", "unreadable"]


class _Gate:
    """Admits one call, and refuses every further one."""

    def __init__(self, refusal: Exception) -> None:
        self.refusal = refusal
        self.admitted = 0

    async def admit(self, _call: Call) -> Permit:
        self.admitted += 1
        if self.admitted > 1:
            raise self.refusal
        return FreeTicket()


async def test_a_limit_met_on_the_way_to_a_second_try_does_not_hide_the_first() -> None:
    refusal = QuotaExceededError("The minute is full.", window="minute", until=datetime(2026, 11, 21, tzinfo=UTC))
    judge = Script({"verify": [NONSENSE]}).judges(admission=_Gate(refusal)).get("openai", "fast")
    assert [spend.failure for spend in await _verify(judge)] == ["unreadable"]


async def _attempt(script: Script) -> tuple[str | None, list[tuple[str, str | None]]]:
    judges = script.judges(cache=MemoryCache())
    found = await next_attempt(PROBLEM, (), judges=judges, deadline=Deadline.after(5.0))
    author = None if found.attempt is None else found.attempt.solution.provider
    return author, [(spend.provider, spend.failure) for spend in found.spends]


async def test_a_provider_that_failed_is_paid_beside_the_one_that_solved() -> None:
    script = Script(
        {
            "claude/solve": [paid(RefusedError("Declined."))],
            "openai/solve": [OverloadedError("Overloaded.")],
            "solve": [replies.solve()],
        }
    )
    assert await _attempt(script) == ("gemini", [("claude", "refused"), ("gemini", None)])


async def test_without_any_solution_all_that_was_paid_is_told() -> None:
    script = Script({"solve": [paid(RefusedError("Declined."))]})
    assert await _attempt(script) == (None, [(name, "refused") for name in ("claude", "openai", "gemini")])


async def test_money_that_ends_on_the_way_does_not_hide_what_it_was_spent_on() -> None:
    script = Script({"solve": [NONSENSE]}, providers=("claude",))
    gate = _Gate(SpendingCeilingError("The day's money is spent.", until=None))
    found = await next_attempt(PROBLEM, (), judges=script.judges(admission=gate), deadline=Deadline.after(5.0))
    assert (found.attempt, [spend.failure for spend in found.spends]) == (None, ["unreadable"])


async def test_an_answer_that_cannot_be_used_is_paid_for_once_and_from_the_cache_never() -> None:
    script = Script({"solve": [replies.solve(answer="x" * (MAX_ANSWER_CHARS + 1))]}, providers=("claude",))
    judges = script.judges(cache=MemoryCache())
    paid_for = []
    for _ in range(2):
        found = await next_attempt(PROBLEM, (), judges=judges, deadline=Deadline.after(5.0))
        paid_for.append([(spend.failure, spend.cached) for spend in found.spends])
    assert paid_for == [[("unreadable", False)], [("unreadable", True), ("unreadable", False)]]
    assert [spend.cost_usd for spend in found.spends if spend.cached] == [0.0]


async def _solved(script: Script, request: SolveRequest) -> AnswerRecord:
    return await solve_and_verify(request, judges=script.judges(), clock=lambda: datetime(2026, 11, 21, tzinfo=UTC))


async def test_a_picture_that_nobody_reads_is_paid_for() -> None:
    script = Script({"read_image": [paid(RefusedError("Declined."))]})
    record = await _solved(script, SolveRequest(image=ImageSource(data_base64=PNG)))
    assert (record.stage, [(spend.purpose, spend.failure) for spend in record.spends]) == (
        "failed",
        [("ocr", "refused")],
    )


async def test_a_user_sees_the_money_of_failed_calls() -> None:
    script = Script(
        {
            "analyze": [replies.analyze()],
            "solve": [replies.solve()],
            "verify": [paid(UnreadableError("Cut off."), "gemini-of-today")],
            "enrich": [replies.enrich()],
        }
    )
    view = AnswerView.of(await _solved(script, SolveRequest(problem=PROBLEM)))
    assert (view.verification_status, view.skip_reason) == ("unverified", "unreadable")
    failed = [spend for spend in view.spends if spend.failure is not None]
    price = cost_usd(load_registry({}).model("gemini", "verify"), USAGE, on=datetime(2026, 11, 21, tzinfo=UTC).date())
    assert [(spend.purpose, spend.model, spend.cost_usd) for spend in failed] == [
        ("verify", "gemini-of-today", price)
    ] * 2
    assert view.tokens == len(view.spends) * (USAGE.input_tokens + USAGE.output_tokens)
    assert view.cost_usd == pytest.approx(sum(spend.cost_usd or 0.0 for spend in view.spends))
