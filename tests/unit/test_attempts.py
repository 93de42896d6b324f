"""Tries of one piece of work: one at a time, so many, and none is lost by a want of quota."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from touchstone.attempts import LEASE, MAX_TRIES, Attempts

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def test_a_try_holds_the_work_until_its_lease_runs_out() -> None:
    begun = Attempts().begun(now=NOW)
    assert begun is not None
    assert (begun.tries, begun.not_before) == (1, NOW + LEASE)
    assert begun.begun(now=NOW + LEASE - timedelta(microseconds=1)) is None
    again = begun.begun(now=NOW + LEASE)
    assert again is not None
    assert (again.tries, again.held(NOW + LEASE)) == (2, True)


def test_what_is_put_back_waits_until_its_time_and_a_try_that_does_not_count_is_given_back() -> None:
    begun = Attempts().begun(now=NOW)
    assert begun is not None
    counted, free = (begun.put_back(until=LATER, counted=each) for each in (True, False))
    assert (counted.tries, free.tries) == (1, 0)
    assert (free.held(NOW), free.held(LATER)) == (True, False)


@given(st.lists(st.booleans(), max_size=40))
def test_tries_are_exhausted_by_those_that_count_and_by_no_others(counts: list[bool]) -> None:
    attempts, now, used = Attempts(), NOW, 0
    for counted in counts:
        assert attempts.exhausted == (used >= MAX_TRIES)
        begun = attempts.begun(now=now)
        assert begun is not None
        assert begun.begun(now=now) is None
        used += counted
        now += timedelta(minutes=1)
        attempts = begun.put_back(until=now, counted=counted)
        assert attempts.tries == used
