"""Waiting for what a deployed stack does in its own time."""

import time
from collections.abc import Callable

PAUSE_SECONDS = 0.1


def eventually[T](look: Callable[[], T | None], *, what: str, seconds: float = 60.0, pause: float = PAUSE_SECONDS) -> T:
    """What `look` returns once it is neither None nor False, looked at every `pause` seconds.

    Fails, naming `what`, after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        assert time.monotonic() < deadline, f"Not within {seconds:g} s: {what}"
        time.sleep(pause)
