"""When a part of a job is tried again, if its judges failed in several ways."""

from datetime import UTC, datetime, timedelta

import pytest

from touchstone import errors
from touchstone.attempts import MAX_TRIES, Attempts, TryEnd
from touchstone.operations.jobs.after_failure import Postponed
from touchstone.operations.jobs.tries import try_again

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MIDNIGHT_OF_GEMINI = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
WITHIN = timedelta(days=3)
SOON = NOW + timedelta(seconds=30)

REFUSED, BUSY = errors.RefusedError("It declined."), errors.OverloadedError("503")
GARBLED, SPENT = errors.UnreadableError("It is no JSON."), errors.DayQuotaError("429")
NO_KEY = errors.MisconfiguredError("No key.", sent=False)


def again(
    *failures: errors.JudgeError | errors.LimitError, asked: timedelta = timedelta(0), tries: int = 0
) -> Postponed | None:
    attempts = Attempts(tries=tries).begun(now=NOW)
    assert attempts is not None
    return try_again(failures, attempts=attempts, provider="gemini", now=NOW, asked_at=NOW - asked, within=WITHIN)


@pytest.mark.parametrize(
    ("failures", "until", "ended"),
    [
        ((REFUSED, BUSY), SOON, "unanswered"),
        ((GARBLED, BUSY), SOON, "unanswered"),
        # The quota cut the try short: it did what it could, and uses up none of the tries.
        ((GARBLED, SPENT), MIDNIGHT_OF_GEMINI, "limited"),
        ((SPENT, BUSY), MIDNIGHT_OF_GEMINI, "limited"),
    ],
)
def test_of_several_failures_the_longest_pause_counts_and_the_end_that_says_least(
    failures: tuple[errors.JudgeError, ...], until: datetime, ended: TryEnd
) -> None:
    for order in (failures, failures[::-1]):
        found = again(*order)
        assert found is not None
        assert (found.until, found.ended) == (until, ended)


def test_work_ends_where_no_failure_allows_another_try_or_its_time_is_over() -> None:
    assert again(REFUSED) is None
    assert again(REFUSED, GARBLED, tries=MAX_TRIES - 1) is None
    assert again(BUSY, asked=WITHIN - timedelta(seconds=1)) is not None
    assert again(BUSY, asked=WITHIN) is None


@pytest.mark.parametrize(("asked", "pause"), [(0, 30), (3600, 900), (24 * 3600, 3600)])
def test_a_missing_key_is_looked_for_at_once_and_then_less_and_less_often(asked: int, pause: int) -> None:
    found = again(NO_KEY, asked=timedelta(seconds=asked))
    assert found is not None
    assert (found.until, found.ended) == (NOW + timedelta(seconds=pause), "limited")
