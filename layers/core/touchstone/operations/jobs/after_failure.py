"""One try at work that a judge must do: the judge is opened and asked, and a failure decides what follows.

refused by our own count    minute → again at the slot               day, ceiling → again at the reset
a tenant's share of it      minute → again at its slot               day → again when all of it is free
the provider's 429          minute → again as it advises, or later   day → again at its reset
overloaded, timed out       again after longer each time, given up after days
unreadable                  again soon, given up after a few: each reply is paid for
no key, no such model       again in an hour: someone must mend the configuration, nothing is lost meanwhile
rejected as malformed       again soon, given up after a few: it is this request that the provider does not take
refused by the model        given up: it would refuse again
no known price              given up: no time changes that, someone must set one
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, Protocol

from touchstone.attempts import LONGEST_PAUSE, MAX_TRIES, RETRY_PERIOD, Attempts, TryEnd, Waiting, growing_pause
from touchstone.budgets import next_reset
from touchstone.errors import (
    PERMANENT_REASONS,
    DayQuotaError,
    JudgeError,
    LimitError,
    MisconfiguredError,
    QuotaExceededError,
    RefusedError,
    SettingsError,
    SpendingCeilingError,
    TenantShareError,
    UnavailableModelError,
    UnpricedError,
    UnreadableError,
)
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored, not_scored, unanswered_reason
from touchstone.judges.spends import Spend
from touchstone.operations.jobs.context import StepContext

FIRST_PAUSE = timedelta(seconds=30)
MISCONFIGURED_PAUSE = timedelta(hours=1)
UNKNOWN_LIMIT_PAUSE = timedelta(hours=1)
"""The pause for a limit that does not say until when it holds."""


type Scope = Literal["record", "tenant", "everyone"]
"""Who would meet the same refusal: this record only, all records of its tenant, or everyone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponed:
    """The work is to be tried again, not before `until` (UTC). `ended` says what this try tells of the work."""

    until: datetime
    reason: str
    ended: TryEnd
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """The work is not to be tried again; the record says why."""

    reason: str


def after_failure(
    error: JudgeError | LimitError, attempts: Attempts, *, now: datetime, reset: datetime
) -> Postponed | GivenUp:
    """Decide what follows a failed try, which is underway in `attempts`. `reset` is the provider's next reset (UTC)."""
    scope, since = _scope(error), attempts.since or now
    if isinstance(error, RefusedError | UnpricedError):
        return GivenUp(reason=error.reason)
    ended: TryEnd
    match error:
        case QuotaExceededError(window="minute"):
            until, ended = error.until or now + FIRST_PAUSE, "unanswered"
        case LimitError():
            until, ended = error.until or now + UNKNOWN_LIMIT_PAUSE, "limited"
        case DayQuotaError():
            until, ended = reset, "limited"
        case MisconfiguredError() if scope == "everyone":
            until, ended = now + MISCONFIGURED_PAUSE, "limited"
        case UnreadableError() | MisconfiguredError():
            until, ended = now + FIRST_PAUSE * 2**attempts.tries, "unread"
        case _:
            asked = timedelta(seconds=min(error.retry_after or 0.0, LONGEST_PAUSE.total_seconds()))
            pause = growing_pause(since, now, least=asked)
            until, ended = now + max(pause, FIRST_PAUSE), "unanswered"
    worn_out = attempts.tries + 1 >= MAX_TRIES if ended == "unread" else now - since >= RETRY_PERIOD
    if worn_out and ended != "limited" and isinstance(error, JudgeError):
        return GivenUp(reason=error.reason)
    return Postponed(until=until, reason=error.reason, ended=ended, scope=scope)


def _scope(error: JudgeError | LimitError) -> Scope:
    match error:
        case TenantShareError() | SpendingCeilingError():
            return "tenant"
        case UnreadableError() | RefusedError():
            return "record"
        case MisconfiguredError() if error.sent and not isinstance(error, UnavailableModelError):
            return "record"
        case _:
            return "everyone"


PATIENCE = 4
"""A pause before the next look is the elapsed time divided by this, so that a long wait takes few looks."""
ANY_PROVIDER = "gemini"
"""The provider whose quota day counts if no provider was asked. Any provider will do, since nothing was counted."""


class Paid(Protocol):
    """The result of a try, with the judge calls that were paid for it."""

    @property
    def spends(self) -> tuple[Spend, ...]:
        """The calls that were paid for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried[T]:
    """The result of a try, and the provider that was asked; `ANY_PROVIDER` if no judge could be opened."""

    found: T | NotScored
    provider: str


async def with_judge[T: Paid](
    context: StepContext, open_judge: Callable[[], Judge], work: Callable[[Judge], Awaitable[T | NotScored]]
) -> Tried[T]:
    """Do work that asks a judge, and report what was paid for it."""
    try:
        judge = open_judge()
    except (SettingsError, MisconfiguredError) as error:
        return Tried(found=not_scored(MisconfiguredError(str(error), sent=False)), provider=ANY_PROVIDER)
    found = await work(judge)
    context.paid(found.spends)
    return Tried(found=found, provider=judge.provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponement:
    """How work waits for another try, and what the present try tells of the work."""

    waiting: Waiting
    ended: TryEnd


def postpone(
    failure: JudgeError | LimitError,
    attempts: Attempts,
    *,
    sentence: str,
    provider: str,
    now: datetime,
    abandoned_after: timedelta,
) -> Postponement | None:
    """How work waits after its judge of `provider` failed. None if that is the end of the work.

    It is the end if another try would not change the failure, or there were enough tries. `abandoned_after` is how long
    the carrier of the work (a batch, a message or a machine) may leave it before the sweep takes it for abandoned.
    """
    if failure.reason in PERMANENT_REASONS:
        return None
    later = after_failure(failure, attempts, now=now, reset=next_reset(provider, now))
    if isinstance(later, GivenUp):
        return None
    left_until = max(now + abandoned_after, later.until)
    waiting = Waiting(reason=unanswered_reason(failure), sentence=sentence, until=later.until, left_until=left_until)
    return Postponement(waiting=waiting, ended=later.ended)


def follow_up(
    failure: NotScored, *, attempts: Attempts, provider: str, now: datetime, asked_at: datetime | None = None
) -> Postponed | GivenUp:
    """What follows for work that nobody did. `attempts` include the present try as underway.

    A reply that broke the rules twice, the second time with its faults named, is not asked for a third time. `asked_at`
    is when somebody asked for the work: with it, two failures get a shorter pause. Somebody who sets a missing key must
    not wait an hour until it is found, and money that is held back for other calls comes back when these are settled.
    """
    if failure.error is None:
        return GivenUp(reason=failure.reason)
    later = after_failure(failure.error, attempts, now=now, reset=next_reset(provider, now))
    passing = isinstance(failure.error, MisconfiguredError | SpendingCeilingError)
    if isinstance(later, Postponed) and passing and asked_at is not None:
        soon = now + max(FIRST_PAUSE, (now - asked_at) / PATIENCE)
        return replace(later, until=min(later.until, soon))
    return later
