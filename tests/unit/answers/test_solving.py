"""Solving a problem, and who is asked when a provider cannot."""

import pytest

from tests.support import replies
from tests.support.judges import Line, Script
from touchstone.answers.model import MAX_ANSWER_CHARS, Analysis, Attempt, Solution
from touchstone.answers.providers import Preferences
from touchstone.answers.retrieval import EarlierSolution
from touchstone.answers.solving import Attempted, Solved, next_attempt, solve
from touchstone.budgets import MemoryAdmission
from touchstone.clock import Deadline
from touchstone.errors import DayQuotaError, OverloadedError, SpendingCeilingError, UnpricedError, UnreadableError
from touchstone.judges import MemoryCache
from touchstone.judges.base import Call, Permit

PROBLEM = "Name the capital of Australia."
GIVEN = Attempt(number=1, solution=Solution(answer="Sydney", provider="claude", model="m"))


async def _solve(*lines: Line) -> tuple[Solved, Script]:
    script = Script({"solve": lines})
    judge = script.judges().get("openai", "strong")
    earlier = EarlierSolution(
        answer_id="1",
        problem="Name the capital of Canada.",
        solution=Solution(answer="Ottawa", steps="It is Ottawa.", provider="gemini", model="m"),
        confidence=0.9,
    )
    analysis = Analysis(subject="geography", difficulty="easy", knowledge_points=("capitals",), language="en")
    solved = await solve(PROBLEM, judge=judge, deadline=Deadline.after(5.0), analysis=analysis, examples=[earlier])
    return solved, script


async def test_a_solution_has_numbered_steps_an_answer_and_its_author() -> None:
    solved, _ = await _solve(replies.solve())
    assert solved.solution.answer == "Canberra"
    assert solved.solution.steps == "1. Recall the states of Australia.\n2. The capital is Canberra."
    assert (solved.solution.provider, solved.solution.model) == ("openai", "gpt-6.2-sol-answered")
    assert [spend.purpose for spend in solved.spends] == ["solve"]


async def test_a_single_step_needs_no_number() -> None:
    solved, _ = await _solve(replies.solve(steps=["", "It is Canberra. "]))
    assert solved.solution.steps == "It is Canberra."


async def test_what_is_known_of_the_problem_and_of_similar_ones_is_shown() -> None:
    _, script = await _solve(replies.solve())
    for shown in (PROBLEM, "capitals", "Name the capital of Canada.", "It is Ottawa."):
        assert shown in script.asked[0].user


@pytest.mark.parametrize(
    "said",
    [replies.solve(answer=""), replies.solve(answer="  "), replies.solve(answer="x" * (MAX_ANSWER_CHARS + 1)),
     replies.solve(steps=["x" * (MAX_ANSWER_CHARS + 1)]), replies.solve(steps="one text")],
)  # fmt: skip
async def test_a_blank_or_endless_answer_is_unreadable(said: Line) -> None:
    with pytest.raises(UnreadableError):
        await _solve(said)


async def test_an_answer_of_no_use_that_an_earlier_request_left_is_asked_anew() -> None:
    script = Script({"solve": [replies.solve(answer=" "), replies.solve()]}, providers=("claude",))
    judge = script.judges(cache=MemoryCache()).get("claude", "strong")
    with pytest.raises(UnreadableError):
        await solve(PROBLEM, judge=judge, deadline=Deadline.after(5.0))
    solved = await solve(PROBLEM, judge=judge, deadline=Deadline.after(5.0))
    assert solved.solution.answer == "Canberra"
    assert [(spend.cached, spend.failure) for spend in solved.spends] == [(True, "unreadable"), (False, None)]


async def _next(script: Script, *made: Attempt, preferences: Preferences | None = None) -> Attempted:
    return await next_attempt(
        PROBLEM,
        made,
        judges=script.judges(cache=MemoryCache()),
        deadline=Deadline.after(5.0),
        preferences=preferences,
        subject="geography",
    )


