"""When work that failed in several ways at once is tried again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from touchstone.attempts import Attempts, TryEnd
from touchstone.errors import JudgeError, LimitError
from touchstone.judges.calls import unanswered
from touchstone.judges.checked import NotScored
from touchstone.operations.deferral import Postponed
from touchstone.operations.trying import follow_up

_SAYS_LEAST: Sequence[TryEnd] = ("limited", "unanswered", "unread")
"""What a try tells of the work, the least first."""


def try_again(
    failures: Sequence[JudgeError | LimitError],
    *,
    attempts: Attempts,
    provider: str,
    now: datetime,
    asked_at: datetime,
    within: timedelta,
) -> Postponed | None:
    """When to try again, by the failure that asks for the longest pause; None: not any more.

    That is so once `within` has gone by since the work was asked for. `attempts` are those with the present one
    underway. Of several failures the try ended as the one that says least of the work: one in which a quota ran out
    brought as much as it could, and the next one goes on from there.
    """
    if now - asked_at >= within:
        return None
    follow_ups = (
        follow_up(
            NotScored(reason=unanswered(error), faults=(), error=error, spends=()),
            attempts=attempts,
            provider=provider,
            now=now,
            asked_at=asked_at,
        )
        for error in failures
    )
    later = [each for each in follow_ups if isinstance(each, Postponed)]
    if not later:
        return None
    return replace(
        max(later, key=lambda one: one.until), ended=min((one.ended for one in later), key=_SAYS_LEAST.index)
    )
