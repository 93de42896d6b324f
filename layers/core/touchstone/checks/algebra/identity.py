"""Whether two expressions always have the same value: proved, refuted, or unknown. Importing this module imports sympy.

Numbers refute: both sides are computed to 50 digits and again to 100, at points of every sign. If both sides are
defined and differ beyond any rounding, they are different. Only algebra proves: agreement of numbers proves nothing.
"""

from fractions import Fraction
from typing import Literal

import mpmath
import sympy

from touchstone.checks.algebra.evaluation import DIGITS, Point, calls, context_of, defined, evaluate, number_of, points
from touchstone.checks.algebra.roundings import may_be_rounded
from touchstone.checks.algebra.symbolic import build
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree
from touchstone.checks.values.exact import rational
from touchstone.checks.values.rounding import approximates, quantum

DIFFERENCE = 25
"""Relative digits in which two values must differ to be called different; rounding at 50 digits stays far below."""

type Numbers = Literal["different", "alike", "unknown"]


def same_expression(left: Tree, right: Tree) -> bool | None:
    """Whether the trees have the same value wherever they are defined. The caller has bounded their size.

    None also if they differ by what the decimals in them may be rounded.
    """
    match compare_numbers(left, right):
        case "different":
            plain = any(tree.has_decimal and rational(tree) is not None for tree in (left, right))
            return None if not plain and may_be_rounded(left, right) else False
        case "unknown":
            return None
    base = sympy.Symbol("logarithm's base", positive=True)
    try:
        difference = build(left, log_base=base, positive=True) - build(right, log_base=base, positive=True)
    except NotAnExpressionError:
        return None
    return True if is_zero(difference) else None


def same_or_rounded(left: Tree, right: Tree) -> bool | None:
    """As `same_expression`, for a rational number and an expression that is not evidently rational (3.14 and π).

    If the two differ and the first is a decimal, `approximates` decides whether it stands for the other value.
    """
    if (same := same_expression(left, right)) is not False:
        return same
    for decimal, other in ((left, right), (right, left)):
        value, step = rational(decimal), quantum(decimal)
        if value is not None and step is not None and other.is_constant:
            exact = number_of(other)
            return None if exact is None else approximates(value, step, exact)
    return False


def compare_numbers(left: Tree, right: Tree) -> Numbers:
    """The verdict of numbers on two trees.

    "unknown" if neither is defined at any point, or if only one of them is defined at some point.
    """
    names = sorted(left.variables | right.variables)
    found: Numbers = "unknown"
    for point in points(names):
        undefined = [defined(tree, point) is None for tree in (left, right)]
        if undefined[0] != undefined[1]:
            return "unknown"
        if not undefined[0] and _far_apart(left, right, point):
            return "unknown" if calls(left, "log") or calls(right, "log") else "different"
        found = found if undefined[0] else "alike"
    return found


def is_zero(difference: sympy.Expr) -> bool:
    """Whether algebra proves that `difference` is zero. The caller limits the time."""
    if difference == 0:
        return True
    steps = (
        sympy.expand,
        lambda value: sympy.cancel(sympy.together(value)),
        lambda value: sympy.expand(sympy.expand_log(value, force=True)),
        lambda value: sympy.expand(sympy.powsimp(sympy.powdenest(value, force=True), force=True)),
        lambda value: sympy.expand(value.rewrite(sympy.exp)),
        sympy.radsimp,
        sympy.trigsimp,
        lambda value: sympy.simplify(value.rewrite(sympy.exp)),
        sympy.simplify,
    )
    if any(step(difference) == 0 for step in steps):
        return True
    x = sympy.Dummy()
    is_algebraic = not difference.free_symbols and difference.is_algebraic
    return bool(is_algebraic and sympy.minimal_polynomial(difference, x) == x)


def _far_apart(left: Tree, right: Tree, point: Point) -> bool:
    """Whether the values differ beyond rounding, by about as much at both precisions.

    A gap that shrinks at the higher precision is an error of rounding: sin π is computed as almost 0.
    """
    gaps: list[mpmath.mpf] = []
    for digits in (DIGITS, 2 * DIGITS):
        context = context_of(digits)
        values = [evaluate(tree, point, context) for tree in (left, right)]
        gaps.append(abs(values[0] - values[1]))
        if gaps[-1] <= max(map(abs, values)) * context.mpf(10) ** -DIFFERENCE:
            return False
    return bool(2 * gaps[1] > gaps[0])


def _warm_up() -> None:
    """Make sympy load and build its caches for first use (about 0.1 s), before the time of a comparison runs."""
    same_expression(
        Apply("pow", (Apply("add", (Name("x"), Number(Fraction(1)))), Number(Fraction(2)))),
        Apply("add", (Apply("pow", (Apply("sin", (Name("x"),)), Number(Fraction(2)))), Name("y"))),
    )
    x = sympy.Symbol("x", positive=True)
    sympy.simplify(sympy.sin(2 * x) / sympy.cos(x) + sympy.exp(x) / sympy.sqrt(x + 1) - sympy.log(x))
    sympy.minimal_polynomial(sympy.sqrt(2) - 1, sympy.Dummy())


_warm_up()
