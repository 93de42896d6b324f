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
"""The variable that shifts the system clock of a deployment, in seconds, to rehearse a reset or a retirement of
tomorrow today. 0 in production."""


def system_clock() -> datetime:
    """The current moment in UTC, shifted by `TOUCHSTONE_CLOCK_OFFSET_SECONDS` (default 0)."""
    offset = os.environ.get(OFFSET_VARIABLE)
    return datetime.now(UTC) if offset is None else datetime.now(UTC) + timedelta(seconds=float(offset))


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock by which some work must have ended.

    All parts of the work for one caller share one deadline, so that together they cannot take longer than the whole
    may.
    """

    at: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """The deadline that lies `seconds` from now."""
        return cls(time.monotonic() + seconds)

    @classmethod
    def at_epoch_ms(cls, moment: int) -> Self:
        """The deadline at a moment of the wall clock (milliseconds since 1970) that another process gave."""
        return cls.after(moment / 1000 - time.time())

    def within(self, seconds: float) -> Self:
        """The deadline that lies `seconds` from now, or this deadline if it is earlier."""
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
