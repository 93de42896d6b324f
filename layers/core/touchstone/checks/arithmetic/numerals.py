"""The numbers of a solution with their units and scales, and the steps that reading them may take."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from touchstone.checks.notation.numerals import SCALES
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import NotAnExpressionError, Number
from touchstone.limits import NotAtOnceError

MAX_DIGITS = 40
"""Longer numerals occur in no school solution; shorter ones are cheap as fractions."""
SCALE_WORDS = SCALES | {"打": 12}
"""Words behind a number that multiply it, beside the characters in `notation.numerals`."""


@dataclass(slots=True)
class Budget:
    """The steps left for reading and working out one text, so that the work on a hostile text is bounded."""

    steps: int
    at_once: bool = False
    """Whether a text that needs more steps is to be checked later, instead of being left undecided."""

    def spend(self, steps: int = 1) -> None:
        """Take steps. If too few are left, raise `NotAtOnceError` if `at_once`, else `NotAnExpressionError`."""
        self.steps -= steps
        if self.steps < 0:
            raise NotAtOnceError if self.at_once else NotAnExpressionError("more steps than any solution takes")


@dataclass(frozen=True, slots=True)
class Numeral(Number):
    """A number of a solution.

    `scale` is 12 for a dozen, 10⁴ for 万. `unit` holds the words for its unit and for the things counted.
    """

    percent: bool = False
    scale: int = 1
    unit: tuple[Token, ...] = ()

    @property
    def places(self) -> int:
        """How many decimals the number has; below 0 for 6.02e23."""
        return self.decimals or 0

    @property
    def last_place(self) -> Fraction:
        """The value of one unit of the last written digit: 0.01 for 3.33, 10²¹ for 6.02e23."""
        return Fraction(10) ** -self.places

    @property
    def stated(self) -> Fraction:
        """The value with its scale applied, divided by 100 if it is a percentage."""
        return self.value * self.scale / (100 if self.percent else 1)


def numeral(token: Token) -> Numeral:
    """The number that a token names. Raises `NotAnExpressionError` if it is too long, or may be two numbers."""
    number = token.value
    # 1.234,5 is one number in some countries and two numbers in others.
    is_double = "." in token.text and "," in token.text.rpartition(".")[2]
    if number is None or len(token.text) > MAX_DIGITS or abs(number.decimals or 0) > MAX_DIGITS or is_double:
        raise NotAnExpressionError("too long, or two numbers")
    return Numeral(number.value, number.decimals)


MAX_WRITTEN_PLACES = 6
MAX_WRITTEN_DIGITS = 15
"""A number with more digits than this is of no use to a reader."""


def value_text(value: Fraction) -> str:
    """A value for people: a whole number, an exact decimal of at most six places, or a fraction with its decimals.

    A value whose numerator or denominator is longer than about 15 digits is written as ≈ and four digits.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_WRITTEN_DIGITS * 10 // 3:
        return f"≈ {approximate(value)}"
    if value.denominator == 1:
        return str(value.numerator)
    if (value * 10**MAX_WRITTEN_PLACES).denominator == 1:
        return f"{float(value):.{MAX_WRITTEN_PLACES}f}".rstrip("0")
    return f"{value.numerator}/{value.denominator} (≈ {approximate(value)})"


def approximate(value: Fraction) -> str:
    """The value to four significant digits; it may be too large for a float."""
    rounded = Decimal(f"{Decimal(value.numerator) / Decimal(value.denominator):.4g}").normalize()
    return f"{rounded:f}" if -4 <= rounded.adjusted() < MAX_WRITTEN_DIGITS else str(rounded).lower()  # noqa: PLR2004
