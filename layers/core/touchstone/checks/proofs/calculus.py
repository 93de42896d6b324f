"""Derivatives, antiderivatives, definite integrals and limits."""

from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.trees import CONSTANTS, NotAnExpressionError, Tree
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import ProofTask, kind, tree_of
from touchstone.checks.values.kinds import Quantity

if TYPE_CHECKING:
    import sympy

_CONFIRMED = 1e-8
"""How near sympy's exact value and an independent numerical value must be."""
_STEPS = ("1/1000", "1/100000")
"""The distances from the point of a limit at which the approach to the limit is confirmed."""
_UNSETTLED = frozenset({"degrees", "log", "floor", "ceil", "factorial", "binomial", "pm", "mp"})
_CONSTANT_OF_INTEGRATION = frozenset({"C", "c", "K"})


def _function(task: ProofTask) -> tuple[str, Tree]:
    """The variable and the function of the problem. Raises NotAnExpressionError for other than one variable."""
    tree = parse(task["expression"])
    names = tree.names - CONSTANTS
    name = task.parts.get("name") or next(iter(names), "")
    if names != {name} or tree.operations & (_UNSETTLED | {"abs"}) or tree.names & {"i", "oo"}:
        raise NotAnExpressionError("not a real function of one variable")
    return name, tree


def _answer(task: ProofTask, name: str, wanted: Tree, *others: str) -> Tree:
    """The function of `name` that the answer gives.

    `others` are names that may occur in it. Raises NotAnExpressionError if the answer is no function or a rounded one.
    """
    tree = task.expression(wanted)
    if tree is None or tree.names - {name, "pi", "e", *others} or tree.operations & _UNSETTLED or tree.has_decimal:
        raise NotAnExpressionError("not a function, or a rounded one")
    return tree


def _identity(task: ProofTask, given: Tree, shown: str, correct: str | None, *lines: str) -> Proof | None:
    """The proof that `given` is identical to the expression `shown`; a refutation if it certainly differs."""
    wanted = parse(shown)
    same = task.same(Quantity(given), Quantity(wanted))
    differs = None if same else algebra.difference_line(task, given, wanted, shown)
    last = differs or task.line("matches" if same else "unequal", expression=shown, given=task.answer)
    return task.proof(same, correct, *lines, last)


@kind("derivative")
def _derivative(task: ProofTask) -> Proof | None:
    name, tree = _function(task)
    answer = _answer(task, name, tree)

    def derived() -> str:
        import sympy

        return algebra.expression_text(
            algebra.simplest(sympy.diff(algebra.to_sympy(tree), sympy.Symbol(name, real=True)))
        )

    correct = algebra.timed(task, derived)
    if correct is None:
        return None
    line = task.line("derivative", name=name, expression=task["expression"], value=correct)
    return _identity(task, answer, correct, correct, line, task.line("given", given=task.answer))


@kind("antiderivative")
def _antiderivative(task: ProofTask) -> Proof | None:
    """A problem that asks for the antiderivative, not for an antiderivative, asks for all: with a constant."""
    name, tree = _function(task)
    answer = _answer(task, name, tree, *_CONSTANT_OF_INTEGRATION)
    constants = answer.names & _CONSTANT_OF_INTEGRATION - {name}

    def derived() -> tuple[str, str | None, bool]:
        import sympy

        # ln|u| and ln u have the same derivative wherever both are defined; sympy simplifies only the one of ln u.
        inner, symbol = sympy.Wild("inner"), sympy.Symbol(name, real=True)
        given = algebra.to_sympy(answer).replace(sympy.log(sympy.Abs(inner)), sympy.log(inner))
        integral = sympy.integrate(algebra.to_sympy(tree), symbol)
        found = None if integral.has(sympy.Integral) else f"{algebra.expression_text(integral)} + C"
        every = all(_takes_every_value(given, sympy.Symbol(constant, real=True)) for constant in constants)
        every = every and bool(constants or "one" in task.parts)
        return algebra.expression_text(sympy.diff(given, symbol)), found, every

    slope, correct, every = algebra.timed(task, derived) or (None, None, False)
    given = tree_of(slope) if slope is not None else None
    if given is None:
        return None
    line = task.line("differentiate_answer", name=name, given=task.answer, value=slope)
    proof = _identity(task, given, task["expression"], correct, line)
    return None if proof is not None and proof.outcome == "proved" and not every else proof


