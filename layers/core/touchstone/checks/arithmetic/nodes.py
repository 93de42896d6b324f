"""Expressions of numbers as trees, and the bounded operations on exact values.

Nothing is evaluated by Python or sympy: values are fractions, and every size is bounded. What is not certainly an
expression of numbers is refused with `Unreadable`.
"""

import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import factorial, isqrt

from touchstone.checks.arithmetic.tokens import Token
from touchstone.checks.limits import NotAtOnceError

MAX_DIGITS = 40
"""Longer numerals occur in no school solution; shorter ones are cheap as fractions."""
MAX_EXPONENT = 30
"""Largest exponent of ten in a numeral such as 6.02e23."""
MAX_BITS = 4096
"""A value with more bits than this is refused: powers and factorials stay in microseconds."""
STEP_BITS = 256
"""Arithmetic on fractions of so many bits takes twice the time of small ones, and grows from there."""


class Unreadable(Exception):  # noqa: N818  (a refusal inside this package, not an error of the caller)
    """These tokens are not certainly an expression of numbers, or its value is too large."""


@dataclass(slots=True)
class Budget:
    """Steps left for reading and working out one text, so that hostile text ends early instead of late."""

    steps: int
    at_once: bool = False
    """Whether a text that needs more is to be looked at later, instead of being left undecided."""

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises `Unreadable` when none is left, or `NotAtOnceError`."""
        self.steps -= steps
        if self.steps < 0:
            raise NotAtOnceError if self.at_once else Unreadable


@dataclass(frozen=True, slots=True)
class Unit:
    """The words behind a number: which known unit they name (None: none), and whether they say "per"."""

    name: str | None
    is_rate: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A numeral.

    `places` counts its decimals; `scale` is 12 for a dozen, 10⁴ for 万. `is_exact`: a mixed number, never a rounding.
    """

    value: Fraction
    places: int = 0
    percent: bool = False
    scale: int = 1
    unit: Unit | None = None
    is_decimal: bool = False
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """`left symbol right`; the symbols are + - * / ^, and "~" for a product written by juxtaposition."""

    symbol: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `√x` or `x!`; the symbol is "-", "√" or "!"."""

    symbol: str
    operand: "Node"


type Node = Number | Operation | Unary


def numeral(token: Token) -> Number:
    """The number that a numeral names. Raises `Unreadable` when it is too long."""
    text = token.text.replace("{,}", "").replace(",", "")
    if len(text) > MAX_DIGITS:
        raise Unreadable
    if text.isascii() and text.isdigit():
        return Number(Fraction(int(text)))
    if not text.isascii():
        return Number(Fraction(unicodedata.numeric(text)).limit_denominator(8), is_exact=True)
    mantissa, _, exponent = text.lower().partition("e")
    if abs(int(exponent or 0)) > MAX_EXPONENT:
        raise Unreadable
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return Number(Fraction(text), places=places, is_decimal="." in text or bool(exponent))


def unit_of_last_place(number: Number) -> Fraction:
    """What one unit of the last written digit is worth: 0.01 for 3.33, 10²¹ for 6.02e23."""
    return Fraction(1, 10**number.places) if number.places >= 0 else Fraction(10**-number.places)


def bounded(value: Fraction, budget: Budget | None = None) -> Fraction:
    """The value itself. Raises `Unreadable` when it has grown beyond `MAX_BITS`, or the budget is used up."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits > MAX_BITS:
        raise Unreadable
    if budget is not None:
        budget.spend(1 + bits // STEP_BITS)
    return value


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """`base` to a whole exponent. Raises `Unreadable` for other exponents, 0 to a negative one, and large results."""
    if exponent.denominator != 1 or abs(exponent) > MAX_BITS or (base == 0 and exponent <= 0):
        raise Unreadable
    size = max(base.numerator.bit_length(), base.denominator.bit_length(), 1)
    if size * abs(int(exponent)) > MAX_BITS:
        raise Unreadable
    return base ** int(exponent)


def root(value: Fraction) -> Fraction:
    """The exact square root. Raises `Unreadable` where it is not rational."""
    if value < 0:
        raise Unreadable
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top * top != value.numerator or bottom * bottom != value.denominator:
        raise Unreadable
    return Fraction(top, bottom)


def whole_factorial(value: Fraction) -> Fraction:
    """`value!`. Raises `Unreadable` unless it is a whole number from 0 to 100."""
    if value.denominator != 1 or not 0 <= value <= 100:  # noqa: PLR2004  (100! has 525 bits)
        raise Unreadable
    return Fraction(factorial(int(value)))


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
