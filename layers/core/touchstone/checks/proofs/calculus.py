"""Derivatives, antiderivatives, definite integrals and limits."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import CONSTANTS, Tree, has_decimal, names_in, operations_in
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.answers import after_equals
from touchstone.checks.proofs.kinds import Kind, Task, patterns, tree_of
from touchstone.checks.proofs.sentences import sentence

if TYPE_CHECKING:
    import sympy

_CONFIRMED = 1e-8
"""How near sympy's exact value and an independent numerical one must be."""
_STEPS = ("1/1000", "1/100000")
"""Distances from the point of a limit at which the approach is confirmed."""
_UNSETTLED = frozenset({"degrees", "log", "abs", "floor", "ceil", "factorial", "binomial", "pm", "mp"})
_PREFIXES = re.compile(
    r"^(?:[a-zA-Z]\s?'\s?(?:\(\s?[a-z]\s?\))?|[a-zA-Z]\s?\(\s?[a-z]\s?\)|y|dy\s?/\s?dx|\\frac\s?\{dy\}\s?\{dx\}|I)\s?=\s?"
)
_CONSTANT_OF_INTEGRATION = re.compile(r"(?:(?<!\s)\s++)?\+\s*+(?:C|c|K|constant|const)\.?$")


def _function(task: Task) -> tuple[str, Tree] | None:
    """The variable and the function of the problem, None where there is not exactly one variable."""
    tree = tree_of(task["expression"])
    if tree is None or operations_in(tree) & _UNSETTLED:
        return None
    names = names_in(tree) - CONSTANTS
    name = task.parts.get("name") or (next(iter(names)) if len(names) == 1 else None)
    return (name, tree) if name is not None and names == {name} and "i" not in names_in(tree) else None


def _answer(task: Task, name: str, *, forms: frozenset[str] = frozenset()) -> Tree | None:
    text = after_equals(_PREFIXES.sub("", task.answer), forms)
    tree = tree_of(text) if text is not None else None
    if tree is None or names_in(tree) - {name, "pi", "e"} or operations_in(tree) & (_UNSETTLED - {"abs"}):
        return None
    return tree


def _compared(
    task: Task,
    name: str,
    both: "tuple[sympy.Expr, sympy.Expr]",
    *,
    rule: str,
    lines: tuple[str, ...],
    correct: str | None,
) -> Proof | None:
    """Proved when the two are identically equal, refuted when they are certainly different at a point."""
    found, wanted = both
    if algebra.is_zero(found - wanted):
        closing = sentence("matches", task.language, expression=algebra.shown(wanted))
        return Proof(outcome="proved", rule=rule, derivation=(*lines, closing), correct_answer=correct)
    apart = algebra.difference_at(found, wanted)
    if apart is None:
        return None
    closing = sentence(
        "differs",
        task.language,
        expression=algebra.shown(wanted),
        name=name,
        point=apart[0],
        first=apart[1],
        second=apart[2],
    )
    return Proof(outcome="refuted", rule=rule, derivation=(*lines, closing), correct_answer=correct)


def _derivative(task: Task) -> Proof | None:
    function = _function(task)
    answer = _answer(task, function[0]) if function is not None else None
    if function is None or answer is None or has_decimal(answer):
        return None
    name, tree = function

    def work() -> Proof | None:
        import sympy

        expression, given = algebra.built(tree), algebra.built(answer)
        if expression is None or given is None:
            return None
        wanted = sympy.diff(expression, sympy.Symbol(name, real=True))
        shown = algebra.shown(algebra.simplest(wanted))
        line = sentence("derivative", task.language, name=name, expression=task["expression"], value=shown)
        given_line = sentence("given", task.language, given=task.answer)
        return _compared(task, name, (given, wanted), rule="derivative", lines=(line, given_line), correct=shown)

    return algebra.timed(work)


