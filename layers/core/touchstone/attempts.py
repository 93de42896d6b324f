"""How a piece of work was tried, and when it may be tried again. These values are a part of the work's own record."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import Field

from touchstone.errors import Unanswered
from touchstone.strict import Strict

MAX_TRIES = 5
"""How many tries may end with a reply that nobody can use. Each such try was paid for, so the limit is low."""
RETRY_PERIOD = timedelta(days=7)
"""How long work is tried again if nobody answers or if its tries break off. An outage of several days is waited out."""
LEASE = timedelta(minutes=16)
"""The lease of a try. It is longer than a Lambda function lives: after it, the function that began the try has
certainly ended."""
LONGEST_PAUSE = timedelta(hours=6)

type TryEnd = Literal["unread", "unanswered", "limited"]
"""How a try ended that brought no result. `unread`: a reply came and was paid for but is of no use, or the provider
rejected this very request. `unanswered`: nobody answered, as in an outage, or the quota of the minute was used up.
`limited`: the day's quota, money or a key was missing. The time until it is there again does not count as time of
trying."""

type When = Literal["now", "cheap"]
"""When the judge is asked. `now`: at once, or as soon as the quota admits the call. `cheap`: through a provider's
batch, for a part of the price and within a day."""

BATCHED = "batched"
"""The state and the reason of work that waits for a provider's batch."""


class Waiting(Strict):
    """Why nobody has decided yet (`reason`: a word, `sentence`: the same for people), and until when the work waits.

    The work is tried again at `until` (UTC); the process that carries the work leaves it alone before that. The sweep
    takes the work for abandoned from `left_until` (UTC) on, as if the work had begun at that moment.
    """

    reason: Unanswered
    sentence: str
    until: datetime
    left_until: datetime


def growing_pause(since: datetime, now: datetime, *, least: timedelta) -> timedelta:
    """A pause as long as the time tried in vain since the moment `since`, so that a long outage costs few calls.

    The pause is at least `least` and at most `LONGEST_PAUSE`.
    """
    return max(least, min(now - since, LONGEST_PAUSE))


class Attempts(Strict):
    """The tries of a piece of work so far.

    `tries` counts the tries that ended `unread`. A try with another end says nothing about the work itself, least of
    all a try that broke off. `since` is when the present series of tries without an answer began (UTC), None if there
    is no such series. The time spent waiting for a limit is not part of that series. `underway`: a try has begun and
    has not ended. `not_before` is when the next try may begin (UTC): the end of a pause, or the end of the lease of the
    try at work. None: the next try may begin at once.
    """

    tries: Annotated[int, Field(ge=0)] = 0
    since: datetime | None = None
    underway: bool = False
    not_before: datetime | None = None

    def must_wait(self, now: datetime) -> bool:
        """Whether no try may begin now."""
        return self.not_before is not None and self.not_before > now

    def exhausted(self, now: datetime) -> bool:
        """Whether the tries of `RETRY_PERIOD` all broke off without a result, so that there must be no further try."""
        return self.underway and not self.must_wait(now) and self.since is not None and now - self.since >= RETRY_PERIOD

    def begun(self, *, now: datetime) -> Self | None:
        """The attempts with a new try at work, which holds the work for `LEASE`.

        None if no try may begin: another try holds the work, the work pauses, or its tries are `exhausted`. If
        the previous try broke off, the new lease is longer, since whatever ended that try may have been paid for.
        """
        if self.must_wait(now) or self.exhausted(now):
            return None
        since = self.since or now
        lease = growing_pause(since, now, least=LEASE) if self.underway else LEASE
        return self.model_copy(update={"since": since, "underway": True, "not_before": now + lease})

    def put_back(self, *, until: datetime, ended: TryEnd, now: datetime | None = None) -> Self:
        """The attempts after a try that brought no result: the next try begins at `until` or later.

        `ended` says how the try ended. `now` is the present moment (UTC); None: the lease of the try began at this
        moment.
        """
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
