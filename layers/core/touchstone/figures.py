"""Figures as people read them: rounding makes no part the whole, and nothing of no amount."""

from collections.abc import Collection
from math import floor, log10

SMALLEST_P = 0.001
"""The smallest p-value that is shown."""
SMALL_USD = 0.0001
"""An amount below this many US dollars is shown with two significant digits, whatever decimals they take."""


def figure(value: float, decimals: int, *, most: float, marks: Collection[float] = ()) -> str:
    """A number with this many decimals. `most` is the largest size that there can be (`math.inf`: there is none).

    `marks` are the numbers that something must reach. If rounding would make 0 of a number that is not 0, `most` of a
    smaller one, or a mark of one that does not reach it, the text says so: `< 0.01`, `> 0.99`, `> 59.99`.
    """
    step = 10**-decimals
    rounded = round(value, decimals)
    value += 0.0  # zero has no sign
    if not rounded and value:
        return f"< {step:.{decimals}f}" if value > 0 else f"> -{step:.{decimals}f}"
    if any(value < mark <= rounded for mark in (most, *marks)):
        return f"> {rounded - step:,.{decimals}f}"
    if rounded <= -most < value:
        return f"< {rounded + step:,.{decimals}f}"
    return f"{value:,.{decimals}f}"


def percent(share: float, decimals: int = 0, *, unit: str = "%") -> str:
    """A share (0-1) as a percentage. Only nothing is 0 %, and only the whole is 100 %."""
    return f"{figure(100 * share, decimals, most=100)}{unit}"


def percent_at_least(share: float, decimals: int = 0, *, unit: str = "%") -> str:
    """The lower bound of a share (0-1) as a percentage. It is rounded down, so that it stays a lower bound."""
    steps = 10 ** (decimals + 2)
    return percent(floor(round(share * steps, 6)) / steps, decimals, unit=unit)


def score(value: float, decimals: int) -> str:
    """A score (0-100). Only the lowest one is 0, and only the highest one is 100."""
    return figure(value, decimals, most=100)


def p_value(value: float, *, level: float) -> str:
    """The p-value of a test (0-1), with three decimals.

    A difference is declared at a p-value of at most `level`. A larger one never seems to be so small: 0.0504 is
    "> 0.050" at a level of 0.05.
    """
    if value < SMALLEST_P:
        return f"< {SMALLEST_P}"
    return f"> {level:.3f}" if round(value, 3) <= level < value else figure(value, 3, most=1)


def usd(amount: float) -> str:
    """US dollars: cents from one dollar on, and for less as many decimals as the amount needs."""
    if not 0 < amount < 1:
        return f"${amount:,.2f}"
    decimals = 4 if amount >= SMALL_USD else 1 - floor(log10(amount))
    return f"${amount:.{decimals}f}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things, in words: `one` names a single thing, and `many` more of them if they are no `<one>s`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
