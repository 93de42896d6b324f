"""Bounds on time that neither a busy machine nor a slow one decides."""

import time
from collections.abc import Callable

TRIES = 4
"""On a busy machine even processor time has outliers; the least of a few runs is the work's own."""
MARGIN = 5
"""How many times its bound a work may take, as not every machine is as fast at all work as at counting."""
TURNS = 1_000_000
TURNS_SECONDS = 0.02
"""What so many turns of an empty loop take on the machine on which the bounds were set."""


def takes_at_most[T](seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns, having needed no more processor time than it may in the best of a few runs.

    `seconds` hold for the machine on which they were measured. Another may take so much longer as it takes to count,
    and `MARGIN` times that, so that what fails is work that grows faster than it should, or never ends.
    """
    needed = []
    for _ in range(TRIES):
        start = time.process_time()
        result = work()
        needed.append(time.process_time() - start)
        if needed[-1] <= seconds:
            return result
    bound = MARGIN * seconds * slowness()
    if min(needed) <= bound:
        return result
    raise AssertionError(f"needed {min(needed):.3f} s of processor time, {bound:.3f} s are allowed")


def slowness() -> float:
    """How many times as long as on that machine the same work takes here now; 1.0 where it takes no longer."""
    began = time.process_time()
    for _ in range(TURNS):
        pass
    return max(1.0, (time.process_time() - began) / TURNS_SECONDS)