def _antiderivative(task: Task) -> Proof | None:
    function = _function(task)
    stripped = Task(task.parts, _CONSTANT_OF_INTEGRATION.sub("", task.answer), task.language)
    answer = _answer(stripped, function[0]) if function is not None else None
    if function is None or answer is None or has_decimal(answer):
        return None
    name, tree = function

    def work() -> Proof | None:
        import sympy

        symbol = sympy.Symbol(name, real=True)
        expression, given = algebra.built(tree), algebra.built(answer)
        if expression is None or given is None:
            return None
        # ln|u| and ln u have the same derivative wherever both are defined; sympy simplifies only that of ln u.
        inner = sympy.Wild("inner")
        found = sympy.diff(given.replace(sympy.log(sympy.Abs(inner)), sympy.log(inner)), symbol)
        line = sentence(
            "differentiate_answer", task.language, name=name, given=stripped.answer, value=algebra.shown(found)
        )
        integral = sympy.integrate(expression, symbol)
        correct = f"{algebra.shown(integral)} + C" if not integral.has(sympy.Integral) else None
        return _compared(task, name, (found, expression), rule="antiderivative", lines=(line,), correct=correct)

    proof = algebra.timed(work)
    if proof is not None and proof.outcome == "proved":
        return Proof(
            outcome="proved", rule=proof.rule, derivation=proof.derivation, correct_answer=f"{stripped.answer} + C"
        )
    return proof


def _value(task: Task, rule: str, exact: "sympy.Expr", line: str) -> Proof | None:
    """The proof for a problem whose answer is one real number, worked out exactly."""
    text = after_equals(_PREFIXES.sub("", task.answer), frozenset())
    tree = tree_of(text) if text is not None else None
    if tree is None or names_in(tree) - {"pi", "e"}:
        return None
    given = algebra.built(tree)
    if given is None or not given.is_finite:
        return None
    correct = algebra.shown(algebra.simplest(exact))
    if algebra.is_zero(given - exact):
        return task.compared(rule, line, equal=True, correct=correct)
    apart = algebra.difference_at(given, exact)
    is_close = apart is not None and algebra.near(apart[2], apart[1])
    if apart is None or (is_close and (has_decimal(tree) or not exact.is_rational)):
        return None
    return task.compared(rule, line, equal=False, correct=correct)


def _definite(task: Task) -> Proof | None:
    function = _function(task)
    lower, upper = tree_of(task["lower"].strip("{}")), tree_of(task["upper"].strip("{}"))
    if function is None or lower is None or upper is None or (names_in(lower) | names_in(upper)) - {"pi", "e"}:
        return None
    name, tree = function

    def work() -> Proof | None:
        import sympy

        symbol = sympy.Symbol(name, real=True)
        expression, low, high = algebra.built(tree), algebra.built(lower), algebra.built(upper)
        if expression is None or low is None or high is None or not _is_smooth(expression, symbol, low, high):
            return None
        exact = sympy.integrate(expression, (symbol, low, high))
        numeric = sympy.Integral(expression, (symbol, low, high)).evalf(15)
        if (
            exact.has(sympy.Integral)
            or not exact.is_real
            or abs(exact.evalf(20) - numeric) > _CONFIRMED * max(1, abs(numeric))
        ):
            return None
        line = sentence(
            "integral", task.language,
            expression=task["expression"], lower=task["lower"], upper=task["upper"], value=algebra.shown(exact),
        )  # fmt: skip
        return _value(task, "integral", exact, line)

    return algebra.timed(work)


def _is_smooth(expression: "sympy.Expr", symbol: "sympy.Symbol", low: "sympy.Expr", high: "sympy.Expr") -> bool:
    """Whether the integrand has no singularity that sympy knows of between the limits, ends included."""
    import sympy

    if expression.is_polynomial(symbol):
        return True
    between = sympy.Interval(min(low, high), max(low, high))
    return bool(sympy.singularities(expression, symbol, between) == sympy.S.EmptySet)


def _limit(task: Task) -> Proof | None:
    function = _function(task)
    point = tree_of(task["point"].strip("{}"))
    if function is None or point is None or names_in(point) - {"pi", "e", "oo"}:
        return None
    name, tree = function

    def work() -> Proof | None:
        import sympy

        symbol = sympy.Symbol(name, real=True)
        expression, at = algebra.built(tree), algebra.built(point)
        if expression is None or at is None:
            return None
        exact = sympy.limit(expression, symbol, at, "+-") if at.is_finite else sympy.limit(expression, symbol, at)
        if not exact.is_finite or not exact.is_real or not _is_approached(expression, symbol, at, exact):
            return None
        line = sentence(
            "limit", task.language,
            name=name, point=algebra.shown(at), expression=task["expression"], value=algebra.shown(exact),
        )  # fmt: skip
        return _value(task, "limit", exact, line)

    return algebra.timed(work)


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


