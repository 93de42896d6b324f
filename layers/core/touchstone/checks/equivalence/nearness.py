"""Whether a number or quantity lies within a tolerance of an expected one that it does not equal."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from touchstone.checks.algebra.expressions import Answer
from touchstone.checks.notation.trees import Name, NotAnExpressionError, Tree, is_constant
from touchstone.checks.notation.units import Unit
from touchstone.checks.tolerance import Tolerance
from touchstone.checks.values.kinds import Ambiguous, Items, Matrix, Quantity, Ratio, Region, Solutions, Value

type Bounds = Callable[[Tree], tuple[Fraction, Fraction] | None]
"""Two numbers between which a constant lies, both the same where it is rational; None for all else."""

PERCENT = Fraction(1, 100)


def within(given: Value, expected: Value, tolerance: Tolerance, *, same: Answer, bounds: Bounds) -> Answer:
    """Whether `given` counts as `expected` under a tolerance, where the plain comparison said `same` (False or None).

    Only single numbers and quantities are near one another; of all else the plain answer stands. A number that is not
    rational (the root of 2) is as near as both of its `bounds` are; where they disagree it is left open.
    """
    one, other = _quantity(given), _quantity(expected)
    if one is None or other is None:
        several = (Items, Solutions, Region, Ratio, Matrix, Ambiguous)
        # Members of a list or ends of an interval may lie within it: that is left open.
        return None if isinstance(given, several) and isinstance(expected, several) else same
    try:
        numbers, wanted = bounds(one.tree), bounds(other.tree)
    except NotAnExpressionError:
        return None
    if numbers is None or wanted is None:
        return same if any(not is_constant(tree) or isinstance(tree, Name) for tree in (one.tree, other.tree)) else None
    found = {_quantities((one, each), (other, end), tolerance, same) for each, end in product(numbers, wanted)}
    return found.pop() if len(found) == 1 else None


def _quantities(
    given: tuple[Quantity, Fraction], expected: tuple[Quantity, Fraction], tolerance: Tolerance, same: Answer
) -> Answer:
    """As `within`, by the rules for units of the plain comparison, in the unit of the expected side."""
    (one, number), (other, wanted) = given, expected
    if other.percent:
        number, wanted = number / PERCENT, wanted / PERCENT
    if one.percent != other.percent:
        # Whether 28 % and 28 are the same depends on the question, and so does whether 28.1 % is near 28.
        bare = number / PERCENT if one.percent else number * PERCENT
        return True if tolerance.holds(number, wanted) else None if tolerance.holds(bare, wanted) else False
    if not one.units or not other.units:
        near = tolerance.holds(number, wanted)
        return None if near and any(unit.lone_letter for unit in (*one.units, *other.units)) else near
    pairs = [(mine, theirs) for mine, theirs in product(one.units, other.units) if mine.dimension == theirs.dimension]
    if not pairs or len(_nouns(pairs)) > 1:
        return same
    if any(mine.pi != theirs.pi for mine, theirs in pairs):
        return None
    found = {tolerance.holds(_converted(number, mine, theirs), wanted) for mine, theirs in pairs}
    return found.pop() if len(found) == 1 else None


def _converted(number: Fraction, unit: Unit, other: Unit) -> Fraction:
    return (number * unit.factor + unit.offset - other.offset) / other.factor


def _nouns(pairs: list[tuple[Unit, Unit]]) -> set[str]:
    return {unit.noun for pair in pairs for unit in pair if unit.noun}


def _quantity(value: Value) -> Quantity | None:
    """The only number or quantity that a value holds: alone, in a list of one, after a name, or with a comma in it."""
    match value:
        case Quantity():
            return value
        case Items(values=(only,), brackets="" | "{}" | "⦃⦄"):
            return _quantity(only)
        case Items(decimal=Quantity() as decimal):
            return decimal
        case Solutions(alternatives=(((_, bound),),)):
            return _quantity(bound)
    return None
