"""What becomes of a deep evaluation whose judge did not answer: tried again soon, after a reset, or given up.

refused by our own count    minute → waiting until the slot          day, ceiling → deferred until the reset
a tenant's share of it      minute → waiting until its slot          day → deferred until all of it is free
the provider's 429          minute → waiting for what it advises     day → deferred until its reset
overloaded, timed out       waiting, longer each time, then failed
unreadable                  waiting, then failed
no key, no such model       deferred for an hour: someone must mend the configuration, nothing is lost meanwhile
rejected as malformed       waiting, then failed: it is this request that the provider does not take
refused by the model        failed: it would refuse again
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    LimitError,
    MinuteQuotaError,
    MisconfiguredError,
    QuotaExceededError,
    RefusedError,
    SpendingCeilingError,
    TenantShareError,
    UnavailableModelError,
    UnreadableError,
)
from touchstone.records.evaluations import MAX_TRIES

FIRST_PAUSE = timedelta(seconds=30)
GROWTH = 4
LONGEST_PAUSE = timedelta(minutes=20)
MISCONFIGURED_PAUSE = timedelta(hours=1)
UNKNOWN_LIMIT_PAUSE = timedelta(hours=1)
"""For a limit that does not say until when."""


type Scope = Literal["record", "tenant", "everyone"]
"""Whom the same refusal would meet: this record alone, all of its tenant's, or whoever asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponed:
    """To be tried again, not before `until` (UTC). `counted` says whether the try used up one of `MAX_TRIES`."""

    state: Literal["waiting", "deferred"]
    until: datetime
    reason: str
    counted: bool
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """Not to be tried again; the record says why."""

    reason: str


def after_failure(error: JudgeError | LimitError, *, tries: int, now: datetime, reset: datetime) -> Postponed | GivenUp:
    """Decide what follows. `tries` counts the present one; `reset` is the provider's next reset of the day (UTC)."""
    scope = _scope(error)
    match error:
        case QuotaExceededError(window="minute"):
            until = error.until or now + FIRST_PAUSE
            return Postponed(state="waiting", until=until, reason=error.reason, counted=False, scope=scope)
        case LimitError():
            until = error.until or now + UNKNOWN_LIMIT_PAUSE
            return Postponed(state="deferred", until=until, reason=error.reason, counted=False, scope=scope)
        case DayQuotaError():
            return Postponed(state="deferred", until=reset, reason=error.reason, counted=False, scope=scope)
        case MisconfiguredError() if scope == "everyone":
            until = now + MISCONFIGURED_PAUSE
            return Postponed(state="deferred", until=until, reason=error.reason, counted=False, scope=scope)
        case RefusedError():
            return GivenUp(reason=error.reason)
        case JudgeError() if tries >= MAX_TRIES:
            return GivenUp(reason=error.reason)
        case MinuteQuotaError():
            pause = timedelta(seconds=error.retry_after) if error.retry_after else FIRST_PAUSE
            return Postponed(state="waiting", until=now + pause, reason=error.reason, counted=True, scope=scope)
        case _:
            pause = min(FIRST_PAUSE * GROWTH ** (tries - 1), LONGEST_PAUSE)
            return Postponed(state="waiting", until=now + pause, reason=error.reason, counted=True, scope=scope)


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
