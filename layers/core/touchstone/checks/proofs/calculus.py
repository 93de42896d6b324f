"""Derivatives, antiderivatives, definite integrals and limits."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import CONSTANTS, Tree, has_decimal, names_in, operations_in
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import Task, kind, tree_of
from touchstone.checks.values.kinds import Quantity

if TYPE_CHECKING:
    import sympy

_CONFIRMED = 1e-8
"""How near sympy's exact value and an independent numerical one must be."""
_STEPS = ("1/1000", "1/100000")
"""Distances from the point of a limit at which the approach is confirmed."""
_UNSETTLED = frozenset({"degrees", "log", "floor", "ceil", "factorial", "binomial", "pm", "mp"})
_CONSTANT_OF_INTEGRATION = frozenset({"C", "c", "K"})

_FIND = r"(?:find|compute|calculate|determine|evaluate|what is)"
_WITH_RESPECT = r"(?: with respect to (?P<name>[a-z]))?"
_DEFINED = r"(?:(?:the )?function )?(?:[fgh]\s?\(\s?[a-z]\s?\)|y)\s?=\s?"
_EXPRESSION = r"(?P<expression>[^=:]+?)"
_BOUND = r"(?:\{[^{}]+\}|[-+]?\w+)"


def _function(task: Task) -> tuple[str, Tree] | None:
    """The variable and the function of the problem, None where there is not exactly one variable."""
    tree = tree_of(task["expression"])
    if tree is None or operations_in(tree) & (_UNSETTLED | {"abs"}) or names_in(tree) & {"i", "oo"}:
        return None
    names = names_in(tree) - CONSTANTS
    name = task.parts.get("name") or (next(iter(names)) if len(names) == 1 else None)
    return (name, tree) if name is not None and names == {name} else None


def _answer(task: Task, name: str, wanted: Tree, *others: str) -> Tree | None:
    """The function of `name` that the answer gives, None where it gives none or a rounded one."""
    tree = task.expression(wanted)
    if tree is None or names_in(tree) - {name, "pi", "e", *others} or operations_in(tree) & _UNSETTLED:
        return None
    return None if has_decimal(tree) else tree


def _identity(task: Task, given: Tree, shown: str, correct: str | None, *lines: str) -> Proof | None:
    """Proved when an expression is identically equal to what is shown, refuted when it certainly differs."""
    wanted = tree_of(shown)
    if wanted is None:
        return None
    same = task.same(Quantity(given), Quantity(wanted))
    differs = None if same else algebra.differing(task, given, wanted, shown)
    return task.proof(
        same,
        correct,
        *lines,
        differs or task.line("matches" if same else "unequal", expression=shown, given=task.answer),
    )


@kind(
    "derivative",
    rf"{_FIND}(?: the)?(?: first)? derivative of (?:{_DEFINED})?{_EXPRESSION}{_WITH_RESPECT}",
    rf"differentiate\s*:?\s*(?:{_DEFINED})?{_EXPRESSION}{_WITH_RESPECT}",
    rf"(?:if|let|given) {_DEFINED}{_EXPRESSION}\s?,\s?(?:then )?(?:find|what is|compute|determine) (?:[fgh]\s?'\s?\(\s?[a-z]\s?\)|y'|dy\s?/\s?dx)",
    rf"(?:(?:find|compute|evaluate)\s*+)?(?:d\s?/\s?d(?P<name>[a-z])|\\frac\s?\{{d\}}\s?\{{d(?P<other>[a-z])\}})\s*[\[(]{_EXPRESSION}[\])]",
    rf"(?:求|求函数|计算)\s*(?:{_DEFINED})?{_EXPRESSION}\s*的[导導][数數](?:是什么)?",
)
def _derivative(task: Task) -> Proof | None:
    function = _function(task)
    answer = _answer(task, *function) if function is not None else None
    if function is None or answer is None:
        return None
    name, tree = function

    def derived() -> str:
        import sympy

        return algebra.shown(algebra.simplest(sympy.diff(algebra.built(tree), sympy.Symbol(name, real=True))))

    correct = algebra.timed(task, derived)
    if correct is None:
        return None
    line = task.line("derivative", name=name, expression=task["expression"], value=correct)
    return _identity(task, answer, correct, correct, line, task.line("given", given=task.answer))


@kind(
    "antiderivative",
    rf"{_FIND}(?: the| an)?(?: general)? (?:antiderivative|indefinite integral|primitive) of (?:{_DEFINED})?{_EXPRESSION}{_WITH_RESPECT}",
    rf"integrate\s*:?\s*(?:{_DEFINED})?{_EXPRESSION} with respect to (?P<name>[a-z])",
    rf"(?:find|compute|calculate|evaluate|integrate|求|计算|求不定积分)?\s*:?\s*(?:\\int|∫)\s*{_EXPRESSION}\s*d\s?(?P<name>[a-z])",
    rf"求(?:函数)?\s*(?:{_DEFINED})?{_EXPRESSION}\s*的(?:不定[积積]分|原函[数數])",
)
def _antiderivative(task: Task) -> Proof | None:
    function = _function(task)
    answer = _answer(task, *function, *_CONSTANT_OF_INTEGRATION) if function is not None else None
    if function is None or answer is None:
        return None
    name, tree = function
    constants = names_in(answer) & _CONSTANT_OF_INTEGRATION - {name}

    def derived() -> tuple[str, str | None, bool]:
        import sympy

        # ln|u| and ln u have the same derivative wherever both are defined; sympy simplifies only that of ln u.
        inner, symbol = sympy.Wild("inner"), sympy.Symbol(name, real=True)
        given = algebra.built(answer).replace(sympy.log(sympy.Abs(inner)), sympy.log(inner))
        integral = sympy.integrate(algebra.built(tree), symbol)
        found = None if integral.has(sympy.Integral) else f"{algebra.shown(integral)} + C"
        every = all(_takes_every_value(given, sympy.Symbol(constant, real=True)) for constant in constants)
        return algebra.shown(sympy.diff(given, symbol)), found, every

    slope, correct, every = algebra.timed(task, derived) or (None, None, False)
    given = tree_of(slope) if slope is not None else None
    if given is None:
        return None
    line = task.line("differentiate_answer", name=name, given=task.answer, value=slope)
    proof = _identity(task, given, task["expression"], correct, line)
    return None if proof is not None and proof.outcome == "proved" and not every else proof


