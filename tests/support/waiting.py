"""Waiting for what a deployed stack does in its own time."""

import time
from collections.abc import Callable

PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 0.8
GROWTH = 1.25
"""Of the pause from look to look: a look is work for the machine that the stack runs on, and so delays what it waits
for. Whoever waits for long waits a quarter longer."""


def eventually[T](
    look: Callable[[], T | None], *, what: str, seconds: float = 180.0, pause: float = PAUSE_SECONDS
) -> T:
    """What `look` returns once it is neither None nor False.

    Looked at after `pause` seconds, and then less and less often. Fails, naming `what`, after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        assert time.monotonic() < deadline, f"Not within {seconds:g} s: {what}"
        time.sleep(pause)
        pause = max(pause, min(pause * GROWTH, LONGEST_PAUSE_SECONDS))
