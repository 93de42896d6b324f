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
"""The most calls for one question. With a quota of 10 a minute, three calls are a third of it; a fourth seldom helps.
"""

UNREADABLE_ATTEMPTS = 2
"""The most unreadable replies to one question. A judge that twice gave none that is readable will not give one the
third time, and each reply is paid for."""

BASE_SECONDS = 0.5
"""The first back-off in seconds: a provider's hiccup is about that long, and a verification has five seconds in all."""

CAP_SECONDS = 8.0
"""The longest back-off of our own, in seconds. A provider that needs longer says so."""

LEAST_CALL_SECONDS = 0.2
"""Seconds that the deadline must leave after the wait, or another call makes no sense: no judge answers faster."""


@dataclass(slots=True)
class Retries:
    """The retries of one question. `draw` returns a number in [0, 1) for the jitter."""

    draw: Callable[[], float] = random.random
    attempts: int = 0
    unreadable: int = field(default=0, init=False)

    def wait(self, error: JudgeError, *, remaining: float) -> float | None:
        """How many seconds to wait after a failed call before the next one. None if the call is not to be repeated.

        `remaining` is how many seconds the deadline leaves. Full jitter:
        https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ . The wait exceeds a provider's own
        advice by up to `BASE_SECONDS`, so that callers which were refused together do not come back together.
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
