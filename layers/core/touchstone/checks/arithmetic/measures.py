"""The units of the numbers in a statement: which units are named, and the value of a side with its units converted."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from touchstone.checks.arithmetic.numerals import Budget, Numeral
from touchstone.checks.arithmetic.prose import RATES
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Number, Tree
from touchstone.checks.notation.unit_reading import READINGS, read_unit
from touchstone.checks.notation.units import ONE, Dimension, Unit

type Quantity = tuple[Fraction, Dimension]
"""A value in base units, and its dimension."""

LONGEST_NAME = 6
"""The most words or Chinese characters in the name of a unit."""


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


def _combined(operation: str, left: Quantity, right: Quantity) -> Iterator[Quantity]:
    (first, dimension), (second, other) = left, right
    match operation:
        case "add" if dimension == other:
            yield first + second, dimension
        case "mul" if not dimension or not other:
            yield first * second, dimension or other
        case "div" if not other and second:
            yield first / second, dimension
