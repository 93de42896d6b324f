"""Money as whole micro-dollars, so that sums are exact; and the cost that is counted for a call."""

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
"""Errors by which the provider refused the call before a model answered: no provider bills these."""


def micros(usd: float, *, where: str) -> int:
    """US dollars as micro-dollars, rounded up. Raises `InputError` for a negative or infinite amount."""
    if not math.isfinite(usd) or usd < 0:
        raise InputError(f"An amount of money must be a number of US dollars from 0 up, not {usd}.", where=where)
    return math.ceil(round(usd * MICROS_PER_USD, 3))  # 0.07 × 10⁶ is 70000.00000000001 in floating point


def dollars(amount: int) -> float:
    """Micro-dollars as US dollars."""
    return amount / MICROS_PER_USD


def billed(reserved: int, cost_usd: float | None, error: JudgeError | None) -> int:
    """The cost that is counted for a call that was sent, in micro-dollars; `reserved` is its highest price.

    A known cost counts as it is, but never as more than was held back. An unknown cost counts as 0 if the provider
    refused the call before a model worked on it. Otherwise it counts as the highest price: a reply that came too late,
    could not be read or came without its usage has been paid for.
    """
    if cost_usd is not None:
        return min(micros(cost_usd, where="cost_usd"), reserved)
    return 0 if isinstance(error, UNBILLED_ERRORS) else reserved
