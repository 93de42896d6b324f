"""Whether two general solutions that are written otherwise may be the same: 3π/4 + kπ and kπ - π/4."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import lcm

from touchstone.checks.notation.trees import Apply, Name, Number, Tree, value_or_none
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Items, Quantity, Region, Solutions, Value

type Family = tuple[Fraction, Fraction]
"""All values start + k·step, for whole k, as (step, start), in units of π."""

_PARAMETERS = frozenset("kmnlKN")
"""Names of whole numbers in general solutions."""
_PLACES = 6
_MOST_STEPS = 48
_HALF_TURN = Number(Fraction(1, 180))


def may_be_one_family(left: Value, right: Value) -> bool:
    """Whether two values are general solutions in angles that comprise the same angles, or intervals, for whole k."""
    mine, theirs = _rows(left), _rows(right)
    if not mine or not theirs:
        return False
    if max(map(len, (*mine, *theirs))) > 1:
        return _each_shifted(mine, theirs) and _each_shifted(theirs, mine)
    ones, others = ([family for row in rows for family in row[0]] for rows in (mine, theirs))
    size = lcm(*(step.denominator for step, _ in (*ones, *others)))
    period = Fraction(lcm(*(int(abs(step) * size) for step, _ in (*ones, *others))), size)
    if any(period / abs(step) > _MOST_STEPS for step, _ in (*ones, *others)):
        return False
    return _starts(ones, period) == _starts(others, period)


def _starts(families: list[Family], period: Fraction) -> set[Fraction]:
    """The starts of the families within one period."""
    return {(start + step * turn) % period for step, start in families for turn in range(int(period / abs(step)))}


def _each_shifted(rows: list[list[list[Family]]], others: list[list[list[Family]]]) -> bool:
    """Whether each row of ends is one of the others, all of its ends moved by the same number of steps."""
    return all(any(_is_shifted(row, other) for other in others) for row in rows)


def _is_shifted(row: list[list[Family]], other: list[list[Family]]) -> bool:
    if len(row) != len(other) or any(len(ends) != 1 for ends in (*row, *other)):
        return False
    ends = [(mine[0], theirs[0]) for mine, theirs in zip(row, other, strict=True)]
    if any(abs(mine[0]) != abs(theirs[0]) for mine, theirs in ends):
        return False
    turns = {(theirs[1] - mine[1]) / mine[0] for mine, theirs in ends}
    return len(turns) == 1 and turns.pop().denominator == 1


def _rows(value: Value) -> list[list[list[Family]]]:
    """The members of a value, each as its ends; empty if an end is no family of angles."""
    found = list[list[list[Family]]]()
    for ends in _members(value):
        families = [_families(end) for end in ends]
        if not families or not all(families):
            return []
        found.append(families)
    return found


def _members(value: Value) -> Iterator[tuple[Tree, ...]]:
    """The ends of each member of a value: one of an angle, two of an interval. A tuple without ends: not read here."""
    match value:
        case Quantity(units=()):
            yield (value.tree,)
        case Solutions(alternatives=alternatives) if all(len(each) == 1 for each in alternatives):
            for ((_, member),) in alternatives:
                yield from _members(member)
        case Items(brackets="" | "{}" | "⦃⦄", decimal=None):
            for member in value.values:
                yield from _members(member)
        case Items(brackets="[]" | "()", values=(Quantity(units=()) as low, Quantity(units=()) as high)):
            yield low.tree, high.tree
        case Region(intervals=(only,)) if only.low is not None and only.high is not None:
            yield only.low, only.high
        case _:
            yield ()


def _families(tree: Tree) -> list[Family]:
    """The families of an angle with one whole parameter; empty if it is none. (-1)^k π/6 + kπ has two."""
    names = tree.variables
    if len(names) != 1 or not names <= _PARAMETERS or not ("pi" in tree.names or "degrees" in tree.operations):
        return []
    (name,) = names
    tree = _in_turns(tree)
    if not all(_at(tree, name, place, Fraction(0)) == 0 for place in (0, 1)):
        return []
    values = [_at(tree, name, place, Fraction(1)) for place in range(_PLACES)]
    known = [value for value in values if value is not None]
    if len(known) < _PLACES:
        return []
    if (whole := _arithmetic(known)) is not None:
        return [whole]
    halves = [_arithmetic(known[0::2]), _arithmetic(known[1::2])]
    return [half for half in halves if half is not None] if None not in halves else []


def _at(tree: Tree, name: str, place: int, pi: Fraction) -> Fraction | None:
    """The value of an angle for one whole number, with `pi` for π."""
    return value_or_none(rational, tree.substituted("pi", Number(pi)).substituted(name, Number(Fraction(place))))


def _in_turns(tree: Tree) -> Tree:
    """The tree in which degrees are parts of π."""
    match tree:
        case Apply("degrees", (inside,)):
            return Apply("mul", (Name("pi"), Apply("mul", (_HALF_TURN, _in_turns(inside)))))
        case Apply(operation, arguments):
            return Apply(operation, tuple(map(_in_turns, arguments)))
    return tree


def _arithmetic(values: list[Fraction]) -> Family | None:
    """The step and the start of values at the same distance; None for any others, and for values that are the same."""
    steps = {second - first for first, second in pairwise(values)}
    return (steps.pop(), values[0]) if len(steps) == 1 and steps != {Fraction(0)} else None
