"""How many units are reserved together: what the minute and the day have left, and a hundredth of either at most."""

from datetime import UTC, date, datetime, timedelta

import pytest

from touchstone.budgets.account import COUNTED_SECONDS, DayTally, QuotaState, epoch_second
from touchstone.budgets.decision import SEND_WITHIN, SHORTEST_LEASE, Granted, LeaseRequest, QuotaRules, decide
from touchstone.judges.base import Purpose, QuotaLimits

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
RESET = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
RULES = QuotaRules(provider="gemini", limits=QuotaLimits(per_day=6_000, per_minute=1_000), fresh_share=0.05)
WANTED = LeaseRequest(50, SHORTEST_LEASE)


@pytest.mark.parametrize(
    ("used", "before", "purpose", "at", "units"),
    [
        (5_000, {}, "fresh", NOON, 10),  # of the minute, which knows nothing of the day's 5,000
        (0, {0: 994}, "fresh", NOON, 6),
        (0, {COUNTED_SECONDS - 1: 994}, "fresh", NOON, 6),
        (0, {COUNTED_SECONDS: 994}, "fresh", NOON, 10),
        (5_000, {0: 1_000 - 4, COUNTED_SECONDS: 4}, "fresh", NOON, 4),
        (5_500, {}, "fresh", NOON, 5),
        (5_500, {}, "backlog", NOON, 2),  # 300 are kept for fresh requests, of the 500 that are left
        (5_950, {}, "fresh", NOON, 1),
        (0, {}, "fresh", RESET - timedelta(seconds=13), 10),
        (0, {}, "fresh", RESET - timedelta(seconds=12), 1),
    ],
)
def test_a_lease_has_what_the_minute_and_the_day_can_spare(
    *, used: int, before: dict[int, int], purpose: Purpose, at: datetime, units: int
) -> None:
    seconds = {epoch_second(at) - ago: count for ago, count in before.items()}
    state = QuotaState(day=date(2026, 11, 21), tally=DayTally(used=used, backlog_used=used), seconds=seconds)
    granted = decide(state, at, rules=RULES, purpose=purpose, lease=WANTED)
    assert isinstance(granted, Granted)
    counted_at = at if units == 1 else at + SHORTEST_LEASE - SEND_WITHIN
    assert (granted.units, granted.at, granted.state.tally.used) == (units, counted_at, used + units)
    assert granted.state.seconds[epoch_second(counted_at)] == units + before.get(0, 0) * (units == 1)
