"""The clock of the deployments that tests run: far from every midnight at which a provider's day ends."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.clocks import seconds_to_quiet, set_back_from_midnight
from touchstone.budgets.account import SEND_MARGIN
from touchstone.budgets.days import PROVIDER_ZONES, day_of


@pytest.mark.parametrize("month", [1, 7])
def test_no_day_begins_or_ends_near_a_tests_clock(month: int) -> None:
    midnight = datetime(2026, month, 15, tzinfo=UTC)
    for minutes in range(24 * 60):
        for seconds in (0, 2):
            now = midnight + timedelta(minutes=minutes, seconds=seconds)
            back = set_back_from_midnight(now)
            assert timedelta(0) <= back <= timedelta(hours=4)
            for provider in PROVIDER_ZONES:
                first, last = now - back - SEND_MARGIN, now - back + timedelta(hours=2, minutes=59)
                assert day_of(provider, first) == day_of(provider, last), now


def test_a_clock_far_from_midnight_is_left_alone() -> None:
    assert set_back_from_midnight(datetime(2026, 1, 15, 12, tzinfo=UTC)) == timedelta(0)


@pytest.mark.parametrize(
    ("clock", "seconds"), [("07:59:53", 0.0), ("07:59:55", 11.0), ("08:00:02", 4.0), ("08:00:07", 0.0)]
)
def test_no_test_begins_at_midnight_in_the_place_where_a_provider_counts_its_days(clock: str, seconds: float) -> None:
    assert seconds_to_quiet(datetime.fromisoformat(f"2026-01-15T{clock}+00:00")) == seconds
