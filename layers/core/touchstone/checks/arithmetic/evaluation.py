"""The value of an expression of numbers, under each way that people may have meant it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from touchstone.checks.arithmetic.numerals import Budget, Numeral
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Number, OutOfBoundsError, Tree
from touchstone.checks.values.exact import applied

MAX_BITS = 1_024
"""A value with more bits than this is refused; no school solution comes near it."""
STEP_BITS = 256
"""Arithmetic on fractions of this many bits takes twice the time of small ones; the time grows from there."""

type PercentReading = Literal["share", "bare", "relative"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementReading:
    """One way to read a statement.

    `percent`: 20% as 0.20 ("share"), as 20 ("bare"), or after a sum as that share of it ("relative": $20 - 20% = $16).
    `scaled`: 5 dozen as 60. `sign_first`: -2² as 4. `restored`: 0.33 as the value that it was rounded from (1/3).
    """

    percent: PercentReading = "share"
    scaled: bool = True
    sign_first: bool = False
    restored: bool = False


_REPEATING_DENOMINATORS = (3, 6, 7, 9, 11, 12)
MIN_PLACES = 2
"""0.3 is rarely a third; 0.33 often is."""


def restored(number: Numeral, rounded_before: Mapping[Fraction, Fraction]) -> Fraction:
    """The exact value that a decimal may have been rounded from; the value as written if there is none.

    That exact value is an earlier result of the solution (`rounded_before`) or a simple repeating fraction.
    """
    if number.value in rounded_before:
        return rounded_before[number.value]
    if number.places < MIN_PLACES:
        return number.value
    step = 10**number.places
    written, (over, under) = int(number.value * step), number.value.as_integer_ratio()
    for denominator in _REPEATING_DENOMINATORS:
        parts = (2 * over * denominator + under) // (2 * under)
        cut_off, rest = divmod(parts * step, denominator)
        if rest and written in (cut_off, cut_off + (2 * rest >= denominator)):
            return Fraction(parts, denominator)
    return number.value


def value_of(
    tree: Tree, reading: StatementReading, rounded_before: Mapping[Fraction, Fraction], budget: Budget
) -> Fraction:
    """The exact value of `tree` under `reading`. Each operation takes steps from `budget`.

    Raises `NotAnExpressionError` if there is no rational value, if the value is too large, or if no step is left;
    `NotAtOnceError` instead if no step is left and the budget is `at_once`.
    """
    match tree:
        case Numeral():
            value = restored(tree, rounded_before) if reading.restored else tree.value
            if tree.scale != 1 and reading.scaled:
                value *= tree.scale
            return value / 100 if tree.percent and reading.percent != "bare" else value
        case Apply("neg", (Apply("pow", (base, exponent)),)) if reading.sign_first:
            return value_of(Apply("pow", (Apply("neg", (base,)), exponent)), reading, rounded_before, budget)
        case Apply(operation, arguments):
            values = [value_of(argument, reading, rounded_before, budget) for argument in arguments]
            if reading.percent == "relative" and operation == "add" and _adds_percent(tree):
                values[1] *= values[0]
            value_found = applied(operation, values)
            if value_found is None:
                raise NotAnExpressionError("not defined, or not rational")
            bits = max(value_found.numerator.bit_length(), value_found.denominator.bit_length())
            if bits > MAX_BITS:
                raise OutOfBoundsError("larger than any number of a solution")
            budget.spend(0 if operation == "neg" else 1 + bits // STEP_BITS)
            return value_found
        case Number(value=value):
            return value
    raise NotAnExpressionError("a name has no value")


def _adds_percent(tree: Apply) -> bool:
    base, added = tree.arguments
    if isinstance(added, Apply) and added.operation == "neg":
        added = added.arguments[0]
    is_share = [isinstance(part, Numeral) and part.percent for part in (base, added)]
    return is_share == [False, True]
