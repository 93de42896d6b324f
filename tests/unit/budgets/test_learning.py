"""What a refused call teaches about a quota."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from touchstone.budgets.account import (
    MAX_BLOCK,
    MAX_REFUSALS_PER_MINUTE,
    REFUSED_FOR,
    Learned,
    QuotaState,
    Refusals,
    settled,
)
from touchstone.budgets.ledger import FIRST_PAUSE, LearnableError, learned_from
from touchstone.errors import DayQuotaError, MinuteQuotaError, UnavailableModelError

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
TODAY = date(2026, 11, 21)
FRESH = QuotaState(day=TODAY)


def after(error: LearnableError, state: QuotaState = FRESH, *, on: date = TODAY, at: datetime = NOON) -> QuotaState:
    return learned_from(state, error, reserved_on=on, now=at)


def refusals(state: QuotaState) -> Refusals:
    assert state.refusals is not None
    return state.refusals


@pytest.mark.parametrize(("limit", "per_day"), [(20, 20), (0, 1), (None, None)])
def test_a_spent_day_is_over_and_its_limit_is_kept(limit: int | None, per_day: int | None) -> None:
    state = after(DayQuotaError("spent", limit=limit, retry_after=30.0))
    assert state.tally.exhausted
    assert state.learned.per_day == per_day


def test_yesterdays_refusal_leaves_today_open() -> None:
    state = after(DayQuotaError("spent", limit=20), on=TODAY - timedelta(days=1))
    assert not state.tally.exhausted
    assert (state.learned.per_day, state.refusals) == (20, None)


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        (17.5, timedelta(seconds=17.5)),
        (1.0, timedelta(seconds=1)),
        (-3.0, timedelta(0)),
        (1e9, MAX_BLOCK),
        (float("inf"), MAX_BLOCK),
        (float("nan"), timedelta(0)),
        (None, FIRST_PAUSE),
    ],
)
def test_the_providers_advice_is_believed_once_within_reason(retry_after: float | None, pause: timedelta) -> None:
    assert refusals(after(MinuteQuotaError("busy", retry_after=retry_after))).until == NOON + pause


def test_r24_advice_that_proved_wrong_is_not_believed_again() -> None:
    state, now, pauses = FRESH, NOON, list[float]()
    for _ in range(6):
        state = after(MinuteQuotaError("busy", retry_after=1.0), state, at=now)
        pauses.append((refusals(state).until - now).total_seconds())
        now = refusals(state).until
    assert pauses == [1, 20, 44, 80, 160, 320]  # the third refusal waits until the first is out of the minute


def test_a_shorter_pause_never_ends_a_longer_one() -> None:
    long = after(MinuteQuotaError("busy", retry_after=60.0))
    assert refusals(after(MinuteQuotaError("busy", retry_after=1.0), long)).until == NOON + timedelta(seconds=60)


def test_pauses_double_with_every_probe_that_is_refused_until_one_is_answered() -> None:
    state, now, pauses = FRESH, NOON, list[float]()
    for _ in range(8):
        state = after(MinuteQuotaError("full"), state, at=now)
        pauses.append((refusals(state).until - now).total_seconds())
        now = refusals(state).until
    assert pauses == [10, 20, 40, 80, 160, 320, 600, 600]
    state = after(MinuteQuotaError("full"), settled(state, "", now, answered=True), at=now)
    assert refusals(state).until == now + FIRST_PAUSE


def test_refusals_of_one_moment_are_one_step_and_leave_room_for_a_probe_in_the_minute() -> None:
    state = FRESH
    for _ in range(10):
        state = after(MinuteQuotaError("busy", retry_after=1.0), state)
    assert refusals(state) == Refusals(
        at=(NOON,) * MAX_REFUSALS_PER_MINUTE, in_a_row=1, until=NOON + REFUSED_FOR, why="busy"
    )


def test_a_named_limit_outlives_an_unnamed_refusal() -> None:
    named = after(MinuteQuotaError("busy", limit=2))
    assert named.learned.per_minute == 2
    assert after(MinuteQuotaError("busy"), named).learned == named.learned


def test_a_model_that_is_gone_is_remembered_in_the_words_it_was_told_in() -> None:
    state = after(UnavailableModelError("There is no such model."))
    assert refusals(state) == Refusals(
        at=(NOON,), in_a_row=1, until=NOON + FIRST_PAUSE, why="There is no such model.", barred=True
    )
    assert (state.tally, state.learned) == (FRESH.tally, FRESH.learned)


def test_the_last_word_is_the_one_that_holds() -> None:
    """The key was mended, and the quota is spent now."""
    gone = after(UnavailableModelError("The key is refused."))
    state = after(MinuteQuotaError("busy"), gone, at=NOON + FIRST_PAUSE)
    assert (refusals(state).why, refusals(state).barred) == ("busy", False)


def test_a_refused_call_is_waited_for_no_more() -> None:
    state = replace(FRESH, watched={"one": NOON, "other": NOON})
    assert learned_from(state, MinuteQuotaError("busy"), reservation="one", reserved_on=TODAY, now=NOON).watched == {
        "other": NOON
    }


def test_a_delay_without_a_limit_teaches_no_limit() -> None:
    assert after(MinuteQuotaError("busy", retry_after=3.0)).learned == Learned()
