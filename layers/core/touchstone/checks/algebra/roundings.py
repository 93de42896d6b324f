"""Whether two expressions may be equal but for rounded decimals in them. Importing this module imports mpmath."""

from fractions import Fraction

import mpmath

from touchstone.checks.algebra.evaluation import defined, points
from touchstone.checks.notation.trees import Apply, Number, Tree
from touchstone.checks.values.rounding import ROUNDED_DIGITS, quantum

_HALF_UP = mpmath.mpf(10) ** -9
"""How much of half a step a difference of half a step may exceed it, as computed: 2.345x may be rounded to 2.35x."""
_MOST_DECIMALS = 8
"""The most different decimals of an expression whose rounding is followed: each is evaluated twice at each point."""


def may_be_rounded(left: Tree, right: Tree) -> bool:
    """Whether two expressions differ by no more than the rounding of one side's decimals, wherever both are defined.

    1.41x may be √2·x, and 5e^{0.927i} may be 3 + 4i. If only one side has decimals, they may be cut off as well. A
    decimal of one digit counts as exact.
    """
    for tree, other in ((left, right), (right, left)):
        steps = _decimals(tree)
        if not 0 < len(steps) <= _MOST_DECIMALS:
            continue
        rounded = dict.fromkeys(steps, Fraction(0))
        cut = {number: step / 2 if number.value >= 0 else -step / 2 for number, step in steps.items()}
        if any(_within(tree, other, steps, shift) for shift in ((rounded,) if other.has_decimal else (rounded, cut))):
            return True
    return False


def _within(tree: Tree, other: Tree, steps: dict[Number, Fraction], shifts: dict[Number, Fraction]) -> bool:
    """Whether `other` is within half a step of each decimal of `tree`, once these are shifted."""
    known = False
    shifted = _moved(tree, shifts)
    ends = [
        [_moved(tree, shifts | {number: shifts[number] + half}) for half in (step / 2, -step / 2)]
        for number, step in steps.items()
    ]
    for point in points(sorted(tree.variables | other.variables)):
        middle, wanted = defined(shifted, point), defined(other, point)
        if middle is None or wanted is None:
            continue
        room = mpmath.mpf(0)
        for both in ends:
            values = [defined(end, point) for end in both]
            room += max((abs(value - middle) for value in values if value is not None), default=0)
        if abs(middle - wanted) > (room if any(shifts.values()) else room * (1 + _HALF_UP)):
            return False
        known = True
    return known


def _decimals(tree: Tree) -> dict[Number, Fraction]:
    """The decimals of two digits or more in a tree, each with the value of one unit in its last digit."""
    steps = {part: quantum(part) for part in tree.parts if isinstance(part, Number)}
    least = 10 ** (ROUNDED_DIGITS - 1)
    return {part: step for part, step in steps.items() if step and step < 1 and abs(part.value / step) >= least}


def _moved(tree: Tree, shifts: dict[Number, Fraction]) -> Tree:
    """The tree with each of these numbers moved by its shift."""
    match tree:
        case Number() if tree in shifts:
            return Number(tree.value + shifts[tree])
        case Apply(operation, arguments):
            return Apply(operation, tuple(_moved(argument, shifts) for argument in arguments))
    return tree
