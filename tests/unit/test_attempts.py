"""Tries of one piece of work: one at a time, counted by what they say of it, and bounded in days."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from touchstone.attempts import LEASE, LONGEST_PAUSE, RETRY_PERIOD, Attempts, TryEnd

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
ENDS: tuple[TryEnd, ...] = ("unread", "unanswered", "limited")


def test_a_try_holds_the_work_until_its_lease_runs_out_and_one_that_broke_off_counts_for_nothing() -> None:
    begun = Attempts().begun(now=NOW)
    assert begun is not None
    assert (begun.tries, begun.not_before) == (0, NOW + LEASE)
    assert begun.begun(now=NOW + LEASE - timedelta(microseconds=1)) is None
    again = begun.begun(now=NOW + LEASE)
    assert again is not None
    assert (again.tries, again.must_wait(NOW + LEASE)) == (0, True)


def test_tries_that_break_off_grow_apart_and_end_after_days_not_after_an_hour() -> None:
    attempts, now, begun = Attempts(), NOW, 0
    while (after := attempts.begun(now=now)) is not None:
        begun += 1
        assert after.not_before is not None
        assert LEASE <= after.not_before - now <= LONGEST_PAUSE
        attempts, now = after, after.not_before
    assert now - NOW >= RETRY_PERIOD
    assert begun < 40, "what kills its worker after it paid costs so many calls at most"
    assert attempts.exhausted(now)
    assert not attempts.exhausted(now - timedelta(microseconds=1)), "until its lease ends the last try may be at work"
    assert attempts.tries == 0


def test_what_is_put_back_waits_until_its_time_and_only_a_reply_that_cannot_be_used_counts() -> None:
    begun = Attempts().begun(now=NOW)
    assert begun is not None
    back = [begun.put_back(until=LATER, ended=each) for each in ENDS]
    assert [each.tries for each in back] == [1, 0, 0]
    assert [each.since for each in back] == [None, NOW, LATER], "waiting for a limit is no time of trying"
    assert {(each.must_wait(NOW), each.must_wait(LATER)) for each in back} == {(True, False)}


@given(st.lists(st.sampled_from(ENDS), max_size=40))
def test_tries_are_those_that_count_and_no_others(ends: list[TryEnd]) -> None:
    attempts, now, used = Attempts(), NOW, 0
    for ended in ends:
        begun = attempts.begun(now=now)
        assert begun is not None
        assert begun.begun(now=now) is None
        used += ended == "unread"
        now += timedelta(minutes=1)
        attempts = begun.put_back(until=now, ended=ended)
        assert (attempts.tries, attempts.exhausted(now)) == (used, False)
