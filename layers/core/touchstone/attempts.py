"""How often a piece of work was tried, and when it may be tried again: a part of the record that the work is about."""

from datetime import datetime, timedelta
from typing import Annotated, Self

from pydantic import Field

from touchstone.strict import Strict

MAX_TRIES = 5
"""Tries of one piece of work before it is given up: their pauses add up to half an hour, as an outage may."""
LEASE = timedelta(minutes=16)
"""Longer than a Lambda function lives: after it, whoever began a try is certainly gone."""


class Attempts(Strict):
    """`tries` counts those that were begun and said something of the work; a want of quota or money says nothing.

    `not_before` is when the next one may begin (UTC), the end of a pause or of the lease of one at work; None: at once.
    """

    tries: Annotated[int, Field(ge=0)] = 0
    not_before: datetime | None = None

    @property
    def exhausted(self) -> bool:
        """Whether there were so many tries that there is to be no other."""
        return self.tries >= MAX_TRIES

    def held(self, now: datetime) -> bool:
        """Whether no try may begin now."""
        return self.not_before is not None and self.not_before > now

    def begun(self, *, now: datetime) -> Self | None:
        """With one more try, which holds the work until `now + LEASE`; None where another holds it, or pauses."""
        if self.held(now):
            return None
        return self.model_copy(update={"tries": self.tries + 1, "not_before": now + LEASE})

    def put_back(self, *, until: datetime, counted: bool) -> Self:
        """After a try that brought nothing: the next one not before `until`. `counted` False gives the try back."""
        return self.model_copy(update={"tries": max(0, self.tries - (not counted)), "not_before": until})
