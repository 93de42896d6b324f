"""What becomes of a deep evaluation whose judge did not answer: tried again soon, after a reset, or given up.

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

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from touchstone.attempts import LONGEST_PAUSE, MAX_TRIES, RETRY_PERIOD, Attempts, TryEnd, growing_pause
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    LimitError,
    MisconfiguredError,
    QuotaExceededError,
    RefusedError,
    SpendingCeilingError,
    TenantShareError,
    UnavailableModelError,
    UnpricedError,
    UnreadableError,
)

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
