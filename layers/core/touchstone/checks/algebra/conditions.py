"""Whether two equations or inequalities hold for the same values. Importing this module imports sympy."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import sympy

from touchstone.checks.algebra.evaluation import DIGITS, Point, context_of, defined, point_of, points
from touchstone.checks.algebra.symbolic import build
from touchstone.checks.notation.trees import Tree

MIN_NONZERO = 1e-6
"""The least size of a value that counts as not zero, at a point within 2⁻⁶⁰ of a zero of the other side."""
HALVINGS = 60
"""Steps of a bisection."""


def same_condition(left: Tree, right: Tree, *, signed: bool) -> bool | None:
    """Whether `left = 0` and `right = 0` (or `< 0` if `signed`) hold for the same values.

    True if one side is a constant multiple of the other; the factor must be positive if `signed`. False if some point
    fulfils one equation only; this is tried only if not `signed`. None if neither is shown.
    """
    proportional = _proportional(left, right)
    if not proportional and not signed and (_witness(left, right) or _witness(right, left)):
        return False
    one, other = (build(tree) for tree in (left, right))
    if proportional and _constant_ratio(one, other, signed=signed):
        return True
    return True if not signed and _same_fraction(one, other) else None


def _same_fraction(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Whether the numerators are proportional, and no zero of a numerator is a zero of its denominator.

    Such a zero would be lost: (0, 0) solves `y = 2x` but not `y/x = 2`.
    """
    fractions = [sympy.fraction(sympy.together(each)) for each in (left, right)]
    if not _constant_ratio(fractions[0][0], fractions[1][0], signed=False):
        return False
    names = sorted(left.free_symbols | right.free_symbols, key=str)
    for over, under in fractions:
        if not under.free_symbols:
            continue
        if not (over.is_polynomial(*names) and under.is_polynomial(*names)):
            return False
        if sympy.groebner([over, under], *names).exprs != [1]:
            return False
    return True


def _proportional(left: Tree, right: Tree) -> bool:
    """Whether numbers show `left` as the same multiple of `right` at all points tried."""
    ratios: list[mpmath.mpf] = []
    for point in points(sorted(left.variables | right.variables)):
        one, other = defined(left, point), defined(right, point)
        if one is not None and other:
            ratios.append(one / other)
    tolerance = context_of(DIGITS).mpf(10) ** (-DIGITS // 2)
    return bool(ratios) and all(abs(ratio - ratios[0]) <= tolerance * abs(ratios[0]) for ratio in ratios)


def _constant_ratio(left: sympy.Expr, right: sympy.Expr, *, signed: bool) -> bool:
    if left == 0 or right == 0:
        return False
    ratio = sympy.cancel(sympy.together(left / right))
    if ratio.free_symbols:
        ratio = sympy.simplify(ratio)
    return not ratio.free_symbols and bool(ratio.is_finite) and ratio != 0 and (not signed or bool(ratio.is_positive))


def _witness(one: Tree, other: Tree) -> bool:
    """Whether, at some point that was tried, `one` is zero and `other` is clearly not."""
    for turn, name in product(range(2), sorted(one.variables)):
        point = point_of(sorted(one.variables | other.variables), turn, (1, -1, 1) if turn else (1,))
        root = _root(one, name, point)
        value = None if root is None else defined(other, point | {name: root})
        if value is not None and abs(value) > MIN_NONZERO:
            return True
    return False


def _root(tree: Tree, name: str, point: Point) -> Fraction | None:
    """A zero of `tree` in the variable `name` between −12 and 12, found by a change of sign; None if none is found."""
    # The places are off the halves, where zeros of school equations and poles lie.
    places = [Fraction(step, 2) + Fraction(1, 7) for step in range(-24, 24)]
    values = (_real(tree, point | {name: place}) for place in places)
    for (low, below), (high, above) in pairwise(zip(places, values, strict=True)):
        if below is not None and above is not None and below * above < 0:
            return _bisected(lambda place: _real(tree, point | {name: place}), low, high)
    return None


def _real(tree: Tree, point: Point) -> mpmath.mpf | None:
    """The value of an expression if it is a real number."""
    value = defined(tree, point)
    return None if value is None or value.imag else value.real


def _bisected(at: Callable[[Fraction], mpmath.mpf | None], low: Fraction, high: Fraction) -> Fraction | None:
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below, value = at(low), at(middle)
        if below is None or value is None:
            return None
        low, high = (middle, high) if (value < 0) == (below < 0) else (low, middle)
    # The sign changes at a pole too: only a small value shows a zero.
    value = at(low)
    return low if value is not None and abs(value) < MIN_NONZERO else None
