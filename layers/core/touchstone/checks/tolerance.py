"""How far a number may lie from the expected number and still count as equal."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

MAX_RELATIVE = Fraction(1)
"""Relative tolerances are below this: at 1, zero and twice the value would count as the value."""
ABSOLUTE_RANGE = (Fraction(1, 10**100), Fraction(10**100))
"""Absolute tolerances lie in this range, which holds every physical constant in every unit."""
MAX_SIGNIFICANT_DIGITS = 30
"""Twice as many digits as any measurement has."""
BIT_LIMIT = 1_024
"""Bits of a tolerance's numerator and denominator, so that all arithmetic with it takes microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far a given number may lie from the expected number. Exactly one of the three fields is set.

    - `relative`: |given - expected| <= relative * |expected|, above 0 and below 1. An expected zero admits only zero.
    - `absolute`: |given - expected| <= absolute, in the unit of the expected answer.
    - `significant_digits`: both round to the same number of this many significant digits, half away from zero; 1 to 30.

    Raises `ValueError` if not exactly one field is given, or if its value is out of range.
    """

    relative: Fraction | None = None
    absolute: Fraction | None = None
    significant_digits: int | None = None

    def __post_init__(self) -> None:
        given = [value for value in (self.relative, self.absolute, self.significant_digits) if value is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of relative, absolute and significant_digits")
        if self.relative is not None and not (_is_exact(self.relative) and 0 < self.relative < MAX_RELATIVE):
            raise ValueError(
                "a relative tolerance is a Fraction above 0 and below 1: Fraction(1, 100) allows one percent"
            )
        low, high = ABSOLUTE_RANGE
        if self.absolute is not None and not (_is_exact(self.absolute) and low <= self.absolute <= high):
            raise ValueError("an absolute tolerance is a Fraction from 1e-100 to 1e100")
        digits = self.significant_digits
        if digits is not None and not (type(digits) is int and 1 <= digits <= MAX_SIGNIFICANT_DIGITS):
            raise ValueError(f"significant digits are a whole number from 1 to {MAX_SIGNIFICANT_DIGITS}")

    def holds(self, given: Fraction, expected: Fraction) -> bool:
        """Whether `given` counts as `expected`. Both are in the same unit; the arithmetic is exact."""
        if self.relative is not None:
            return abs(given - expected) <= self.relative * abs(expected)
        if self.absolute is not None:
            return abs(given - expected) <= self.absolute
        digits = self.significant_digits or MAX_SIGNIFICANT_DIGITS
        return _rounded(given, digits) == _rounded(expected, digits)


def _is_exact(value: object) -> bool:
    return isinstance(value, Fraction) and max(map(int.bit_length, value.as_integer_ratio())) <= BIT_LIMIT


def _rounded(value: Fraction, digits: int) -> Decimal:
    """The value rounded to `digits` significant digits, half away from zero."""
    # One digit more than the most that is asked for decides to which side the value is rounded.
    cut = Context(prec=MAX_SIGNIFICANT_DIGITS + 1, rounding=ROUND_DOWN).divide(*map(Decimal, value.as_integer_ratio()))
    return Context(prec=digits, rounding=ROUND_HALF_UP).plus(cut)
