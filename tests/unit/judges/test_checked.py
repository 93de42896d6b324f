"""A reply that breaks a rule is asked for once more with the fault named; twice, and there is no score and a reason."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pytest

from tests.support.judges import USAGE, Line, Script
from tests.support.records import HandClock
from touchstone.clock import Deadline
from touchstone.errors import DayQuotaError, OverloadedError, RefusedError, SpendingCeilingError
from touchstone.judges import MemoryCache
from touchstone.judges.base import Admission, Call, Judge, Permit, Prompt, WorkJudge
from touchstone.judges.calls import MOST_FAULTS, Checked, JudgeReply, NotScored, RefusedReply, ask_checked


class Number(JudgeReply):
    """A number that should be even and not negative, which its schema does not say."""

    number: int


GOOD, ODD, BAD = {"number": 4}, {"number": 3}, {"number": -3}
NONSENSE = "no JSON"


def _faults(reply: Number) -> list[str]:
    rules = {"It is odd.": reply.number % 2 == 0, "It is negative.": reply.number >= 0}
    return [fault for fault, kept in rules.items() if not kept]


async def _checked(
    judge: Judge, faults_of: Callable[[Number], Iterable[str]] = _faults, *, seconds: float = 5.0
) -> Checked[Number] | RefusedReply[Number] | NotScored:
    return await ask_checked(
        judge,
        lambda faults: Prompt(name="number", version="1", system="Name a number.", user="\n".join(["Now.", *faults])),
        Number,
        faults_of,
        max_output_tokens=100,
        deadline=Deadline.after(seconds),
        purpose="count",
    )


async def _ask(
    *lines: Line, admission: Admission | None = None, seconds: float = 5.0
) -> tuple[Checked[Number] | RefusedReply[Number] | NotScored, Script]:
    script = Script({"number": lines})
    judge = script.judges(admission=admission).get("openai", "fast")
    return await _checked(judge, seconds=seconds), script


async def test_a_reply_that_obeys_the_rules_is_taken_at_once() -> None:
    found, script = await _ask(GOOD)
    assert isinstance(found, Checked)
    assert (found.value.number, found.provider, found.model) == (4, "openai", "gpt-6-luna-answered")
    assert found.prompt_version == "1"
    assert [(spend.purpose, spend.failure) for spend in found.spends] == [("count", None)]
    assert len(script.asked) == 1


async def test_a_reply_that_breaks_rules_is_asked_again_with_every_fault_named_and_paid_for_twice() -> None:
    found, script = await _ask(BAD, GOOD)
    assert isinstance(found, Checked)
    assert found.value.number == 4
    assert [asked.user for asked in script.asked] == ["Now.", "Now.\nIt is odd.\nIt is negative."]
    assert [(spend.failure, spend.input_tokens) for spend in found.spends] == [
        ("unreadable", USAGE.input_tokens),
        (None, USAGE.input_tokens),
    ]


async def test_a_judge_that_breaks_rules_twice_is_not_asked_a_third_time() -> None:
    found, script = await _ask(BAD, ODD, GOOD)
    assert isinstance(found, RefusedReply)
    assert (found.reason, found.faults, found.error) == ("invalid_reply", ("It is odd.",), None)
    assert (found.value.number, found.provider, found.model) == (3, "openai", "gpt-6-luna-answered")
    assert found.prompt_version == "1"
    assert [spend.failure for spend in found.spends] == ["unreadable", "unreadable"]
    assert len(script.asked) == 2


@pytest.mark.parametrize("error", [DayQuotaError("The day is spent."), RefusedError("No."), OverloadedError("Busy.")])
async def test_a_judge_that_fails_has_not_scored_and_says_why(error: Line) -> None:
    found, _ = await _ask(error)
    assert isinstance(found, NotScored)
    assert (found.faults, found.error, found.spends) == ((), error, ())
    assert found.reason == error.reason  # type: ignore[union-attr]


async def test_a_judge_that_fails_at_the_second_question_leaves_the_first_paid_for() -> None:
    found, _ = await _ask(ODD, DayQuotaError("The day is spent."))
    assert isinstance(found, NotScored)
    assert not isinstance(found, RefusedReply)
    assert (found.reason, found.faults) == ("day_quota", ())
    assert [spend.failure for spend in found.spends] == ["unreadable"]


async def test_a_reply_that_cannot_be_read_is_paid_for_beside_those_that_break_rules() -> None:
    found, _ = await _ask(ODD, NONSENSE, GOOD)
    assert isinstance(found, Checked)
    assert [spend.failure for spend in found.spends] == ["unreadable", "unreadable", None]


class _Purse:
    """Holds the money for so many calls."""

    def __init__(self, calls: int) -> None:
        self._calls = calls

    async def admit(self, _call: Call) -> Permit:
        if self._calls == 0:
            raise SpendingCeilingError("The day's money is spent.", until=None)
        self._calls -= 1
        return _Permit()


class _Permit:
    expired = False

    async def settle(self, *, cost_usd: float | None, error: object = None) -> None:
        """Nothing to account for."""

    async def release(self) -> None:
        """Nothing to give back."""


@pytest.mark.parametrize(("calls", "paid"), [(0, 0), (1, 1)])
async def test_a_limit_that_is_reached_on_the_way_is_the_reason(calls: int, paid: int) -> None:
    found, _ = await _ask(ODD, admission=_Purse(calls))
    assert isinstance(found, NotScored)
    assert (found.reason, len(found.spends)) == ("spending_ceiling", paid)
    assert isinstance(found.error, SpendingCeilingError)


async def test_a_reply_without_a_right_word_in_it_is_not_answered_with_a_flood_of_faults() -> None:
    script = Script({"number": [GOOD]})
    judge = script.judges().get("openai", "fast")
    found = await _checked(judge, lambda _reply: [f"Fault {number}." for number in range(1000)])
    assert isinstance(found, NotScored)
    assert found.faults == tuple(f"Fault {number}." for number in range(MOST_FAULTS))
    assert script.asked[1].user.count("Fault") == MOST_FAULTS


async def test_both_questions_share_the_deadline() -> None:
    found, _ = await _ask(ODD, 30.0, seconds=0.04)
    assert isinstance(found, NotScored)
    assert (found.reason, len(found.spends)) == ("timed_out", 1)


async def test_a_broken_reply_from_the_cache_costs_nothing_and_is_no_better() -> None:
    cache, script = MemoryCache(), Script({"number": [ODD, GOOD]})
    judge = script.judges(cache=cache).get("openai", "fast")
    for cached in (False, True):
        found = await _checked(judge)
        assert isinstance(found, Checked)
        assert [(spend.failure, spend.cached) for spend in found.spends] == [("unreadable", cached), (None, cached)]
    assert [spend.cost_usd for spend in found.spends] == [0.0, 0.0]
    assert len(script.asked) == 2


async def test_two_broken_replies_that_are_known_do_not_end_the_same_question_for_ever() -> None:
    cache, script = MemoryCache(), Script({"number": [ODD, BAD, GOOD]})
    judge = script.judges(cache=cache).get("openai", "fast")
    results = [await _checked(judge) for _ in range(3)]
    assert [type(found) for found in results] == [RefusedReply, Checked, Checked]
    # The second time asks only the question that named the fault, and the reply is known from then on.
    assert [[(spend.failure, spend.cached) for spend in found.spends] for found in results] == [
        [("unreadable", False), ("unreadable", False)],
        [("unreadable", True), ("unreadable", True), (None, False)],
        [("unreadable", True), (None, True)],
    ]
    assert [asked.user for asked in script.asked] == ["Now.", "Now.\nIt is odd.", "Now.\nIt is odd."]


async def test_a_judge_that_is_asked_anew_and_fails_is_the_reason() -> None:
    cache, script = MemoryCache(), Script({"number": [ODD, BAD, DayQuotaError("The day is spent.")]})
    judge = script.judges(cache=cache).get("openai", "fast")
    await _checked(judge)
    found = await _checked(judge)
    assert isinstance(found, NotScored)
    assert (found.reason, [spend.cached for spend in found.spends]) == ("day_quota", [True, True])


async def test_a_broken_reply_of_the_same_work_is_an_end_and_an_older_one_is_not() -> None:
    clock = HandClock(datetime(2026, 11, 27, 9, tzinfo=UTC))
    script = Script({"number": [ODD, BAD, GOOD]})
    judges = script.judges(cache=MemoryCache(), clock=clock)

    async def asked(began: datetime) -> Checked[Number] | RefusedReply[Number] | NotScored:
        judge = WorkJudge(judges.get("openai", "fast"), began)
        assert (judge.provider, judge.model) == ("openai", judges.get("openai", "fast").model)
        return await _checked(judge)

    began = clock()
    first, again = await asked(began), await asked(began)
    assert isinstance(first, RefusedReply)
    assert isinstance(again, RefusedReply)
    assert [spend.cached for spend in again.spends] == [True, True]
    clock.advance(days=1)
    assert isinstance(await asked(clock()), Checked)
    assert len(script.asked) == 3
