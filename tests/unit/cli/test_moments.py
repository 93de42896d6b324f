"""Moments and durations as people write them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.cli.files.task_files import duration_of, moment_of
from touchstone.errors import InputError

NOW = datetime(2026, 11, 21, 6, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3d", timedelta(days=3)),
        ("12h", timedelta(hours=12)),
        ("90m", timedelta(minutes=90)),
        ("30s", timedelta(seconds=30)),
        ("1d12h", timedelta(hours=36)),
        ("0s", timedelta()),
    ],
)
def test_durations_are_read(text: str, expected: timedelta) -> None:
    assert duration_of(text, where="w") == expected
    assert moment_of(text, where="w", now=NOW) == NOW + expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2027-01-31T12:00+01:00", datetime(2027, 1, 31, 11, tzinfo=UTC)),
        ("2027-01-31T12:00Z", datetime(2027, 1, 31, 12, tzinfo=UTC)),
        ("2027-01-31 12:00:30-05:00", datetime(2027, 1, 31, 17, 0, 30, tzinfo=UTC)),
    ],
)
def test_moments_with_a_zone_are_read(text: str, expected: datetime) -> None:
    assert moment_of(text, where="w", now=NOW) == expected


@pytest.mark.parametrize(
    "text", ["", "3", "d", "tomorrow", "-3d", "3 d", "12h1d", "1e3s", "9" * 12 + "d", "2027-13-01"]
)
def test_what_is_neither_is_named(text: str) -> None:
    for read in (
        lambda: duration_of(text, where="w"),
        lambda: moment_of(text, where="w", now=NOW),
    ):
        with pytest.raises(InputError, match="is no ") as caught:
            read()
        assert (repr(text) in str(caught.value), caught.value.where) == (True, "w")


def test_a_moment_without_a_zone_is_nobodys() -> None:
    for text in ("2027-01-31T12:00", "2027-01-31"):
        with pytest.raises(InputError, match="has no time zone"):
            moment_of(text, where="w", now=NOW)


def test_a_moment_that_no_clock_shows_is_none() -> None:
    with pytest.raises(InputError, match="is no moment"):
        moment_of("0001-01-01T00:00+14:00", where="w", now=NOW)


@given(st.integers(0, 99_999), st.integers(0, 999_999), st.integers(0, 9_999_999), st.integers(0, 999_999_999))
def test_a_duration_is_the_sum_of_its_parts(days: int, hours: int, minutes: int, seconds: int) -> None:
    found = moment_of(f"{days}d{hours}h{minutes}m{seconds}s", where="w", now=NOW)
    assert found - NOW == timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
