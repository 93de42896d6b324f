"""Money as whole micro-dollars, so that sums are exact, and what a call is taken to have cost."""

import math
from typing import Final

from touchstone.errors import (
    DayQuotaError,
    InputError,
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
)

MICROS_PER_USD: Final = 1_000_000
UNBILLED_ERRORS = (DayQuotaError, MinuteQuotaError, OverloadedError, MisconfiguredError)
"""Refused by the provider before a model answered: no provider bills these."""


def micros(usd: float, *, where: str) -> int:
    """US dollars as micro-dollars, rounded up. Raises `InputError` for a negative or infinite amount."""
    if not math.isfinite(usd) or usd < 0:
        raise InputError(f"An amount of money must be a number of US dollars from 0 up, not {usd}.", where=where)
    return math.ceil(round(usd * MICROS_PER_USD, 3))  # 0.07 × 10⁶ is 70000.00000000001 in floating point


def dollars(amount: int) -> float:
    """Micro-dollars as US dollars."""
    return amount / MICROS_PER_USD


def billed(reserved: int, cost_usd: float | None, error: JudgeError | None) -> int:
    """What a call that was sent is taken to have cost, in micro-dollars, where `reserved` is its highest price.

    A known cost is taken as it is, and never as more than was held back. An unknown one is 0 if the provider refused
    the call before a model worked on it, else the highest price: a reply that came too late, that could not be read or
    that came without its usage has been paid for.
    """
    if cost_usd is not None:
        return min(micros(cost_usd, where="cost_usd"), reserved)
    return 0 if isinstance(error, UNBILLED_ERRORS) else reserved
