"""Algebra for the proofs: zeros of rational functions, points where expressions differ, sympy in limited time.

Text is read only by the bounded parser, and sympy is imported on first use. The results of sympy are written down and
read again, so that `touchstone.checks.algebra` alone compares them, exactly as they are shown.
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
"""Processor time for all algebra on one answer; problems in textbooks take a fifth of it."""
MAX_SIZE = 60
"""The most numbers, names and operations in an expression that is given to sympy."""
MAX_DEGREE = 16
"""The highest degree of an expression that is expanded, factored or solved.

Degrees in textbooks seldom pass 8, and the work grows fast with the degree.
"""
MAX_SOLVED_DEGREE = 8


@cache
def _warm() -> None:
    """Load sympy and its modules for first use before a clock starts: a stopped import would leave half a module."""
    import sympy

    x = sympy.Symbol("x", real=True)
    simplest(sympy.diff(x * sympy.log(sympy.Abs(x)), x))
    sympy.integrate(x * sympy.sin(x), (x, 0, 1))
    sympy.limit(sympy.sin(x) / x, x, 0, "+-")
    sympy.factor_list(x**2 - 1)
    sympy.real_roots(sympy.Poly(x**3 - 2, x))


def timed[R](task: ProofTask, function: Callable[[], R | None]) -> R | None:
    """The result of `function`, which uses sympy; None if it fails or takes too long."""
    _warm()

    def guarded() -> R | None:
        try:
            return function()
        except Exception:  # noqa: BLE001 - sympy's errors have no common base: PolynomialError, TypeError, KeyError
            return None

    return task.time.spend(guarded)


def to_sympy(tree: Tree) -> "sympy.Expr":
    """The sympy form of a tree with real variables. Raises NotAnExpressionError for i, or if it is too large."""
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


def expression_text(expression: "sympy.Expr") -> str:
    """An expression in the notation that people type: x^2, √2."""
    text = str(expression).replace("**", "^").replace("sqrt(", "√(").replace("*", "·").replace("Abs(", "abs(")
    return text.replace("log(", "ln(").replace("oo", "∞").replace("pi", "π").replace("E", "e")


def value_at(task: ProofTask, tree: Tree, name: str, value: Tree) -> str | None:
    """The value of `tree` with `value` in place of `name`, as text.

    It is exact if it is rational, else it has six digits. None if there is no value.
    """
    tree = tree.substituted(name, value)
    if (exact := rational(tree)) is not None:
        return str(exact)
    ends = Algebra(task.time).bounds(tree)
    return None if ends is None else f"{float(ends[0]):.6g}"


def difference_line(task: ProofTask, given: Tree, wanted: Tree, expression: str) -> str | None:
    """A line that names a point at which two expressions differ; None if no such point is found.

    The line shows the wanted one as `expression`. Only expressions in one variable are tried.
    """
    from touchstone.checks.algebra.evaluation import points

    names = sorted(given.variables | wanted.variables)
    for point in points(names) if len(names) == 1 else ():
        first, second = (value_at(task, tree, names[0], Number(point[names[0]])) for tree in (given, wanted))
        if None not in (first, second) and first != second:
            at = {"name": names[0], "point": point[names[0]]}
            return task.line("differs", expression=expression, **at, first=first, second=second)
    return None


def degree(tree: Tree) -> float:
    """An upper bound on the degree of a rational function with whole powers; infinite for any other expression."""
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
    """The denominators of an expression as written; they are found before sympy, which cancels those of x²/x."""
    match tree:
        case Apply(operation="div", arguments=(top, bottom)):
            return [bottom, *denominators_in(top), *denominators_in(bottom)]
        case Apply(operation="pow", arguments=(base, Apply(operation="neg"))):
            return [base, *denominators_in(base)]
        case Apply(arguments=arguments):
            return [found for argument in arguments for found in denominators_in(argument)]
    return []


def zeros(task: ProofTask, tree: Tree, name: str) -> dict[str, Tree] | None:
    """All distinct real zeros of the numerator of a rational function, in order. The keys are the zeros as shown.

    None if they are not certain, or if every number is a zero. Rational zeros of degree 2 at most are found without
    sympy.
    """
    if degree(tree) in (0, 1, 2) and not any(bottom.names for bottom in denominators_in(tree)):
        plain = _rational_zeros(tree, name)
        if plain is not None:
            return {str(zero): Number(zero) for zero in plain}
    return timed(task, lambda: _zeros(tree, name))


def _rational_zeros(tree: Tree, name: str) -> list[Fraction] | None:
    """The real zeros of a polynomial of degree 2 at most; None if one is irrational or every number is a zero."""
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
    """As `zeros`, but found by sympy; Sturm's theorem confirms how many there are."""
    import sympy

    top, _ = sympy.fraction(sympy.together(to_sympy(tree)))
    polynomial = sympy.Poly(sympy.expand(top), sympy.Symbol(name, real=True))
    if polynomial.is_zero or polynomial.degree() > MAX_SOLVED_DEGREE:
        return None
    if not all(coefficient.is_rational for coefficient in polynomial.all_coeffs()):
        return None
    roots = list(dict.fromkeys(map(expression_text, sympy.real_roots(polynomial)))) if polynomial.degree() else []
    found = {root: written for root in roots if (written := tree_of(root)) is not None}
    return found if len(found) == len(roots) == polynomial.sqf_part().count_roots() else None
