"""When a failed call is repeated: only where repeating can succeed, and only when it still fits the deadline.

day quota, refused, misconfigured   never
unreadable                          once more, at once
minute quota, overloaded, timed out up to `ATTEMPTS` calls in all, after the provider's own `retry_after`, else
                                    after an exponential back-off with full jitter
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from touchstone.errors import JudgeError, UnreadableError

ATTEMPTS = 3
"""With a quota of 10 a minute three calls for one question are a third of it; a fourth seldom helps."""

UNREADABLE_ATTEMPTS = 2
"""A judge that twice gave no readable reply will not at the third time, and each one is paid."""

BASE_SECONDS = 0.5
"""The first back-off: a provider's hiccup is about that long, and a verification has five seconds in all."""

CAP_SECONDS = 8.0
"""The longest back-off of our own; a provider that needs longer says so."""

LEAST_CALL_SECONDS = 0.2
"""What must be left of the deadline after waiting for a call to make sense: no judge answers faster."""


@dataclass(slots=True)
class Retries:
    """The retries of one question. `draw` returns a number in [0, 1) for the jitter."""

    draw: Callable[[], float] = random.random
    attempts: int = 0
    unreadable: int = field(default=0, init=False)

    def wait(self, error: JudgeError, *, remaining: float) -> float | None:
        """How long to wait after a failed call before the next one, in seconds; None: do not repeat it.

        `remaining` is what is left of the deadline. Full jitter: https://aws.amazon.com/blogs/architecture/
        exponential-backoff-and-jitter/ . A provider's own advice is exceeded by up to `BASE_SECONDS`, so that callers
        which were refused together do not come back together.
        """
        self.attempts += 1
        if isinstance(error, UnreadableError):
            self.unreadable += 1
        if not error.retryable or self.attempts >= ATTEMPTS or self.unreadable >= UNREADABLE_ATTEMPTS:
            return None
        pause = self._pause(error)
        return pause if pause + LEAST_CALL_SECONDS <= remaining else None

    def _pause(self, error: JudgeError) -> float:
        if error.retry_after is not None:
            return max(0.0, error.retry_after) + self.draw() * BASE_SECONDS
        if isinstance(error, UnreadableError):
            return 0.0
        return self.draw() * min(CAP_SECONDS, BASE_SECONDS * 2.0 ** (self.attempts - 1))
