"""R9: the backlog takes what the day leaves, and fresh requests are not starved by it."""

from datetime import UTC, datetime

import pytest

from tests.support.clocks import StandingClock
from tests.support.drains import hourly_drains
from touchstone.budgets.account import QuotaKey
from touchstone.budgets.memory import MemoryQuotas
from touchstone.errors import QuotaExceededError
from touchstone.judges.base import QuotaLimits

KEY = QuotaKey("gemini", "gemini-3.8-flash", "default")
DEEP = QuotaLimits(per_day=250, per_minute=10)


@pytest.fixture
def clock() -> StandingClock:
    """Half an hour into the provider's day."""
    return StandingClock(datetime(2026, 11, 21, 8, 30, tzinfo=UTC))


def test_r9_fresh_requests_find_their_share_whenever_they_come(clock: StandingClock) -> None:
    quotas = MemoryQuotas(clock=clock)
    assert hourly_drains(quotas, clock, KEY, DEEP, backlog=600, hours=12) == 225
    for _ in range(25):
        clock.forward(minutes=1)
        quotas.reserve(KEY, DEEP, purpose="fresh")
    with pytest.raises(QuotaExceededError):
        quotas.reserve(KEY, DEEP, purpose="fresh")


def test_r9_what_fresh_requests_took_is_not_kept_for_them_again(clock: StandingClock) -> None:
    quotas = MemoryQuotas(clock=clock)
    for _ in range(10):
        quotas.reserve(KEY, DEEP, purpose="fresh")
    assert hourly_drains(quotas, clock, KEY, DEEP, backlog=600, hours=12) == 225
    assert quotas.usage(KEY, DEEP).left == 15


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_r9_a_day_ends_with_exactly_its_limit_used(clock: StandingClock, share: float) -> None:
    quotas = MemoryQuotas(clock=clock, fresh_share=share)
    assert hourly_drains(quotas, clock, KEY, DEEP, backlog=600, hours=23) == 250


def test_r9_without_a_fresh_share_the_backlog_takes_all_at_once(clock: StandingClock) -> None:
    quotas = MemoryQuotas(clock=clock, fresh_share=0.0)
    assert hourly_drains(quotas, clock, KEY, DEEP, backlog=600, hours=1) == 250
