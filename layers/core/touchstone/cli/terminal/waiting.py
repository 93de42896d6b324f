"""Waiting between two requests. All waiting is in this module, so that a test can replace it."""

import asyncio
import time
from collections.abc import Callable, Iterator

from touchstone.cli.terminal.screen import say

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 5.0
"""A batch of thousands of lines takes minutes: one request every five seconds shows enough."""
GROWTH = 1.5


def pause(seconds: float) -> None:
    """Wait, and block this thread."""
    time.sleep(seconds)


async def rest(seconds: float) -> None:
    """Wait without blocking: other tasks of the event loop go on."""
    await asyncio.sleep(seconds)


def intervals() -> Iterator[float]:
    """The endless series of pauses between two looks, in seconds: short at first, never above `LONGEST_SECONDS`."""
    seconds = FIRST_SECONDS
    while True:
        yield seconds
        seconds = min(seconds * GROWTH, LONGEST_SECONDS)


def awaited[T](found: T, look: Callable[[], T], *, until: Callable[[T], bool], seconds: float, later: str) -> T:
    """Call `look` until its result satisfies `until`, or `seconds` are over. Return the last result.

    `found` is the result that is known already; `look` is not called if it satisfies `until`. `later` is the command
    that shows the work later, which is said after an interruption.
    """
    waited = 0.0
    steps = intervals()
    try:
        while not until(found) and waited < seconds:
            pause(step := next(steps))
            waited += step
            found = look()
    except KeyboardInterrupt:
        say(f"It goes on without you; see it with: {later}")
        raise
    return found
