"""Whether two equations or inequalities hold for the same values. Importing this module imports sympy."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import sympy

from touchstone.checks.algebra.evaluation import DIGITS, Point, context_of, defined, point_of, points
from touchstone.checks.algebra.symbolic import build
from touchstone.checks.notation.trees import Tree

CLEARLY = 1e-6
"""From which a left side counts as not zero, at a point that is within 2⁻⁶⁰ of the other's zero."""
HALVINGS = 60
"""Steps of a bisection."""


def same_condition(left: Tree, right: Tree, *, signed: bool) -> bool | None:
    """Whether `left = 0` and `right = 0` (or `< 0`, `signed`) hold for the same values.

    True where one is a constant multiple of the other, positive if `signed`; False where a point is of one alone.
    """
    proportional = _proportional(left, right)
    if not proportional and not signed and (_witness(left, right) or _witness(right, left)):
        return False
    one, other = (build(tree) for tree in (left, right))
    if proportional and _constant_ratio(one, other, signed=signed):
        return True
    return True if not signed and _same_fraction(one, other) else None


def _same_fraction(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Whether the numerators are proportional and no point loses its denominator: of `y = 2x`, `y/x = 2` loses one."""
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
    """Whether, by numbers, `left` is everywhere the same multiple of `right`."""
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
    """Whether some point makes `one` zero and `other` clearly not."""
    for turn, name in product(range(2), sorted(one.variables)):
        point = point_of(sorted(one.variables | other.variables), turn, (1, -1, 1) if turn else (1,))
        root = _root(one, name, point)
        value = None if root is None else defined(other, point | {name: root})
        if value is not None and abs(value) > CLEARLY:
            return True
    return False


def _root(tree: Tree, name: str, point: Point) -> Fraction | None:
    """A real zero of `tree` in one variable between −12 and 12, found by a change of sign; None where none is."""
    # Off the halves, where zeros of school equations and poles lie.
    places = [Fraction(step, 2) + Fraction(1, 7) for step in range(-24, 24)]
    values = (defined(tree, point | {name: place}) for place in places)
    for (low, below), (high, above) in pairwise(zip(places, values, strict=True)):
        if below is not None and above is not None and below * above < 0:
            return _bisected(lambda place: defined(tree, point | {name: place}), low, high)
    return None


def _bisected(at: Callable[[Fraction], mpmath.mpf | None], low: Fraction, high: Fraction) -> Fraction | None:
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below, value = at(low), at(middle)
        if below is None or value is None:
            return None
        low, high = (middle, high) if (value < 0) == (below < 0) else (low, middle)
    # A pole changes sign, too.
    value = at(low)
    return low if value is not None and abs(value) < CLEARLY else None
