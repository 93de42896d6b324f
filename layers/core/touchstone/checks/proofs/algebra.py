"""What the proofs ask of sympy: exact sameness, certain difference, values with error bounds, all within a time limit.

Nothing here sees text but through the bounded parser, and sympy is imported on first use. An identity is proved only
by sympy's exact simplification to zero; a difference is proved only by numbers that lie far apart at a point.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.limits import within
from touchstone.checks.notation.trees import NotAnExpressionError, Tree, has_decimal, names_in, size
from touchstone.checks.proofs.kinds import Task, tree_of
from touchstone.checks.proofs.sentences import sentence

if TYPE_CHECKING:
    import sympy

SECONDS = 0.2
"""Time for all of sympy's work on one answer, of which problems in textbooks take a fifth."""
MAX_SIZE = 60
"""Numbers, names and operations in an expression handed to sympy."""
_DIGITS = 30
_APART = 1e-9
"""Relative distance from which two values computed to 30 digits are certainly different."""
_SAMPLES = ("7/5", "-11/7", "23/9", "3/11", "-5/13", "101/17")
"""Points at which expressions are compared: rationals at which no school expression happens to vanish."""


@cache
def _warm() -> None:
    """Load sympy and what it loads on first use, before a clock starts: a stopped import would leave half a module."""
    import sympy

    x = sympy.Symbol("x", real=True)
    is_zero(sympy.sqrt(x**2 + 1) * sympy.sin(x) / (x**2 + 2) - x)
    difference_at(sympy.sin(x), sympy.exp(x) / (x**2 + 1))
    simplest(sympy.diff(x * sympy.log(sympy.Abs(x)), x))
    sympy.integrate(x * sympy.sin(x), (x, 0, 1))
    sympy.limit(sympy.sin(x) / x, x, 0, "+-")
    sympy.factor_list(x**2 - 1)
    sympy.real_roots(sympy.Poly(x**3 - 2, x))


def timed[R](function: Callable[[], R | None]) -> R | None:
    """The result of sympy's work, None where it failed or took too long."""
    _warm()

    def guarded() -> R | None:
        try:
            return function()
        except Exception:  # noqa: BLE001  (sympy refuses with errors of any class; nothing is decided then)
            return None

    return within(SECONDS, guarded)


def expression_of(text: str) -> "sympy.Expr | None":
    """The sympy expression of `text`, None where it is none or too large."""
    tree = tree_of(text)
    return built(tree) if tree is not None else None


def built(tree: Tree) -> "sympy.Expr | None":
    """The sympy expression of a tree within bounds; every variable is real."""
    import sympy

    from touchstone.checks.algebra.symbolic import to_sympy

    if size(tree) > MAX_SIZE or "i" in names_in(tree):
        return None
    try:
        expression = to_sympy(tree)
    except NotAnExpressionError:
        return None
    return expression.xreplace({symbol: sympy.Symbol(symbol.name, real=True) for symbol in expression.free_symbols})


def is_zero(expression: "sympy.Expr") -> bool:
    """Whether exact simplification gives 0. False only means that it does not.

    What is certainly not 0 at some point is not simplified at all: that takes most of the time.
    """
    import sympy

    if expression == 0:
        return True
    if difference_at(expression, sympy.Integer(0)) is not None:
        return False
    for step in (sympy.expand, sympy.together, sympy.radsimp, sympy.simplify, sympy.trigsimp):
        expression = step(expression)
        if expression == 0:
            return True
    return False


def difference_at(first: "sympy.Expr", second: "sympy.Expr") -> "tuple[sympy.Rational, sympy.Expr, sympy.Expr] | None":
    """A point at which two expressions are certainly different, with both values; None if none is found.

    At least one more sample must agree that they differ, so that one bad evaluation cannot refute an answer.
    """
    import sympy

    symbols = sorted(first.free_symbols | second.free_symbols, key=str)
    found: list[tuple[sympy.Rational, sympy.Expr, sympy.Expr]] = []
    for place, sample in enumerate(_SAMPLES):
        at = {symbol: sympy.Rational(sample) + place + index for index, symbol in enumerate(symbols)}
        values = [sympy.N(expression.subs(at), _DIGITS) for expression in (first, second)]
        if not all(value.is_real and value.is_finite for value in values):
            continue
        scale = max(abs(values[0]), abs(values[1]), 1)
        if abs(values[0] - values[1]) > _APART * scale:
            point = at[symbols[0]] if symbols else sympy.Integer(0)
            found.append((point, sympy.N(values[0], 8), sympy.N(values[1], 8)))
        if len(found) > 1 or (found and not symbols):
            return found[0]
    return None


def evaluated(task: Task, text: str, tree: Tree) -> Proof | None:
    """The proof for an expression with an irrational value, such as √8 + √2."""
    answer = tree_of(task.answer)
    if answer is None or names_in(answer) - {"pi", "e"} or answer == tree:
        return None

    def work() -> Proof | None:
        value, given = built(tree), built(answer)
        if value is None or given is None or not value.is_finite or not value.is_real:
            return None
        if is_zero(value - given):
            # An answer as long as the question may only repeat it.
            if size(answer) >= size(tree):
                return None
            correct = shown(simplest(value))
            line = sentence("value", task.language, expression=text, value=correct)
            return task.compared("evaluate", line, equal=True, correct=correct)
        apart = difference_at(value, given)
        if apart is None or has_decimal(answer) or near(apart[1], apart[2]):
            return None
        correct = shown(simplest(value))
        line = sentence("value", task.language, expression=text, value=f"{correct} ≈ {apart[1]}")
        return task.compared("evaluate", line, equal=False, correct=correct)

    return timed(work)


def near(first: "sympy.Expr", second: "sympy.Expr") -> bool:
    """Whether two values are so near that one may be the other rounded."""
    gap = abs(first - second)
    return bool(gap < 1) or bool(gap <= 0.01 * abs(first))


def simplest(expression: "sympy.Expr") -> "sympy.Expr":
    """The shorter of an expression and its simplification."""
    import sympy

    simpler = sympy.simplify(expression)
    return simpler if sympy.count_ops(simpler) <= sympy.count_ops(expression) else expression


def shown(expression: "sympy.Expr") -> str:
    """An expression as people type it: x^2, √2, |x|."""
    text = str(expression).replace("**", "^").replace("sqrt(", "√(").replace("*", "·")
    return text.replace("log(", "ln(").replace("oo", "∞").replace("pi", "π").replace("E", "e")
