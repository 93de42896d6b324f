"""What an expression of numbers is worth, under each way that people may have meant it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from touchstone.checks.arithmetic.nodes import (
    Budget,
    Node,
    Number,
    Operation,
    Unary,
    Unreadable,
    bounded,
    power,
    root,
    whole_factorial,
)
from touchstone.checks.arithmetic.words import UNITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way to read a statement.

    `percent`: 20% as 0.20 ("share"), as 20 ("bare"), or after a sum as that share of it ("relative": $20 - 20% = $16).
    `scaled`: whether "5 dozen" is 60 or 5. `sign_first`: -2² as 4. `restored`: decimals that are roundings (0.33) count
    as what they were rounded from (1/3).
    """

    percent: Literal["share", "bare", "relative"] = "share"
    scaled: bool = True
    sign_first: bool = False
    restored: bool = False


_REPEATING_DENOMINATORS = (3, 6, 7, 9, 11, 12)
MIN_PLACES = 2
"""0.3 is rarely a third; 0.33 often is."""


def restored(number: Number, rounded_before: Mapping[Fraction, Fraction]) -> Fraction:
    """What a rounded decimal stood for: an earlier result of the same solution, or a simple repeating fraction."""
    if number.value in rounded_before:
        return rounded_before[number.value]
    if number.places < MIN_PLACES:
        return number.value
    step = 10**number.places
    for denominator in _REPEATING_DENOMINATORS:
        near = Fraction(round(number.value * denominator), denominator)
        if step % near.denominator and number.value * step in (round(near * step), int(near * step)):
            return near
    return number.value


def value_of(
    node: Node, reading: Reading, rounded_before: Mapping[Fraction, Fraction], budget: Budget | None = None
) -> Fraction:
    """The exact value. Raises `Unreadable` where there is none or it is too large.

    Every operation takes a step of `budget`; None: they are few.
    """
    match node:
        case Number():
            value = restored(node, rounded_before) if reading.restored else node.value
            if node.scale != 1 and reading.scaled:
                value *= node.scale
            return value / 100 if node.percent and reading.percent != "bare" else value
        case Unary("-", Operation("^", base, exponent)) if reading.sign_first:
            raised = value_of(exponent, reading, rounded_before, budget)
            return bounded(power(-value_of(base, reading, rounded_before, budget), raised), budget)
        case Unary(symbol, operand):
            value = value_of(operand, reading, rounded_before, budget)
            match symbol:
                case "√":
                    return root(value)
                case "!":
                    return bounded(whole_factorial(value), budget)
                case _:
                    return -value
        case Operation(symbol, left, right):
            first = value_of(left, reading, rounded_before, budget)
            second = value_of(right, reading, rounded_before, budget)
            if reading.percent == "relative" and symbol in "+-" and _is_percent(right) and not _is_percent(left):
                second *= first
            return bounded(_combined(symbol, first, second), budget)


def _is_percent(node: Node) -> bool:
    return isinstance(node, Number) and node.percent


def _combined(symbol: str, first: Fraction, second: Fraction) -> Fraction:
    match symbol:
        case "+":
            return first + second
        case "-":
            return first - second
        case "*":
            return first * second
        case "/":
            if second == 0:
                raise Unreadable
            return first / second
        case _:
            return power(first, second)


type Quantity = tuple[Fraction, str | None]
"""A value in the base unit of its dimension, and the dimension (None: a plain number)."""


def quantity_of(node: Node) -> Quantity:
    """The value with its known units converted. Raises `Unreadable` where the units do not combine plainly."""
    match node:
        case Number():
            value = node.value * node.scale / (100 if node.percent else 1)
            if node.unit is None or (not node.unit.is_rate and node.unit.name is None):
                return value, None
            if node.unit.is_rate or node.unit.name is None or {"square", "cubic"} & set(node.unit.words):
                raise Unreadable
            dimension, factor = UNITS[node.unit.name]
            return value * factor, dimension
        case Unary("-", operand):
            quantity = quantity_of(operand)
            return -quantity[0], quantity[1]
        case Operation("+" | "-" as symbol, left, right):
            first, second = quantity_of(left), quantity_of(right)
            if first[1] != second[1]:
                raise Unreadable
            return bounded(_combined(symbol, first[0], second[0])), first[1]
        case Operation("*" | "/" as symbol, left, right):
            first, second = quantity_of(left), quantity_of(right)
            if second[1] is not None and (first[1] is not None or symbol == "/"):
                raise Unreadable
            return bounded(_combined(symbol, first[0], second[0])), first[1] or second[1]
        case _:
            raise Unreadable


def numbers_in(node: Node) -> list[Number]:
    """All numbers of an expression, in order."""
    match node:
        case Number():
            return [node]
        case Unary(_, operand):
            return numbers_in(operand)
        case Operation(_, left, right):
            return numbers_in(left) + numbers_in(right)