def _takes_every_value(expression: "sympy.Expr", constant: "sympy.Symbol") -> bool:
    """Whether the integration constant lets the answer take every constant term.

    The constant is a term with a number as its factor (C, -C, C/2), or its logarithm is.
    """
    import sympy

    slope = sympy.diff(expression, constant)
    factor = slope if slope.is_number else sympy.simplify(slope)
    if not factor.is_number:
        factor = sympy.simplify(slope * constant)
    return bool(factor.is_number and factor.is_real and factor.is_zero is False)


@kind("integral")
def _integral(task: ProofTask) -> Proof | None:
    name, tree = _function(task)
    lower, upper = parse(task["lower"].strip("{}")), parse(task["upper"].strip("{}"))
    if (lower.names | upper.names) - {"pi", "e"}:
        return None

    def integrated() -> str | None:
        import sympy

        symbol = sympy.Symbol(name, real=True)
        expression, low, high = map(algebra.to_sympy, (tree, lower, upper))
        if not expression.is_polynomial(symbol):
            between = sympy.Interval(min(low, high), max(low, high))
            if sympy.singularities(expression, symbol, between) != sympy.S.EmptySet:
                return None
        exact = sympy.integrate(expression, (symbol, low, high))
        numeric = sympy.Integral(expression, (symbol, low, high)).evalf(15)
        if exact.has(sympy.Integral) or not exact.is_real:
            return None
        close = abs(exact.evalf(20) - numeric) <= _CONFIRMED * max(1, abs(numeric))
        return algebra.expression_text(algebra.simplest(exact)) if close else None

    correct = algebra.timed(task, integrated)
    if correct is None:
        return None
    return task.compared(task.line("integral", value=correct, **task.parts), correct, whole=False)


@kind("limit")
def _limit(task: ProofTask) -> Proof | None:
    name, tree = _function(task)
    point = parse(task["point"].strip("{}"))
    if point.names - {"pi", "e", "oo"}:
        return None

    def approached() -> tuple[str, str] | None:
        import sympy

        symbol = sympy.Symbol(name, real=True)
        expression, at = algebra.to_sympy(tree), algebra.to_sympy(point)
        exact = sympy.limit(expression, symbol, at, "+-") if at.is_finite else sympy.limit(expression, symbol, at)
        if not exact.is_finite or not exact.is_real or not _is_approached(expression, symbol, at, exact):
            return None
        return algebra.expression_text(at), algebra.expression_text(algebra.simplest(exact))

    at, correct = algebra.timed(task, approached) or (None, None)
    if correct is None:
        return None
    line = task.line("limit", name=name, point=at, expression=task["expression"], value=correct)
    return task.compared(line, correct, whole=False)


def _is_approached(expression: "sympy.Expr", symbol: "sympy.Symbol", at: "sympy.Expr", exact: "sympy.Expr") -> bool:
    """Whether values near the point come nearer to the limit, from each side that exists."""
    import sympy

    for side in (1, -1):
        if not at.is_finite and (at > 0) != (side > 0):
            continue
        gaps = []
        for step in _STEPS:
            distance = sympy.Rational(step)
            place = at + side * distance if at.is_finite else side / distance
            gaps.append(abs(sympy.N(expression.subs(symbol, place), 30) - sympy.N(exact, 30)))
        if not all(gap.is_real for gap in gaps) or not (gaps[1] < gaps[0] or gaps[0] < _CONFIRMED):
            return False
        if gaps[1] > 0.01 * max(1, abs(sympy.N(exact))):
            return False
    return True