async def test_the_preferred_provider_goes_first_and_a_retry_to_another() -> None:
    script = Script({"solve": [replies.solve()]})
    preferences = Preferences(pins={"geography": "gemini"})
    first = await _next(script, preferences=preferences)
    assert first.attempt is not None
    assert (first.attempt.number, first.attempt.solution.provider) == (1, "gemini")
    second = await _next(script, first.attempt, preferences=preferences)
    assert second.attempt is not None
    assert (second.attempt.number, second.attempt.solution.provider) == (2, "claude")


async def test_a_provider_that_fails_is_followed_by_the_next_and_is_no_attempt() -> None:
    script = Script(
        {
            "claude/solve": [OverloadedError("Claude is overloaded.")],
            "openai/solve": [DayQuotaError("The day is spent.")],
            "solve": [replies.solve()],
        }
    )
    found = await _next(script)
    assert found.attempt is not None
    assert (found.attempt.number, found.attempt.solution.provider) == (1, "gemini")


async def test_a_provider_that_hangs_leaves_the_next_one_its_time() -> None:
    script = Script({"claude/solve": [30.0], "solve": [replies.solve()]}, providers=("claude", "gemini"))
    judges, deadline = script.judges(), Deadline.after(30.0)
    found = await next_attempt(PROBLEM, (), judges=judges, deadline=deadline, provider_seconds=0.04)
    assert found.attempt is not None
    assert found.attempt.solution.provider == "gemini"
    assert deadline.remaining > 20.0


async def test_where_every_provider_fails_each_was_asked_and_the_reasons_are_told() -> None:
    script = Script({"solve": [DayQuotaError("The day is spent.")]})
    found = await _next(script)
    assert found.attempt is None
    assert found.failure == "The day is spent. The day is spent. The day is spent."
    assert script.prompts() == ["claude/solve", "openai/solve", "gemini/solve"]


async def test_the_provider_of_the_first_attempt_is_asked_again_only_after_the_others_failed() -> None:
    script = Script({"claude/solve": [replies.solve()], "solve": [DayQuotaError("The day is spent.")]})
    found = await _next(script, GIVEN)
    assert found.attempt is not None
    assert found.attempt.solution.provider == "claude"
    assert script.prompts() == ["openai/solve", "gemini/solve", "claude/solve"]


async def test_a_single_provider_is_asked_again_past_the_cache() -> None:
    script = Script({"solve": [replies.solve(answer="Sydney"), replies.solve()]}, providers=("claude",))
    judges = script.judges(cache=MemoryCache())
    deadline = Deadline.after(5.0)
    first = await next_attempt(PROBLEM, (), judges=judges, deadline=deadline)
    assert first.attempt is not None
    second = await next_attempt(PROBLEM, (first.attempt,), judges=judges, deadline=deadline)
    assert second.attempt is not None
    assert (second.attempt.solution.answer, second.attempt.solution.provider) == ("Canberra", "claude")


class _NoMoney:
    async def admit(self, _call: Call) -> Permit:
        raise SpendingCeilingError("The day's money is spent.", until=None)


async def test_money_that_is_spent_is_not_asked_for_thrice() -> None:
    script = Script({"solve": [replies.solve()]})
    found = await next_attempt(PROBLEM, (), judges=script.judges(admission=_NoMoney()), deadline=Deadline.after(5.0))
    assert (found.attempt, found.failure) == (None, "The day's money is spent.")


class _NoPrice:
    """Refuses the provider whose price is not known."""

    async def admit(self, call: Call) -> Permit:
        if call.provider == "claude":
            raise UnpricedError("No price is known.", until=None)
        return await MemoryAdmission().admit(call)


async def test_a_provider_without_a_price_gives_way_to_the_next() -> None:
    script = Script({"solve": [replies.solve()]})
    found = await next_attempt(
        PROBLEM,
        (),
        judges=script.judges(admission=_NoPrice()),
        deadline=Deadline.after(5.0),
        preferences=Preferences(default="claude"),
    )
    assert found.attempt is not None
    assert found.attempt.solution.provider != "claude"


async def test_without_any_key_it_says_which_to_set() -> None:
    found = await _next(Script({}, providers=()))
    assert found.attempt is None
    assert found.failure is not None
    assert "GEMINI_API_KEY" in found.failure
