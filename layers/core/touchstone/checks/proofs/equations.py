"""Equations in one variable: substitution of the given roots, and completeness by counting all real roots."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import CONSTANTS, Apply, Number, Tree, has_decimal, names_in, operations_in
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.answers import items, unnamed
from touchstone.checks.proofs.kinds import Kind, Task, has_whole_powers, number_of, patterns, tree_of
from touchstone.checks.proofs.polynomials import NotPolynomialError, added, polynomial_of, rational_roots, value_at
from touchstone.checks.proofs.sentences import sentence
from touchstone.checks.proofs.values import may_be_rounding

if TYPE_CHECKING:
    import sympy

MAX_DEGREE = 8
RATIONAL_OPERATIONS = frozenset({"add", "mul", "div", "neg", "pow"})
"""Equations of these operations are rational functions: all their real roots can be counted (Sturm)."""
_NONE = re.compile(
    r"(?:there (?:is|are) )?no (?:real )?(?:solutions?|roots?)(?: exists?)?|无解|無解|(?:方程)?(?:无|没有)(?:实数)?[解根]|\\emptyset|∅",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"all real numbers|infinitely many solutions|any real number|every real number|任意实数|全体实数|无穷多解|无数解|有无数个解|恒成立",
    re.IGNORECASE,
)
_INDEX = re.compile(r"_\{?\d\}?")


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = right` in one variable."""

    text: str
    name: str
    left: Tree
    right: Tree


def equation_of(text: str, name: str | None) -> Equation | None:
    """The equation that the whole of `text` writes, in `name` if given; None where it is none in one variable."""
    sides = text.split("=")
    if len(sides) != 2:  # noqa: PLR2004  (left and right)
        return None
    left, right = tree_of(sides[0]), tree_of(sides[1])
    if left is None or right is None:
        return None
    names = (names_in(left) | names_in(right)) - {"pi"}
    if len(names) != 1 or names & CONSTANTS or (name is not None and names != {name}):
        return None
    return Equation(text.strip(), next(iter(names)), left, right)


@dataclass(frozen=True, slots=True)
class Claim:
    """What an answer claims: the roots, by text and tree; `every`: all numbers."""

    roots: tuple[tuple[str, Tree], ...]
    every: bool = False


def claim_of(answer: str, name: str) -> Claim | None:
    """The roots that an answer names, None where it cannot be read."""
    text = _INDEX.sub("", answer)
    if _NONE.fullmatch(text):
        return Claim(())
    if _ALL.fullmatch(text):
        return Claim((), every=True)
    if re.search(r"\d,\d{3}(?!\d)", text):
        return None
    text = unnamed(text, name)
    braced = re.fullmatch(r"(?:\{|⦃)(.*)(?:\}|⦄)", text)
    found: list[tuple[str, Tree]] = []
    for part in items(braced[1] if braced else text):
        left, equals, right = part.partition("=")
        value = right if equals else left
        if equals and left.strip() != name:
            return None
        for sign in ("", "-") if r"\pm" in value else ("",):
            tree = tree_of(value.replace(r"\pm", "+" if not sign else "-", 1).strip().removeprefix("+ "))
            if tree is None or names_in(tree) - {"pi", "e"} or "degrees" in operations_in(tree):
                return None
            found.append((value.replace(r"\pm", sign).strip(), tree))
    return Claim(tuple(found)) if found else None


def _solve(task: Task) -> Proof | None:
    equation = equation_of(task["equation"], task.parts.get("name"))
    if equation is None:
        return None
    claim = claim_of(task.answer, equation.name)
    if claim is None:
        return None
    if not is_rational_function(equation.left) or not is_rational_function(equation.right):
        return None
    whole = "find" not in task.parts
    plainly = _judged_plainly(task, equation, claim, whole=whole)
    return plainly if plainly is not None else algebra.timed(lambda: _judged(task, equation, claim, whole=whole))


def is_rational_function(tree: Tree) -> bool:
    """Whether an expression is built by + − × ÷ and whole powers alone."""
    return operations_in(tree) <= RATIONAL_OPERATIONS and has_whole_powers(tree)


