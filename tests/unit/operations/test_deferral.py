"""A deep evaluation that could not be judged is never lost, and never tried without end."""

from datetime import UTC, datetime, timedelta

import pytest

from touchstone import errors
from touchstone.operations.deferral import GivenUp, Postponed, after_failure
from touchstone.records.evaluations import MAX_TRIES

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RESET = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
SLOT = NOW + timedelta(seconds=17)


def minute_quota() -> errors.QuotaExceededError:
    return errors.QuotaExceededError("The minute is full.", window="minute", until=SLOT)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (minute_quota(), Postponed(state="waiting", until=SLOT, reason="quota", counted=False, scope="everyone")),
        (
            errors.QuotaExceededError("The day is full.", window="day", until=RESET),
            Postponed(state="deferred", until=RESET, reason="quota", counted=False, scope="everyone"),
        ),
        (
            errors.TenantShareError("The tenant's minute is full.", window="minute", until=SLOT),
            Postponed(state="waiting", until=SLOT, reason="tenant_share", counted=False, scope="tenant"),
        ),
        (
            errors.TenantShareError("The tenant's day is full.", window="day", until=RESET),
            Postponed(state="deferred", until=RESET, reason="tenant_share", counted=False, scope="tenant"),
        ),
        (
            errors.SpendingCeilingError("Spent.", until=RESET),
            Postponed(state="deferred", until=RESET, reason="spending_ceiling", counted=False, scope="tenant"),
        ),
        (
            errors.DayQuotaError("429", limit=20, retry_after=30),
            Postponed(state="deferred", until=RESET, reason="day_quota", counted=False, scope="everyone"),
        ),
        (
            errors.MinuteQuotaError("429", retry_after=7),
            Postponed(
                state="waiting", until=NOW + timedelta(seconds=7), reason="minute_quota", counted=True, scope="everyone"
            ),
        ),
        (
            errors.OverloadedError("503"),
            Postponed(
                state="waiting", until=NOW + timedelta(seconds=30), reason="overloaded", counted=True, scope="everyone"
            ),
        ),
        (
            errors.UnavailableModelError("no such model"),
            Postponed(
                state="deferred",
                until=NOW + timedelta(hours=1),
                reason="misconfigured",
                counted=False,
                scope="everyone",
            ),
        ),
        (
            errors.MisconfiguredError("no key", sent=False),
            Postponed(
                state="deferred",
                until=NOW + timedelta(hours=1),
                reason="misconfigured",
                counted=False,
                scope="everyone",
            ),
        ),
        (
            errors.MisconfiguredError("rejected as malformed"),
            Postponed(
                state="waiting",
                until=NOW + timedelta(seconds=30),
                reason="misconfigured",
                counted=True,
                scope="record",
            ),
        ),
        (errors.RefusedError("declined"), GivenUp(reason="refused")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_follows_a_first_failure(
    error: errors.JudgeError | errors.LimitError, expected: Postponed | GivenUp
) -> None:
    assert after_failure(error, tries=1, now=NOW, reset=RESET) == expected


def test_an_outage_is_waited_for_longer_each_time_and_then_given_up() -> None:
    pauses = []
    for tries in range(1, MAX_TRIES):
        outcome = after_failure(errors.OverloadedError("503"), tries=tries, now=NOW, reset=RESET)
        assert isinstance(outcome, Postponed)
        pauses.append((outcome.until - NOW).total_seconds())
    assert pauses == [30, 120, 480, 1200]
    assert sum(pauses) >= 1800
    outcome = after_failure(errors.OverloadedError("503"), tries=MAX_TRIES, now=NOW, reset=RESET)
    assert outcome == GivenUp(reason="overloaded")


def test_a_request_that_the_provider_rejects_is_given_up_like_any_other_that_fails() -> None:
    rejected = errors.MisconfiguredError("rejected as malformed")
    assert after_failure(rejected, tries=MAX_TRIES, now=NOW, reset=RESET) == GivenUp(reason="misconfigured")


@pytest.mark.parametrize("error", [minute_quota(), errors.DayQuotaError("429"), errors.UnavailableModelError("gone")])
def test_nothing_is_given_up_for_want_of_quota_or_configuration(error: errors.JudgeError | errors.LimitError) -> None:
    assert isinstance(after_failure(error, tries=1000, now=NOW, reset=RESET), Postponed)
