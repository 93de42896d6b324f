"""A deep evaluation that could not be judged is never lost, and never tried without end."""

from datetime import UTC, datetime, timedelta

import pytest

from touchstone import errors
from touchstone.attempts import LONGEST_PAUSE, MAX_TRIES, RETRY_PERIOD, Attempts
from touchstone.operations.jobs.after_failure import GivenUp, Postponed, after_failure

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RESET = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
SLOT = NOW + timedelta(seconds=17)


def minute_quota() -> errors.QuotaExceededError:
    return errors.QuotaExceededError("The minute is full.", window="minute", until=SLOT)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (minute_quota(), Postponed(until=SLOT, reason="quota", ended="unanswered", scope="everyone")),
        (
            errors.QuotaExceededError("The day is full.", window="day", until=RESET),
            Postponed(until=RESET, reason="quota", ended="limited", scope="everyone"),
        ),
        (
            errors.TenantShareError("The tenant's minute is full.", window="minute", until=SLOT),
            Postponed(until=SLOT, reason="tenant_share", ended="unanswered", scope="tenant"),
        ),
        (
            errors.TenantShareError("The tenant's day is full.", window="day", until=RESET),
            Postponed(until=RESET, reason="tenant_share", ended="limited", scope="tenant"),
        ),
        (
            errors.SpendingCeilingError("Spent.", until=RESET),
            Postponed(until=RESET, reason="spending_ceiling", ended="limited", scope="tenant"),
        ),
        (
            errors.DayQuotaError("429", limit=20, retry_after=30),
            Postponed(until=RESET, reason="day_quota", ended="limited", scope="everyone"),
        ),
        (
            errors.MinuteQuotaError("429", retry_after=7),
            Postponed(
                until=NOW + timedelta(seconds=30),
                reason="minute_quota",
                ended="unanswered",
                scope="everyone",
            ),
        ),
        (
            errors.OverloadedError("503"),
            Postponed(
                until=NOW + timedelta(seconds=30),
                reason="overloaded",
                ended="unanswered",
                scope="everyone",
            ),
        ),
        (
            errors.UnavailableModelError("no such model"),
            Postponed(
                until=NOW + timedelta(hours=1),
                reason="misconfigured",
                ended="limited",
                scope="everyone",
            ),
        ),
        (
            errors.MisconfiguredError("no key", sent=False),
            Postponed(
                until=NOW + timedelta(hours=1),
                reason="misconfigured",
                ended="limited",
                scope="everyone",
            ),
        ),
        (
            errors.MisconfiguredError("rejected as malformed"),
            Postponed(
                until=NOW + timedelta(seconds=30),
                reason="misconfigured",
                ended="unread",
                scope="record",
            ),
        ),
        (errors.RefusedError("declined"), GivenUp(reason="refused")),
        (errors.UnpricedError("No price is known.", until=None), GivenUp(reason="unpriced")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_follows_a_first_failure(
    error: errors.JudgeError | errors.LimitError, expected: Postponed | GivenUp
) -> None:
    assert after_failure(error, Attempts(since=NOW), now=NOW, reset=RESET) == expected


@pytest.mark.parametrize("error", [errors.OverloadedError("503"), errors.MinuteQuotaError("429", retry_after=1)])
def test_an_outage_is_waited_for_longer_each_time_and_given_up_after_days(error: errors.JudgeError) -> None:
    now, tries = NOW, 0
    while isinstance(outcome := after_failure(error, Attempts(since=NOW), now=now, reset=RESET), Postponed):
        assert timedelta(seconds=30) <= outcome.until - now <= LONGEST_PAUSE
        assert outcome.until - now <= max(timedelta(seconds=30), now - NOW), "no longer than it has lasted"
        now, tries = outcome.until, tries + 1
    assert outcome == GivenUp(reason=error.reason)
    assert RETRY_PERIOD <= now - NOW <= RETRY_PERIOD + LONGEST_PAUSE
    assert tries < 40


def test_a_pause_is_never_shorter_than_the_provider_asks_for() -> None:
    later = after_failure(errors.MinuteQuotaError("429", retry_after=90), Attempts(), now=NOW, reset=RESET)
    assert isinstance(later, Postponed)
    assert later.until == NOW + timedelta(seconds=90)


@pytest.mark.parametrize("error", [errors.OverloadedError("503", retry_after=1e12), errors.OverloadedError("503")])
def test_a_provider_that_asks_for_years_is_asked_again_today(error: errors.OverloadedError) -> None:
    later = after_failure(error, Attempts(), now=NOW, reset=RESET)
    assert isinstance(later, Postponed)
    assert later.until <= NOW + LONGEST_PAUSE


@pytest.mark.parametrize("error", [errors.MisconfiguredError("rejected as malformed"), errors.UnreadableError("{")])
def test_what_is_paid_each_time_and_of_no_use_is_given_up_after_a_few_tries(error: errors.JudgeError) -> None:
    ends = [after_failure(error, Attempts(tries=tries), now=NOW, reset=RESET) for tries in range(MAX_TRIES)]
    assert [isinstance(end, GivenUp) for end in ends] == [False] * (MAX_TRIES - 1) + [True]
    assert ends[-1] == GivenUp(reason=error.reason)


def test_an_outage_before_it_does_not_end_what_is_read_wrong_once() -> None:
    since = Attempts(since=NOW - timedelta(days=1))
    assert isinstance(after_failure(errors.UnreadableError("{"), since, now=NOW, reset=RESET), Postponed)


@pytest.mark.parametrize("error", [minute_quota(), errors.DayQuotaError("429"), errors.UnavailableModelError("gone")])
def test_nothing_is_given_up_for_want_of_quota_or_configuration(error: errors.JudgeError | errors.LimitError) -> None:
    old = Attempts(tries=1000, since=NOW - RETRY_PERIOD)
    assert isinstance(after_failure(error, old, now=NOW, reset=RESET), Postponed)
