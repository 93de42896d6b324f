"""How a piece of work was tried, and when it may be tried again: a part of the record that the work is about."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import Field

from touchstone.errors import Unanswered
from touchstone.strict import Strict

MAX_TRIES = 5
"""Tries that brought a reply nobody can use: each was paid for, so there are few."""
TRIED_FOR = timedelta(days=7)
"""How long work is tried that nobody answers, or whose tries break off: an outage of days is waited out."""
LEASE = timedelta(minutes=16)
"""Longer than a Lambda function lives: after it, whoever began a try is certainly gone."""
LONGEST_PAUSE = timedelta(hours=6)

type TryEnd = Literal["unread", "unanswered", "limited"]
"""How a try ended that brought nothing. `unread`: there was a reply, paid for and of no use, or this very request was
rejected. `unanswered`: nobody answered, as in an outage, or the minute was full. `limited`: the day's quota, money or a
key was wanting, and the time until there is some again is no time of trying."""

type When = Literal["now", "cheap"]
"""`now`: asked at once, or as soon as the quota admits it. `cheap`: through a provider's batch, for a part of the price
and within a day."""


class Waiting(Strict):
    """Why nobody decided so far, in a word and in words, and until when whoever carries the work leaves it (UTC).

    `left_until` is the moment from which the sweep takes it for abandoned, as if it had begun then.
    """

    reason: Unanswered
    sentence: str
    until: datetime
    left_until: datetime


def as_long_again(since: datetime, now: datetime, *, least: timedelta) -> timedelta:
    """A pause as long as has been tried in vain since a moment, so that a long outage costs few calls."""
    return max(least, min(now - since, LONGEST_PAUSE))


class Attempts(Strict):
    """`tries` counts those that ended `unread`; no other says anything of the work, least of all one that broke off.

    `since` is when the present row of tries began that nobody answered, None where there is none; what was waited for a
    limit is not in it. `underway`: a try was
    begun, and did not end. `not_before` is when the next one may begin (UTC), the end of a pause or of the lease of one
    at work; None: at once.
    """

    tries: Annotated[int, Field(ge=0)] = 0
    since: datetime | None = None
    underway: bool = False
    not_before: datetime | None = None

    def held(self, now: datetime) -> bool:
        """Whether no try may begin now."""
        return self.not_before is not None and self.not_before > now

    def broken_off(self, now: datetime) -> bool:
        """Whether each try of `TRIED_FOR` broke off before there was a result, so that there is to be no other."""
        return self.underway and not self.held(now) and self.since is not None and now - self.since >= TRIED_FOR

    def begun(self, *, now: datetime) -> Self | None:
        """With a try at work, which holds it for `LEASE`; None where another holds it, pauses, or all `broken_off`.

        After one that broke off the lease grows, since whatever ended that may have been paid for.
        """
        if self.held(now) or self.broken_off(now):
            return None
        since = self.since or now
        lease = as_long_again(since, now, least=LEASE) if self.underway else LEASE
        return self.model_copy(update={"since": since, "underway": True, "not_before": now + lease})

    def put_back(self, *, until: datetime, ended: TryEnd, now: datetime | None = None) -> Self:
        """After a try that brought nothing: the next one not before `until`. `now` None: its lease began just now."""
        since = None if ended == "unread" else self.since
        if ended == "limited" and since is not None and self.not_before is not None:
            since += max(timedelta(0), until - (now or self.not_before - LEASE))
        return self.model_copy(
            update={
                "tries": self.tries + (ended == "unread"),
                "since": since,
                "underway": False,
                "not_before": until,
            }
        )
