"""What the proofs ask of algebra: zeros of rational functions, points where expressions differ, sympy in limited time.

Nothing here sees text but through the bounded parser, and sympy is imported on first use. What sympy finds is written
down and read again, so that it is compared as it is shown, by `touchstone.checks.algebra` alone.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import inf
from typing import TYPE_CHECKING

from touchstone.checks.algebra.expressions import Algebra
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree
from touchstone.checks.proofs.kinds import ProofTask, tree_of
from touchstone.checks.values.exact import bound, rational

if TYPE_CHECKING:
    import sympy

SECONDS = 0.2
"""Time for all algebra on one answer, of which problems in textbooks take a fifth."""
MAX_SIZE = 60
"""Numbers, names and operations in an expression handed to sympy."""
MAX_DEGREE = 16
"""Degree of what is expanded, factored or solved; a textbook's seldom passes 8, and work grows fast with it."""
MAX_SOLVED_DEGREE = 8


@cache
def _warm() -> None:
    """Load sympy and what it loads on first use, before a clock starts: a stopped import would leave half a module."""
    import sympy

    x = sympy.Symbol("x", real=True)
    simplest(sympy.diff(x * sympy.log(sympy.Abs(x)), x))
    sympy.integrate(x * sympy.sin(x), (x, 0, 1))
    sympy.limit(sympy.sin(x) / x, x, 0, "+-")
    sympy.factor_list(x**2 - 1)
    sympy.real_roots(sympy.Poly(x**3 - 2, x))


def timed[R](task: ProofTask, function: Callable[[], R | None]) -> R | None:
    """The result of sympy's work, None where it failed or took too long."""
    _warm()

    def guarded() -> R | None:
        try:
            return function()
        except Exception:  # noqa: BLE001 - what sympy refuses with has no common base: PolynomialError, TypeError, KeyError
            return None

    return task.time.spend(guarded)


def built(tree: Tree) -> "sympy.Expr":
    """The sympy expression of a tree within bounds; every variable is real. Raises NotAnExpressionError."""
    from touchstone.checks.algebra.symbolic import build

    if len(tree.parts) > MAX_SIZE or "i" in tree.names:
        raise NotAnExpressionError("not real, or larger than what is handed to sympy")
    bound(tree)
    return build(tree, real=True)


def simplest(expression: "sympy.Expr") -> "sympy.Expr":
    """The shorter of an expression and its simplification."""
    import sympy

    simpler = sympy.simplify(expression)
    return simpler if sympy.count_ops(simpler) <= sympy.count_ops(expression) else expression


def shown(expression: "sympy.Expr") -> str:
    """An expression as people type it: x^2, √2."""
    text = str(expression).replace("**", "^").replace("sqrt(", "√(").replace("*", "·").replace("Abs(", "abs(")
    return text.replace("log(", "ln(").replace("oo", "∞").replace("pi", "π").replace("E", "e")


def value_at(task: ProofTask, tree: Tree, name: str, value: Tree) -> str | None:
    """The value of `tree` with `value` for a name: exact where it is rational, else to six digits; None without one."""
    tree = tree.substituted(name, value)
    if (exact := rational(tree)) is not None:
        return str(exact)
    ends = Algebra(task.time).bounds(tree)
    return None if ends is None else f"{float(ends[0]):.6g}"


def differing(task: ProofTask, given: Tree, wanted: Tree, expression: str) -> str | None:
    """A line with a point at which two expressions differ, the wanted one shown as `expression`; None without one."""
    from touchstone.checks.algebra.evaluation import points

    names = sorted(given.variables | wanted.variables)
    for point in points(names) if len(names) == 1 else ():
        first, second = (value_at(task, tree, names[0], Number(point[names[0]])) for tree in (given, wanted))
        if None not in (first, second) and first != second:
            at = {"name": names[0], "point": point[names[0]]}
            return task.line("differs", expression=expression, **at, first=first, second=second)
    return None


def degree(tree: Tree) -> float:
    """A bound on the degree of a rational function with whole powers, infinite for anything else."""
    match tree:
        case Name():
            return 1
        case Number():
            return 0
        case Apply("pow", (base, Number(power) | Apply("neg", (Number(power),)))) if power.denominator == 1:
            return degree(base) * max(float(abs(power)), 1)
        case Apply(operation="mul" | "div", arguments=arguments):
            return sum(map(degree, arguments))
        case Apply(operation="add" | "neg", arguments=arguments):
            return max(map(degree, arguments))
    return inf


def denominators_in(tree: Tree) -> list[Tree]:
    """What an expression divides by, as written: sympy cancels x²/x before anyone can ask."""
    match tree:
        case Apply(operation="div", arguments=(top, bottom)):
            return [bottom, *denominators_in(top), *denominators_in(bottom)]
        case Apply(operation="pow", arguments=(base, Apply(operation="neg"))):
            return [base, *denominators_in(base)]
        case Apply(arguments=arguments):
            return [found for argument in arguments for found in denominators_in(argument)]
    return []


def zeros(task: ProofTask, tree: Tree, name: str) -> dict[str, Tree] | None:
    """All distinct real zeros of a rational function's numerator, in order, by how they are shown.

    None where they are not certain, or all numbers are. Rational ones of degree 2 at most are found without sympy.
    """
    if degree(tree) in (0, 1, 2) and not any(bottom.names for bottom in denominators_in(tree)):
        plain = _rational_zeros(tree, name)
        if plain is not None:
            return {str(zero): Number(zero) for zero in plain}
    return timed(task, lambda: _zeros(tree, name))


def _rational_zeros(tree: Tree, name: str) -> list[Fraction] | None:
    """The real zeros of a polynomial of degree 2 at most; None where one is irrational, or all numbers are."""
    below, constant, above = (rational(tree.substituted(name, Number(Fraction(place)))) for place in (-1, 0, 1))
    if below is None or constant is None or above is None:
        return None
    square, slope = (above + below) / 2 - constant, (above - below) / 2
    if not square:
        return [-constant / slope] if slope else [] if constant else None
    discriminant = slope * slope - 4 * square * constant
    if discriminant < 0:
        return []
    root = rational(Apply("root", (Number(discriminant), Number(Fraction(2)))))
    return None if root is None else sorted({(-slope - root) / (2 * square), (-slope + root) / (2 * square)})


def _zeros(tree: Tree, name: str) -> dict[str, Tree] | None:
    """As `zeros`, by sympy; their number is checked by Sturm's theorem."""
    import sympy

    top, _ = sympy.fraction(sympy.together(built(tree)))
    polynomial = sympy.Poly(sympy.expand(top), sympy.Symbol(name, real=True))
    if polynomial.is_zero or polynomial.degree() > MAX_SOLVED_DEGREE:
        return None
    if not all(coefficient.is_rational for coefficient in polynomial.all_coeffs()):
        return None
    roots = list(dict.fromkeys(map(shown, sympy.real_roots(polynomial)))) if polynomial.degree() else []
    found = {root: written for root in roots if (written := tree_of(root)) is not None}
    return found if len(found) == len(roots) == polynomial.sqf_part().count_roots() else None
