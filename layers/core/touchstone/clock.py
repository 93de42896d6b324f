"""Time as an input: code that asks what time it is takes a `Clock`, so that a test can live a week in a second."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

type Clock = Callable[[], datetime]
"""Returns the current moment, timezone-aware, in UTC."""

OFFSET_VARIABLE = "TOUCHSTONE_CLOCK_OFFSET_SECONDS"
"""Shifts the system clock of a deployment, to rehearse tomorrow (a reset, a retirement) today. 0 in production."""


def system_clock() -> datetime:
    """The current moment in UTC, shifted by `TOUCHSTONE_CLOCK_OFFSET_SECONDS` (default 0)."""
    offset = os.environ.get(OFFSET_VARIABLE)
    return datetime.now(UTC) if offset is None else datetime.now(UTC) + timedelta(seconds=float(offset))


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock by which something must have ended.

    Shared by everything that works for one caller, so that the parts cannot add up to more than the whole.
    """

    at: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """The deadline that lies `seconds` from now."""
        return cls(time.monotonic() + seconds)

    @classmethod
    def at_epoch_ms(cls, moment: int) -> Self:
        """The deadline at a moment of the wall clock (milliseconds since 1970), as another process gave it."""
        return cls.after(moment / 1000 - time.time())

    def within(self, seconds: float) -> Self:
        """The deadline that lies `seconds` from now, or this one where it is earlier."""
        return type(self)(min(self.at, time.monotonic() + seconds))

    def before(self, seconds: float) -> Self:
        """The deadline that lies `seconds` before this one."""
        return type(self)(self.at - seconds)

    @property
    def remaining(self) -> float:
        """Seconds left, 0.0 once it has passed."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.remaining <= 0.0
