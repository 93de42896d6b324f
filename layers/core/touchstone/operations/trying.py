"""One try at work that a judge must do: with whoever is to judge, and what follows where nobody did."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from touchstone.attempts import Attempts, TryEnd, Waiting
from touchstone.budgets import next_reset
from touchstone.errors import LASTING, JudgeError, LimitError, MisconfiguredError, SettingsError, SpendingCeilingError
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored, unanswered
from touchstone.judges.spends import Spend
from touchstone.operations.deferral import FIRST_PAUSE, GivenUp, Postponed, after_failure

PATIENCE = 4
"""A pause before looking again is this part of the time that has gone by, so that a long wait costs few looks."""
NOBODY = "gemini"
"""Whose day is meant where no provider was asked: any one's will do, since nothing was counted."""


class Payer(Protocol):
    """Whoever tells of calls that were paid for."""

    @property
    def paid(self) -> Callable[[Sequence[Spend]], None]:
        """Is told of them."""


class Paid(Protocol):
    """What a try brought, with the judge calls that were paid for it."""

    @property
    def spends(self) -> tuple[Spend, ...]:
        """The calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried[T]:
    """What a try brought, and the provider that was asked; `NOBODY` where there was nobody to be asked."""

    found: T | NotScored
    provider: str


async def with_judge[T: Paid](
    context: Payer, open_judge: Callable[[], Judge], work: Callable[[Judge], Awaitable[T | NotScored]]
) -> Tried[T]:
    """Do work that asks a judge, and count what was paid for it."""
    try:
        judge = open_judge()
    except (SettingsError, MisconfiguredError) as error:
        failure = MisconfiguredError(str(error), sent=False)
        nothing = NotScored(reason="misconfigured", faults=(), error=failure, spends=())
        return Tried(found=nothing, provider=NOBODY)
    found = await work(judge)
    context.paid(found.spends)
    return Tried(found=found, provider=judge.provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class PutOff:
    """Work that waits for another try, and what the present one tells of it."""

    waiting: Waiting
    ended: TryEnd


def put_off(
    failure: JudgeError | LimitError,
    attempts: Attempts,
    *,
    sentence: str,
    provider: str,
    now: datetime,
    left_for: timedelta,
) -> PutOff | None:
    """What becomes of work whose judge of `provider` failed, and that is left for so long by whoever carries it.

    None: that is its end, since another try would not change it, or there were enough.
    """
    if failure.reason in LASTING:
        return None
    later = after_failure(failure, attempts, now=now, reset=next_reset(provider, now))
    if isinstance(later, GivenUp):
        return None
    left_until = max(now + left_for, later.until)
    waiting = Waiting(reason=unanswered(failure), sentence=sentence, until=later.until, left_until=left_until)
    return PutOff(waiting=waiting, ended=later.ended)


def follow_up(
    failure: NotScored, *, attempts: Attempts, provider: str, now: datetime, asked_at: datetime | None = None
) -> Postponed | GivenUp:
    """What becomes of work that nobody did; `attempts` with the present one underway.

    A reply that broke the rules twice, the second time with its faults named, is not asked for a third time. `asked_at`
    is when somebody asked for the work: who sets a key that was missing is not to wait an hour for it to be found, and
    money that is held back for other calls under way comes back when they are settled.
    """
    if failure.error is None:
        return GivenUp(reason=failure.reason)
    later = after_failure(failure.error, attempts, now=now, reset=next_reset(provider, now))
    passing = isinstance(failure.error, MisconfiguredError | SpendingCeilingError)
    if isinstance(later, Postponed) and passing and asked_at is not None:
        soon = now + max(FIRST_PAUSE, (now - asked_at) / PATIENCE)
        return replace(later, until=min(later.until, soon))
    return later
