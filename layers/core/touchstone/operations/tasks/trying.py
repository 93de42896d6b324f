"""One try at work that a judge must do: with whoever is to judge, and what follows where nobody did."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from touchstone.budgets import next_reset
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.base import Judge
from touchstone.judges.checked import NotScored
from touchstone.operations.deferral import GivenUp, Postponed, after_failure

NOBODY = "gemini"
"""Whose day is meant where no provider was asked: any one's will do, since nothing was counted."""


async def with_judge[T](open_judge: Callable[[], Judge], work: Callable[[Judge], Awaitable[T]]) -> T | NotScored:
    """What work brought that asks a judge; `NotScored` where there is none to be asked."""
    try:
        judge = open_judge()
    except (SettingsError, MisconfiguredError) as error:
        failure = MisconfiguredError(str(error), sent=False)
        return NotScored(reason="misconfigured", faults=(), error=failure, spends=())
    return await work(judge)


def follow_up(failure: NotScored, *, tries: int, provider: str = NOBODY, now: datetime) -> Postponed | GivenUp:
    """What becomes of work that nobody did. `tries` counts the present one.

    A reply that broke the rules twice, the second time with its faults named, is not asked for a third time.
    """
    if failure.error is None:
        return GivenUp(reason=failure.reason)
    return after_failure(failure.error, tries=tries, now=now, reset=next_reset(provider, now))
