"""Whether two equations or inequalities hold for the same values. Importing this module imports sympy."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import mpmath
import sympy

from touchstone.checks.algebra.evaluation import DIGITS, Point, context_of, evaluate, point_of, points
from touchstone.checks.algebra.symbolic import build
from touchstone.checks.notation.trees import Tree, names_of

CLEARLY = 1e-6
"""From which a left side counts as not zero, at a point that is within 2⁻⁶⁰ of the other's zero."""
HALVINGS = 60
"""Steps of a bisection."""


def same_condition(left: Tree, right: Tree, *, signed: bool) -> bool | None:
    """Whether `left = 0` and `right = 0` (or `left < 0` and `right < 0`, `signed`) hold for the same values.

    True where one is a constant multiple of the other (positive if `signed`), also after clearing denominators.
    False where a point of one is found that is not of the other.
    """
    proportional = _proportional(left, right)
    if not proportional and not signed and (_witness(left, right) or _witness(right, left)):
        return False
    one, other = (build(tree) for tree in (left, right))
    if proportional and _constant_ratio(one, other, signed=signed):
        return True
    return True if not signed and _same_fraction(one, other) else None


def _same_fraction(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Whether the numerators are proportional and no point loses its denominator: `y = 1/x` and `xy = 1`.

    `y/x = 2` and `y = 2x` are not the same: the origin belongs to one of them only.
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
    """Whether, by numbers, `left` is everywhere the same multiple of `right`."""
    context = context_of(DIGITS)
    ratios: list[mpmath.mpf] = []
    for point in points(sorted(names_of(left) | names_of(right))):
        try:
            ratios.append(evaluate(left, point, context) / evaluate(right, point, context))
        except (ArithmeticError, ValueError):
            continue
    tolerance = context.mpf(10) ** (-DIGITS // 2)
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
    names, context = sorted(names_of(one)), context_of(DIGITS)
    for turn, name in product(range(2), names):
        point = point_of(sorted(names_of(one) | names_of(other)), turn, (1, -1, 1) if turn else (1,))
        root = _root(one, name, point, context)
        if root is None:
            continue
        try:
            value = evaluate(other, point | {name: root}, context)
        except (ArithmeticError, ValueError):
            continue
        if abs(value) > CLEARLY:
            return True
    return False


def _root(tree: Tree, name: str, point: Point, context: mpmath.MPContext) -> Fraction | None:
    """A real zero of `tree` in one variable between −12 and 12, found by a change of sign; None where none is."""

    def at(place: Fraction) -> mpmath.mpf:
        return evaluate(tree, point | {name: place}, context)

    # Off the halves, where zeros of school equations and poles lie.
    places = [Fraction(step, 2) + Fraction(1, 7) for step in range(-24, 24)]
    previous: tuple[Fraction, mpmath.mpf] | None = None
    for place in places:
        try:
            value = at(place)
        except (ArithmeticError, ValueError):
            previous = None
            continue
        if previous is not None and previous[1] * value < 0:
            return _bisected(at, previous[0], place)
        previous = place, value
    return None


def _bisected(at: Callable[[Fraction], mpmath.mpf], low: Fraction, high: Fraction) -> Fraction | None:
    below = at(low) < 0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if (at(middle) < 0) == below:
            low = middle
        else:
            high = middle
    # A pole changes sign, too.
    return low if abs(at(low)) < CLEARLY else None
