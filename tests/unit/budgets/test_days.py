"""A provider's day ends at its own midnight, whatever the season."""

from datetime import UTC, date, datetime, timedelta

import pytest

from touchstone.budgets.days import day_of, day_start, next_reset

MARCH, NOVEMBER = (2026, 3), (2026, 11)
EDGES = [
    # The clocks go forward on 2026-03-08 at 10:00 UTC, and back on 2026-11-01 at 09:00 UTC.
    (datetime(*MARCH, 8, 7, 59, tzinfo=UTC), date(*MARCH, 7)),
    (datetime(*MARCH, 8, 8, 0, tzinfo=UTC), date(*MARCH, 8)),
    (datetime(*MARCH, 9, 6, 59, tzinfo=UTC), date(*MARCH, 8)),
    (datetime(*MARCH, 9, 7, 0, tzinfo=UTC), date(*MARCH, 9)),
    (datetime(*NOVEMBER, 1, 6, 59, tzinfo=UTC), date(2026, 10, 31)),
    (datetime(*NOVEMBER, 1, 7, 0, tzinfo=UTC), date(*NOVEMBER, 1)),
    (datetime(*NOVEMBER, 2, 7, 59, tzinfo=UTC), date(*NOVEMBER, 1)),
    (datetime(*NOVEMBER, 2, 8, 0, tzinfo=UTC), date(*NOVEMBER, 2)),
    (datetime(*NOVEMBER, 2, 0, 0, tzinfo=UTC), date(*NOVEMBER, 1)),
]


@pytest.mark.parametrize(("now", "day"), EDGES)
def test_r10_geminis_day_is_the_pacific_one(now: datetime, day: date) -> None:
    assert day_of("gemini", now) == day
    assert day_start("gemini", day) <= now < next_reset("gemini", now)
    assert day_of("gemini", next_reset("gemini", now)) == day + timedelta(days=1)


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 8), 23), (date(2026, 11, 1), 25), (date(2026, 6, 1), 24)])
def test_r10_days_have_23_24_or_25_hours(day: date, hours: int) -> None:
    start = day_start("gemini", day)
    assert next_reset("gemini", start) - start == timedelta(hours=hours)


@pytest.mark.parametrize("provider", ["openai", "claude", "a-gateway-of-ours"])
def test_r10_other_days_end_at_utc_midnight(provider: str) -> None:
    last = datetime(2026, 3, 8, 23, 59, 59, tzinfo=UTC)
    assert day_of(provider, last) == date(2026, 3, 8)
    assert next_reset(provider, last) == datetime(2026, 3, 9, tzinfo=UTC)
