"""When work that failed in several ways at once is tried again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from touchstone.errors import JudgeError, LimitError
from touchstone.judges.calls import unanswered
from touchstone.judges.checked import NotScored
from touchstone.operations.deferral import Postponed
from touchstone.operations.trying import follow_up


def try_again(
    failures: Sequence[JudgeError | LimitError],
    *,
    tries: int,
    provider: str,
    now: datetime,
    asked_at: datetime,
    within: timedelta,
) -> Postponed | None:
    """When to try again, by the failure that asks for the longest pause; None: not any more.

    That is so once `within` has gone by since the work was asked for. `tries` counts the present one. It counts where
    all that failed says something of the work: a try in which a quota ran out brought as much as it could, and the next
    one goes on from there.
    """
    if now - asked_at >= within:
        return None
    follow_ups = (
        follow_up(
            NotScored(reason=unanswered(error), faults=(), error=error, spends=()),
            tries=tries,
            provider=provider,
            now=now,
            asked_at=asked_at,
        )
        for error in failures
    )
    later = [each for each in follow_ups if isinstance(each, Postponed)]
    if not later:
        return None
    return replace(max(later, key=lambda one: one.until), counted=all(one.counted for one in later))