def _judged_plainly(task: Task, equation: Equation, claim: Claim, *, whole: bool) -> Proof | None:
    """The proof for a linear or quadratic equation with rational roots, without sympy; None for every other."""
    stated = [number_of(text) for text, _ in claim.roots]
    roots = [number.value for number in stated if number is not None]
    try:
        left, right = (polynomial_of(side, equation.name) for side in (equation.left, equation.right))
    except NotPolynomialError:
        return None
    solutions = rational_roots(added(left, right, sign=-1))
    if solutions is None or claim.every or len(roots) < len(stated):
        return None
    story = _Story(task, equation, claim, tuple(map(str, solutions)))
    for number, root in zip(stated, roots, strict=True):
        if root in solutions:
            continue
        if number is not None and any(may_be_rounding(number, solution) for solution in solutions):
            return None
        return story.fails(roots.index(root), str(value_at(left, root)), str(value_at(right, root)))
    missing = [solution for solution in solutions if solution not in roots]
    return story.complete(str(missing[0]) if missing else None, whole=whole)


@dataclass(frozen=True, slots=True)
class _Story:
    """How a proof about an equation is told, once its real solutions are known."""

    task: Task
    equation: Equation
    claim: Claim
    solutions: tuple[str, ...]

    @property
    def correct(self) -> str:
        """All solutions, as an answer."""
        language, name = self.task.language, self.equation.name
        if not self.solutions:
            return "无实数解" if language == "zh" else "no real solution"
        return (" 或 " if language == "zh" else " or ").join(f"{name} = {solution}" for solution in self.solutions)

    @property
    def everything(self) -> str:
        """The line that names all solutions."""
        key = "roots" if self.solutions else "no_roots"
        return sentence(key, self.task.language, equation=self.equation.text, roots=self.correct)

    def _proof(self, outcome: Literal["proved", "refuted"], *lines: str) -> Proof:
        return Proof(outcome=outcome, rule="equation", derivation=lines, correct_answer=self.correct)

    def fails(self, place: int, left: str, right: str) -> Proof:
        """The given root at `place` does not satisfy the equation: its sides are `left` and `right`."""
        root, name = self.claim.roots[place][0], self.equation.name
        line = sentence("root_fails", self.task.language, name=name, root=root, left=left, right=right)
        return self._proof("refuted", line, self.everything)

    def not_all(self) -> Proof:
        """The answer says that every number is a solution."""
        return self._proof("refuted", self.everything)

    def complete(self, missing: str | None, *, whole: bool) -> Proof | None:
        """Every given root satisfies the equation; `missing` is one that was not given. `whole`: all are asked for."""
        language, name = self.task.language, self.equation.name
        holds = [sentence("root_holds", language, name=name, root=text) for text, _ in self.claim.roots]
        if missing is None:
            closing = [sentence("all_found", language)] if self.solutions else []
            return self._proof("proved", *holds, self.everything, *closing)
        if not whole:
            return None
        lacks = sentence("root_missing", language, name=name, root=missing)
        return self._proof("refuted", *holds, self.everything, lacks)


def _judged(task: Task, equation: Equation, claim: Claim, *, whole: bool) -> Proof | None:
    """The proof by substitution and, for rational equations, by counting. `whole`: all roots are asked for."""
    import sympy

    left, right = algebra.built(equation.left), algebra.built(equation.right)
    roots = [root for _, tree in claim.roots if (root := algebra.built(tree)) is not None]
    if left is None or right is None or len(roots) < len(claim.roots):
        return None
    name = sympy.Symbol(equation.name, real=True)
    solutions = real_roots(left - right, name, (equation.left, equation.right))
    if solutions is None:
        return _of_identity(task, equation, claim, left - right)
    story = _Story(task, equation, claim, tuple(map(algebra.shown, solutions)))
    if claim.every:
        return story.not_all()
    for place, root in enumerate(roots):
        if any(algebra.is_zero(root - solution) for solution in solutions):
            continue
        values = [side.subs(name, root) for side in (left, right)]
        if not all(value.is_real and value.is_finite for value in values) or algebra.difference_at(*values) is None:
            return None
        if has_decimal(claim.roots[place][1]) and any(algebra.near(item.evalf(), root.evalf()) for item in solutions):
            return None
        return story.fails(
            place, *(algebra.shown(value if value.is_rational else sympy.N(value, 6)) for value in values)
        )
    missing = [solution for solution in solutions if not any(algebra.is_zero(root - solution) for root in roots)]
    return story.complete(algebra.shown(missing[0]) if missing else None, whole=whole)


