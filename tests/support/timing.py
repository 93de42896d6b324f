"""Bounds on time that neither a busy machine nor a coverage tracer decides."""

import sys
import time
from collections.abc import Callable

TRACED = 6
"""A tracer that counts lines multiplies the time of pure Python by about so much."""
TRIES = 4
"""On a busy machine even processor time has outliers; the least of a few runs is the work's own."""


def takes_at_most[T](seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns, having needed at most `seconds` of processor time in the best of a few runs."""
    bound = seconds * (1 if sys.gettrace() is None else TRACED)
    needed = []
    for _ in range(TRIES):
        start = time.process_time()
        result = work()
        needed.append(time.process_time() - start)
        if needed[-1] <= bound:
            return result
    raise AssertionError(f"needed {min(needed):.3f} s of processor time, {bound:.3f} s are allowed")
