"""What is left of a quota, and when a backlog will be done."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.budgets.account import COUNTED_SECONDS, SEND_MARGIN, DayTally, QuotaState, epoch_second
from touchstone.budgets.decision import Granted, QuotaRules, decide
from touchstone.budgets.usage import forecast, usage_of
from touchstone.judges.base import QuotaLimits

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
TODAY = date(2026, 11, 21)
RESET = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)


def rules_of(*, fresh_share: float = 0.0, **limits: int) -> QuotaRules:
    return QuotaRules(provider="gemini", limits=QuotaLimits(**limits), fresh_share=fresh_share)


def drained(backlog: int, state: QuotaState, now: datetime, rules: QuotaRules) -> datetime:
    """When the last call of a backlog is sent by a drain that always waits exactly as long as it must."""
    while True:
        decision = decide(state, now, rules=rules, purpose="backlog")
        if isinstance(decision, Granted):
            state, backlog = decision.state, backlog - 1
            if backlog == 0:
                return now
        else:
            now = decision.until


@given(
    backlog=st.integers(1, 120),
    used=st.integers(0, 40),
    per_day=st.integers(1, 40),
    per_minute=st.one_of(st.none(), st.integers(1, 12)),
    fresh_share=st.sampled_from([0.0, 0.1, 0.5]),
    minutes=st.integers(0, 60 * 24),
)
@settings(deadline=None)
def test_a_forecast_is_what_the_drain_then_does(
    *, backlog: int, used: int, per_day: int, per_minute: int | None, fresh_share: float, minutes: int
) -> None:
    now = NOON + timedelta(minutes=minutes)
    rules = QuotaRules(
        provider="openai", limits=QuotaLimits(per_day=per_day, per_minute=per_minute), fresh_share=fresh_share
    )
    state = QuotaState(day=now.date(), tally=DayTally(used=used, backlog_used=used))
    done = forecast(backlog, usage_of(state, now, rules=rules))
    assert done is not None
    assert abs(done - drained(backlog, state, now, rules)) <= timedelta(seconds=66)


def test_a_forecast_counts_the_days() -> None:
    usage = usage_of(QuotaState(day=TODAY), NOON, rules=rules_of(per_day=250, per_minute=10))
    assert forecast(600, usage) == RESET + timedelta(days=1) + SEND_MARGIN + timedelta(seconds=9 * 66)
    assert forecast(0, usage) == NOON


def test_a_forecast_waits_for_a_spent_day() -> None:
    spent = QuotaState(day=TODAY, tally=DayTally(used=3, exhausted=True))
    usage = usage_of(spent, NOON, rules=rules_of(per_day=250, per_minute=10))
    assert (usage.left, usage.blocked_until) == (0, RESET + SEND_MARGIN)
    assert forecast(5, usage) == RESET + SEND_MARGIN


@pytest.mark.parametrize(
    ("limits", "done"),
    [
        ({}, NOON),
        ({"per_minute": 10}, NOON + timedelta(seconds=9 * 66)),
        ({"per_day": 0}, None),
        ({"per_minute": 0}, None),
        ({"per_day": 10, "per_minute": 0}, None),
    ],
)
def test_a_forecast_without_a_limit_a_day_or_without_any_unit(limits: dict[str, int], done: datetime | None) -> None:
    assert forecast(100, usage_of(QuotaState(day=TODAY), NOON, rules=rules_of(**limits))) == done


def test_usage_without_limits_has_nothing_left_to_count() -> None:
    usage = usage_of(QuotaState(day=TODAY, tally=DayTally(used=4)), NOON, rules=rules_of())
    assert (usage.limit, usage.used, usage.left, usage.left_this_minute) == (None, 4, None, None)
    assert (usage.resets_at, usage.blocked_until) == (RESET, None)


def test_usage_shows_what_the_backlog_leaves() -> None:
    state = QuotaState(day=TODAY, tally=DayTally(used=30, backlog_used=20))
    rules = rules_of(per_day=250, fresh_share=0.1)
    assert usage_of(state, NOON, rules=rules).kept == 15
    assert usage_of(state, RESET - timedelta(hours=1), rules=rules).kept == 0


def test_what_is_left_of_a_minute_is_counted_by_the_minute_and_not_by_the_day() -> None:
    seconds = {epoch_second(NOON) - COUNTED_SECONDS: 20, epoch_second(NOON) - COUNTED_SECONDS + 1: 1}
    state = QuotaState(day=TODAY, tally=DayTally(used=30), seconds=seconds)
    usage = usage_of(state, NOON, rules=rules_of(per_day=250, per_minute=10))
    assert (usage.left, usage.left_this_minute) == (220, 9)
    later = usage_of(state, NOON + timedelta(seconds=1), rules=rules_of(per_day=250, per_minute=10))
    assert (later.left, later.left_this_minute) == (220, 10)
