"""The numbers of a solution with their units and scales, their values in base units, and the steps that this takes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

from touchstone.checks.arithmetic.prose import RATES
from touchstone.checks.notation.numerals import SCALES
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Number, Tree
from touchstone.checks.notation.unit_reading import READINGS, read_unit
from touchstone.checks.notation.units import ONE, Dimension, Unit
from touchstone.limits import NotAtOnceError

MAX_DIGITS = 40
"""Longer numerals occur in no school solution; shorter ones are cheap as fractions."""
SCALE_WORDS = SCALES | {"打": 12}
"""Words behind a number that multiply it, beside the characters in `notation.numerals`."""

type Quantity = tuple[Fraction, Dimension]
"""A value in base units, and its dimension."""

_POWERS = range(2, 5)
LONGEST_NAME = 6
"""The most words or Chinese characters in the name of a unit."""


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


def numbers_in(tree: Tree) -> list[Numeral]:
    return [part for part in tree.parts if isinstance(part, Numeral)]


def mixes_units(left: Tree, right: Tree) -> bool:
    """Whether different known units of related dimensions occur, so that the plain numbers may not be comparable."""
    seen: dict[Dimension, set[tuple[Dimension, Fraction]]] = {}
    for number in numbers_in(left) + numbers_in(right):
        for unit in _named(number.unit):
            seen.setdefault(unit.family, set()).add((unit.dimension, unit.factor))
    return any(len(units) > 1 for units in seen.values())


def _named(tokens: tuple[Token, ...]) -> Iterator[Unit]:
    """Every reading of each unit named in words. The longest name that fits is taken, without its power."""
    words = [token for token in tokens if token.kind != "number" and not token.is_sign("^", "-", "{", "}")]
    place = 0
    while place < len(words):
        lengths = range(min(LONGEST_NAME, len(words) - place), 0, -1)
        windows = (words[place : place + length] for length in lengths)
        found = next(((units, len(window)) for window in windows if (units := units_named(window))), ((), 1))
        yield from found[0]
        place += found[1]


def units_named(tokens: Sequence[Token]) -> tuple[Unit, ...]:
    """The readings of the unit that all tokens together name; empty if they name none, or a rate."""
    if any(token.text.lower() in RATES for token in tokens):
        return ()
    run = _runs(tokens)
    found = read_unit(run) or read_unit([token._replace(text=token.text.lower()) for token in run])
    return tuple(unit for unit in found if unit.dimension)


def _runs(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with neighbouring Chinese characters joined into one."""
    found: list[Token] = []
    for token in tokens:
        if found and token.kind == found[-1].kind == "han" and not token.spaced:
            found[-1] = found[-1]._replace(text=found[-1].text + token.text, end=token.end)
        else:
            found.append(token)
    return found


def unit_readings(number: Numeral) -> tuple[Unit, ...]:
    """The readings of the unit behind a number; `ONE` if no known unit is named.

    Raises NotAnExpressionError for a rate and for a scale that does not begin at zero (36 °C).
    """
    if any(token.text.lower() in RATES for token in number.unit):
        raise NotAnExpressionError("a rate")
    for end in range(len(number.unit), 0, -1):
        found = units_named(number.unit[:end])
        if any(unit.offset or unit.pi for unit in found):
            raise NotAnExpressionError("a scale that does not begin at nothing")
        if found:
            return found
    return (ONE,)


def quantities_of(tree: Tree, budget: Budget) -> list[Quantity]:
    """The possible values of a side in base units, the usual first.

    Raises NotAnExpressionError if units do not combine plainly: a unit in a power or a divisor.
    """
    budget.spend()
    match tree:
        case Numeral():
            return [(tree.stated * unit.factor, unit.dimension) for unit in unit_readings(tree)]
        case Number(value=value):
            return [(value, ())]
        case Apply("neg", (operand,)):
            return [(-value, dimension) for value, dimension in quantities_of(operand, budget)]
        case Apply("add" | "mul" | "div" as operation, (left, right)):
            both = product(quantities_of(left, budget), quantities_of(right, budget))
            found = list(dict.fromkeys(each for pair in both for each in _combined(operation, *pair)))
            if found and len(found) <= READINGS:
                return found
    raise NotAnExpressionError("units that do not combine plainly")


def amounts_of(tree: Tree, budget: Budget) -> list[Unit]:
    """The possible values of a side as units of their own size: 150 m / 12 s as 12.5 m/s.

    Raises NotAnExpressionError if a name is no unit, or the units do not combine.
    """
    budget.spend()
    match tree:
        case Numeral():
            named = read_unit(_runs(tree.unit)) if tree.unit else (ONE,)
            found = [size for unit in named if not (unit.offset or unit.pi) for size in unit.sizes()]
            if tree.unit and not all(unit.dimension for unit in found):
                raise NotAnExpressionError("things that are counted")
            found = [replace(unit, factor=unit.factor * tree.stated, elsewhere=frozenset(), noun="") for unit in found]
        case Apply("neg", (operand,)):
            found = [replace(unit, factor=-unit.factor) for unit in amounts_of(operand, budget)]
        case Apply("pow", (base, Numeral(value=power, unit=()))) if power in _POWERS:
            found = [unit ** int(power) for unit in amounts_of(base, budget)]
        case Apply("add" | "mul" | "div" as operation, (left, right)):
            pairs = product(amounts_of(left, budget), amounts_of(right, budget))
            found = [each for pair in pairs for each in _worked_out(operation, *pair)]
        case _:
            raise NotAnExpressionError("units that do not combine")
    found = list(dict.fromkeys(found))
    if not found or len(found) > READINGS:
        raise NotAnExpressionError("units that do not combine, or in too many ways")
    return found


def _worked_out(operation: str, left: Unit, right: Unit) -> Iterator[Unit]:
    match operation:
        case "add" if left.dimension == right.dimension:
            yield replace(left, factor=left.factor + right.factor)
        case "mul":
            yield left * right
        case "div" if right.factor:
            yield left * right**-1


def _combined(operation: str, left: Quantity, right: Quantity) -> Iterator[Quantity]:
    (first, dimension), (second, other) = left, right
    match operation:
        case "add" if dimension == other:
            yield first + second, dimension
        case "mul" if not dimension or not other:
            yield first * second, dimension or other
        case "div" if not other and second:
            yield first / second, dimension