def _takes_every_value(expression: "sympy.Expr", constant: "sympy.Symbol") -> bool:
    """Whether a constant of integration is a term with a number as its factor (C, -C, C/2), or its logarithm is."""
    import sympy

    slope = sympy.diff(expression, constant)
    factor = slope if slope.is_number else sympy.simplify(slope)
    if not factor.is_number:
        factor = sympy.simplify(slope * constant)
    return bool(factor.is_number and factor.is_real and factor.is_zero is False)


@kind(
    "integral",
    rf"(?:find|compute|calculate|evaluate)(?: the)?(?: definite)? integral of {_EXPRESSION}(?: d(?P<name>[a-z]))? from (?:[a-z]\s?=\s?)?(?P<lower>\S+) to (?P<upper>\S+)",
    rf"(?:find|compute|calculate|evaluate|求|计算|求定积分)?\s*:?\s*(?:\\int|∫)\s*_\s*(?P<lower>{_BOUND})\s*\^\s*(?P<upper>{_BOUND})\s*{_EXPRESSION}\s*d\s?(?P<name>[a-z])",
)
def _integral(task: Task) -> Proof | None:
    function = _function(task)
    lower, upper = tree_of(task["lower"].strip("{}")), tree_of(task["upper"].strip("{}"))
    if function is None or lower is None or upper is None or (names_in(lower) | names_in(upper)) - {"pi", "e"}:
        return None
    name, tree = function

    def integrated() -> str | None:
        import sympy

        symbol = sympy.Symbol(name, real=True)
        expression, low, high = map(algebra.built, (tree, lower, upper))
        if not _is_smooth(expression, symbol, low, high):
            return None
        exact = sympy.integrate(expression, (symbol, low, high))
        numeric = sympy.Integral(expression, (symbol, low, high)).evalf(15)
        if exact.has(sympy.Integral) or not exact.is_real:
            return None
        close = abs(exact.evalf(20) - numeric) <= _CONFIRMED * max(1, abs(numeric))
        return algebra.shown(algebra.simplest(exact)) if close else None

    correct = algebra.timed(task, integrated)
    if correct is None:
        return None
    bounds = {"lower": task["lower"], "upper": task["upper"]}
    return task.compared(
        task.line("integral", expression=task["expression"], value=correct, **bounds), correct, whole=False
    )


def _is_smooth(expression: "sympy.Expr", symbol: "sympy.Symbol", low: "sympy.Expr", high: "sympy.Expr") -> bool:
    """Whether the integrand has no singularity that sympy knows of between the limits, ends included."""
    import sympy

    if expression.is_polynomial(symbol):
        return True
    between = sympy.Interval(min(low, high), max(low, high))
    return bool(sympy.singularities(expression, symbol, between) == sympy.S.EmptySet)


@kind(
    "limit",
    rf"{_FIND}(?: the)? limit of {_EXPRESSION} as (?P<name>[a-z]) (?:approaches|tends to|goes to|->|\\to) (?P<point>\S+)",
    rf"(?:{_FIND}|求极限|求|计算)?(?: the limit)?\s*:?\s*\\lim\s*_\s*\{{\s*(?P<name>[a-z])\s*(?:\\to|->|→|\\rightarrow)\s*(?P<point>[^{{}}]+?)\s*\}}\s*{_EXPRESSION}",
    rf"求当?\s*(?P<name>[a-z])\s*(?:趋于|趋近于|->|→)\s*(?P<point>\S+?)\s*时\s*,?\s*{_EXPRESSION}\s*的极限",
)
def _limit(task: Task) -> Proof | None:
    function = _function(task)
    point = tree_of(task["point"].strip("{}"))
    if function is None or point is None or names_in(point) - {"pi", "e", "oo"}:
        return None
    name, tree = function

    def approached() -> tuple[str, str] | None:
        import sympy

        symbol = sympy.Symbol(name, real=True)
        expression, at = algebra.built(tree), algebra.built(point)
        exact = sympy.limit(expression, symbol, at, "+-") if at.is_finite else sympy.limit(expression, symbol, at)
        if not exact.is_finite or not exact.is_real or not _is_approached(expression, symbol, at, exact):
            return None
        return algebra.shown(at), algebra.shown(algebra.simplest(exact))

    at, correct = algebra.timed(task, approached) or (None, None)
    if correct is None:
        return None
    return task.compared(
        task.line("limit", name=name, point=at, expression=task["expression"], value=correct), correct, whole=False
    )


def _is_approached(expression: "sympy.Expr", symbol: "sympy.Symbol", at: "sympy.Expr", exact: "sympy.Expr") -> bool:
    """Whether values near the point, from each side that exists, come nearer to the limit."""
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