def _of_identity(task: Task, equation: Equation, claim: Claim, difference: "sympy.Expr") -> Proof | None:
    import sympy

    if sympy.expand(difference) != 0 or denominators_in(equation.left) or denominators_in(equation.right):
        return None
    line = sentence("always", task.language, equation=equation.text, name=equation.name)
    words = "任意实数" if task.language == "zh" else "all real numbers"
    return Proof(
        outcome="proved" if claim.every else "refuted", rule="equation", derivation=(line,), correct_answer=words
    )


def real_roots(difference: "sympy.Expr", name: "sympy.Symbol", sides: tuple[Tree, ...]) -> "list[sympy.Expr] | None":
    """All distinct real zeros of a rational function with rational coefficients, in order; None where not certain.

    The zeros of the numerator at which no denominator of `sides` vanishes. Their number is checked by Sturm's theorem.
    """
    import sympy

    top, _ = sympy.fraction(sympy.together(difference))
    polynomial = sympy.Poly(sympy.expand(top), name)
    if (
        polynomial.is_zero
        or polynomial.degree() > MAX_DEGREE
        or not all(c.is_rational for c in polynomial.all_coeffs())
    ):
        return None
    if polynomial.degree() == 0:
        return []
    roots = list(dict.fromkeys(sympy.real_roots(polynomial)))
    if len(roots) != polynomial.sqf_part().count_roots():
        return None
    denominators = [denominator for side in sides for denominator in denominators_in(side)]
    poles = [pole for denominator in denominators if (pole := algebra.built(denominator)) is not None]
    if len(poles) < len(denominators):
        return None
    return [root for root in roots if not any(algebra.is_zero(pole.subs(name, root)) for pole in poles)]


def denominators_in(tree: Tree) -> list[Tree]:
    """What an expression divides by, as written: sympy cancels x²/x before anyone can ask."""
    match tree:
        case Apply(operation="div", arguments=(top, bottom)):
            return [bottom, *denominators_in(top), *denominators_in(bottom)]
        case Apply(operation="pow", arguments=(base, Number(value=exponent))) if exponent >= 0:
            return denominators_in(base)
        case Apply(operation="pow", arguments=(base, exponent)):
            return [base, *denominators_in(base), *denominators_in(exponent)]
        case Apply(arguments=arguments):
            return [found for argument in arguments for found in denominators_in(argument)]
        case _:
            return []


_EQUATION = r"(?P<equation>[^=,;:]+=[^=,;:]+?)"
KINDS = (
    Kind(
        "equation",
        patterns(
            rf"solve(?: the(?: following)?)?(?: (?:linear|quadratic|cubic|rational))?(?: equation)?(?: for (?P<name>[a-z]))?\s*:?\s*{_EQUATION}",
            rf"solve(?: the)?(?: equation)?\s*:?\s*{_EQUATION},? for (?P<name>[a-z])",
            rf"(?:find|determine|give|what are) (?:all )?(?:the )?(?:real )?(?:solutions|roots)(?: of| to)(?: the)?(?: equation)?\s*:?\s*{_EQUATION}",
            rf"find all (?:real )?(?:values of )?(?P<name>[a-z]) (?:such that|for which|with|if|where) {_EQUATION}",
            rf"(?P<find>find|what is|determine)(?: the value of)? (?P<name>[a-z]) (?:if|when|given that|given|such that) {_EQUATION}",
            rf"(?:解方程|解下列方程|解一元[一二]次方程|解分式方程|求解方程|求解)\s*:?\s*{_EQUATION}",
            rf"求方程\s*{_EQUATION}\s*的(?:所有|全部)?(?:实数)?[解根]",
            rf"方程\s*{_EQUATION}\s*的(?:所有|全部)?(?:实数)?[解根]是(?:什么|多少)?",
            rf"(?P<find>若|如果|已知)\s*{_EQUATION}\s*,\s*(?:则|那么|求)\s*(?P<name>[a-z])\s*(?:=|的值|是多少|等于多少|等于几)*",
        ),
        _solve,
    ),
)
