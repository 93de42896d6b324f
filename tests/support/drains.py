"""A drain of deferred work as far as the budgets see it."""

from datetime import timedelta

from tests.support.clocks import StandingClock
from touchstone.budgets.account import QuotaKey
from touchstone.budgets.ledger import QuotaLedger
from touchstone.errors import QuotaExceededError
from touchstone.judges.base import QuotaLimits


def hourly_drains(
    quotas: QuotaLedger, clock: StandingClock, key: QuotaKey, limits: QuotaLimits, *, backlog: int, hours: int
) -> int:
    """Start a drain every hour from now on; how many units they take of the `backlog` wanted.

    Each waits for the minute's quota, and ends with the day's.
    """
    start, taken = clock.now, 0
    for hour in range(hours):
        clock.now, end = max(clock.now, start + timedelta(hours=hour)), start + timedelta(hours=hour + 1)
        while taken < backlog and clock.now < end:
            try:
                quotas.reserve(key, limits, purpose="backlog")
                taken += 1
            except QuotaExceededError as refused:
                if refused.window == "day" or refused.until is None:
                    break
                clock.now = refused.until
    return taken
