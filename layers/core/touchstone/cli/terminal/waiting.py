"""Waiting between two requests, in one place, so that a test can do without it."""

import asyncio
import time
from collections.abc import Callable, Iterator

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 5.0
"""A batch of thousands takes minutes: one request each five seconds shows enough."""
GROWTH = 1.5


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


async def rest(seconds: float) -> None:
    """Wait, while something else may go on."""
    await asyncio.sleep(seconds)


def intervals() -> Iterator[float]:
    """Seconds between one look and the next: short at first, never above `LONGEST_SECONDS`."""
    seconds = FIRST_SECONDS
    while True:
        yield seconds
        seconds = min(seconds * GROWTH, LONGEST_SECONDS)


def awaited[T](found: T, look: Callable[[], T], *, until: Callable[[T], bool], seconds: float) -> T:
    """What `look` finds once `until` holds of it, or what it found last when so many seconds are over.

    `found` is what is known already.
    """
    waited = 0.0
    steps = intervals()
    while not until(found) and waited < seconds:
        pause(step := next(steps))
        waited += step
        found = look()
    return found
