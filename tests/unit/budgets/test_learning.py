"""What a refused call teaches about a quota."""

from datetime import UTC, date, datetime, timedelta

import pytest

from touchstone.budgets.decision import MAX_BLOCK, Barred, Learned, QuotaState
from touchstone.budgets.learning import BARRED_FOR, UNNAMED_PAUSE, UNNAMED_PER_MINUTE, Telling, learned_from
from touchstone.errors import DayQuotaError, MinuteQuotaError, UnavailableModelError

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
TODAY = date(2026, 11, 21)
FRESH = QuotaState(day=TODAY)


def after(error: Telling, state: QuotaState = FRESH, *, on: date = TODAY) -> QuotaState:
    return learned_from(state, error, reserved_on=on, now=NOON)


@pytest.mark.parametrize(("limit", "per_day"), [(20, 20), (0, 1), (None, None)])
def test_a_spent_day_is_over_and_its_limit_is_kept(limit: int | None, per_day: int | None) -> None:
    state = after(DayQuotaError("spent", limit=limit, retry_after=30.0))
    assert state.tally.exhausted
    assert state.learned.per_day == per_day


def test_yesterdays_refusal_leaves_today_open() -> None:
    state = after(DayQuotaError("spent", limit=20), on=TODAY - timedelta(days=1))
    assert not state.tally.exhausted
    assert state.learned.per_day == 20


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        (7.5, timedelta(seconds=7.5)),
        (0.0, timedelta(0)),
        (-3.0, timedelta(0)),
        (1e9, MAX_BLOCK),
        (float("inf"), MAX_BLOCK),
        (float("nan"), timedelta(0)),
        (None, UNNAMED_PAUSE),
    ],
)
def test_the_providers_pause_is_kept_within_reason(retry_after: float | None, pause: timedelta) -> None:
    assert after(MinuteQuotaError("busy", retry_after=retry_after)).blocked_until == NOON + pause


def test_a_shorter_pause_never_ends_a_longer_one() -> None:
    long = after(MinuteQuotaError("busy", retry_after=60.0))
    assert after(MinuteQuotaError("busy", retry_after=1.0), long).blocked_until == NOON + timedelta(seconds=60)


def test_a_named_limit_outlives_an_unnamed_refusal_unless_it_is_higher() -> None:
    named = after(MinuteQuotaError("busy", limit=2))
    assert after(MinuteQuotaError("busy"), named).learned == named.learned
    higher = after(MinuteQuotaError("busy", limit=15))
    assert after(MinuteQuotaError("busy"), higher).learned.per_minute == UNNAMED_PER_MINUTE


def test_a_model_that_is_gone_is_remembered_in_the_words_it_was_told_in() -> None:
    state = after(UnavailableModelError("There is no such model."))
    assert state.barred == Barred(until=NOON + BARRED_FOR, why="There is no such model.")
    assert (state.tally, state.learned, state.blocked_until) == (FRESH.tally, FRESH.learned, None)


def test_a_delay_without_a_limit_teaches_no_limit() -> None:
    assert after(MinuteQuotaError("busy", retry_after=3.0)).learned == Learned()