_WITH_RESPECT = r"(?: with respect to (?P<name>[a-z]))?"
_DEFINED = r"(?:(?:the )?function )?(?:[fgh]\s?\(\s?[a-z]\s?\)|y)\s?=\s?"
_EXPRESSION = r"(?P<expression>[^=:]+?)"
_BOUND = r"(?:\{[^{}]+\}|[-+]?\w+)"
KINDS = (
    Kind(
        "derivative",
        patterns(
            rf"(?:find|compute|calculate|determine|evaluate|what is)(?: the)?(?: first)? derivative of (?:{_DEFINED})?{_EXPRESSION}{_WITH_RESPECT}",
            rf"differentiate\s*:?\s*(?:{_DEFINED})?{_EXPRESSION}{_WITH_RESPECT}",
            rf"(?:if|let|given) {_DEFINED}{_EXPRESSION}\s?,\s?(?:then )?(?:find|what is|compute|determine) (?:[fgh]\s?'\s?\(\s?[a-z]\s?\)|y'|dy\s?/\s?dx)",
            rf"(?:(?:find|compute|evaluate)\s*+)?(?:d\s?/\s?d(?P<name>[a-z])|\\frac\s?\{{d\}}\s?\{{d(?P<other>[a-z])\}})\s*[\[(]{_EXPRESSION}[\])]",
            rf"(?:求|求函数|计算)\s*(?:{_DEFINED})?{_EXPRESSION}\s*的[导導][数數](?:是什么)?",
        ),
        _derivative,
    ),
    Kind(
        "antiderivative",
        patterns(
            rf"(?:find|compute|calculate|determine|evaluate|what is)(?: the| an)?(?: general)? (?:antiderivative|indefinite integral|primitive) of (?:{_DEFINED})?{_EXPRESSION}{_WITH_RESPECT}",
            rf"integrate\s*:?\s*(?:{_DEFINED})?{_EXPRESSION} with respect to (?P<name>[a-z])",
            rf"(?:find|compute|calculate|evaluate|integrate|求|计算|求不定积分)?\s*:?\s*(?:\\int|∫)\s*{_EXPRESSION}\s*d\s?(?P<name>[a-z])",
            rf"求(?:函数)?\s*(?:{_DEFINED})?{_EXPRESSION}\s*的(?:不定[积積]分|原函[数數])",
        ),
        _antiderivative,
    ),
    Kind(
        "integral",
        patterns(
            rf"(?:find|compute|calculate|evaluate)(?: the)?(?: definite)? integral of {_EXPRESSION}(?: d(?P<name>[a-z]))? from (?:[a-z]\s?=\s?)?(?P<lower>\S+) to (?P<upper>\S+)",
            rf"(?:find|compute|calculate|evaluate|求|计算|求定积分)?\s*:?\s*(?:\\int|∫)\s*_\s*(?P<lower>{_BOUND})\s*\^\s*(?P<upper>{_BOUND})\s*{_EXPRESSION}\s*d\s?(?P<name>[a-z])",
        ),
        _definite,
    ),
    Kind(
        "limit",
        patterns(
            rf"(?:find|compute|calculate|evaluate|determine|what is)(?: the)? limit of {_EXPRESSION} as (?P<name>[a-z]) (?:approaches|tends to|goes to|->|\\to) (?P<point>\S+)",
            rf"(?:find|compute|calculate|evaluate|determine|what is|求极限|求|计算)?(?: the limit)?\s*:?\s*\\lim\s*_\s*\{{\s*(?P<name>[a-z])\s*(?:\\to|->|→|\\rightarrow)\s*(?P<point>[^{{}}]+?)\s*\}}\s*{_EXPRESSION}",
            rf"求当?\s*(?P<name>[a-z])\s*(?:趋于|趋近于|->|→)\s*(?P<point>\S+?)\s*时\s*,?\s*{_EXPRESSION}\s*的极限",
        ),
        _limit,
    ),
)
