"""Numbers of a solution with what stands around them, and the steps that reading them may take."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from touchstone.checks.limits import NotAtOnceError
from touchstone.checks.notation.numerals import SCALES
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import NotAnExpressionError, Number

MAX_DIGITS = 40
"""Longer numerals occur in no school solution; shorter ones are cheap as fractions."""
SCALE_WORDS = SCALES | {"打": 12}
"""Words behind a number that multiply it, beside the characters that `notation.numerals` knows."""


@dataclass(slots=True)
class Budget:
    """Steps left for reading and working out one text, so that hostile text ends early instead of late."""

    steps: int
    at_once: bool = False
    """Whether a text that needs more is to be looked at later, instead of being left undecided."""

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises `NotAnExpressionError` when none is left, or `NotAtOnceError`."""
        self.steps -= steps
        if self.steps < 0:
            raise NotAtOnceError if self.at_once else NotAnExpressionError("more steps than any solution takes")


@dataclass(frozen=True, slots=True)
class Numeral(Number):
    """A number of a solution. `scale`: 12 for a dozen, 10⁴ for 万. `unit`: words of its unit and what is counted."""

    percent: bool = False
    scale: int = 1
    unit: tuple[Token, ...] = ()

    @property
    def places(self) -> int:
        """How many decimals it has, below 0 for 6.02e23."""
        return self.decimals or 0

    @property
    def last_place(self) -> Fraction:
        """What one unit of the last written digit is worth: 0.01 for 3.33, 10²¹ for 6.02e23."""
        return Fraction(10) ** -self.places

    @property
    def stated(self) -> Fraction:
        """What it says with its scale, and as a share where it is a percentage."""
        return self.value * self.scale / (100 if self.percent else 1)


def numeral(token: Token) -> Numeral:
    """The number that a token names. Raises `NotAnExpressionError` when it is too long, or may be two."""
    number = token.value
    # In 1.234,5 some countries read one number and others two.
    is_double = "." in token.text and "," in token.text.rpartition(".")[2]
    if number is None or len(token.text) > MAX_DIGITS or abs(number.decimals or 0) > MAX_DIGITS or is_double:
        raise NotAnExpressionError("too long, or two numbers")
    return Numeral(number.value, number.decimals)


MAX_WRITTEN_PLACES = 6
MAX_WRITTEN_DIGITS = 15
"""More digits than this are of no use to a reader."""


def written(value: Fraction) -> str:
    """A value for people: a whole number, an exact decimal of at most six places, or a fraction with its decimals."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_WRITTEN_DIGITS * 10 // 3:
        return f"≈ {approximate(value)}"
    if value.denominator == 1:
        return str(value.numerator)
    if (value * 10**MAX_WRITTEN_PLACES).denominator == 1:
        return f"{float(value):.{MAX_WRITTEN_PLACES}f}".rstrip("0")
    return f"{value.numerator}/{value.denominator} (≈ {approximate(value)})"


def approximate(value: Fraction) -> str:
    """Four significant digits, also where the value is too large for a float."""
    rounded = Decimal(f"{Decimal(value.numerator) / Decimal(value.denominator):.4g}").normalize()
    return f"{rounded:f}" if -4 <= rounded.adjusted() < MAX_WRITTEN_DIGITS else str(rounded).lower()  # noqa: PLR2004
