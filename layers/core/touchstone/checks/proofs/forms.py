"""Polynomials to expand or factor, and expressions to simplify: equal, and in the form that was asked for."""

from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import CONSTANTS, Apply, Number, Tree, has_decimal, names_in, operations_in, size
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.answers import after_equals
from touchstone.checks.proofs.equations import RATIONAL_OPERATIONS
from touchstone.checks.proofs.kinds import Kind, Task, has_whole_powers, patterns, tree_of
from touchstone.checks.proofs.sentences import sentence

if TYPE_CHECKING:
    import sympy

MAX_DEGREE = 12


def _pair(task: Task) -> tuple[Tree, Tree] | None:
    """The expression of the problem and that of the answer, over the same names; None where they cannot be read."""
    wanted = tree_of(task["expression"])
    text = task.answer
    left, equals, right = text.rpartition("=")
    if equals:
        text = right if tree_of(left) == wanted else ""
    given = tree_of(text) if after_equals(text, frozenset()) is not None else None
    if wanted is None or given is None or not names_in(wanted) - CONSTANTS or names_in(wanted) & {"i", "e", "oo"}:
        return None
    if has_decimal(given) or not names_in(given) <= names_in(wanted):
        return None
    allowed = operations_in(wanted) | operations_in(given) <= RATIONAL_OPERATIONS
    return (wanted, given) if allowed and has_whole_powers(wanted) and has_whole_powers(given) else None


def _judged(task: Task, rule: str, goal: str) -> Proof | None:
    pair = _pair(task)
    if pair is None:
        return None
    return algebra.timed(lambda: _of_pair(task, rule, goal, *pair))


def _of_pair(task: Task, rule: str, goal: str, wanted_tree: Tree, given_tree: Tree) -> Proof | None:
    import sympy

    wanted, given = algebra.built(wanted_tree), algebra.built(given_tree)
    if wanted is None or given is None:
        return None
    made = {"expand": sympy.expand, "factor": sympy.factor, "simplify": algebra.simplest}[goal](wanted)
    correct = algebra.shown(made)
    if not algebra.is_zero(wanted - given):
        apart = algebra.difference_at(given, wanted)
        if apart is None:
            return None
        names = sorted(str(symbol) for symbol in wanted.free_symbols)
        if len(names) > 1:
            line = sentence("unequal", task.language, given=task.answer)
        else:
            line = sentence(
                "differs", task.language,
                expression=task["expression"], name=names[0], point=apart[0], first=apart[1], second=apart[2],
            )  # fmt: skip
        given_line = sentence("given", task.language, given=task.answer)
        return Proof(outcome="refuted", rule=rule, derivation=(given_line, line), correct_answer=correct)
    line = sentence("identical", task.language, given=task.answer, expression=task["expression"])
    match goal:
        case "expand":
            return _expanded(task, given, given_tree, line, correct)
        case "factor":
            return _factored(task, wanted, given_tree, line, correct)
        case _:
            if wanted_tree == given_tree or size(given_tree) > _size_of(made):
                return None
            return Proof(outcome="proved", rule=rule, derivation=(line,), correct_answer=correct)


def _size_of(expression: "sympy.Expr") -> int:
    """The size that an expression has when it is written down."""
    tree = tree_of(str(expression).replace("**", "^"))
    return size(tree) if tree is not None else 0


def _expanded(task: Task, given: "sympy.Expr", tree: Tree, line: str, correct: str) -> Proof | None:
    """Proved when no product of sums is left and like terms are gathered."""
    if _has_product_of_sums(tree) or _terms(tree) != len(given.expand().as_ordered_terms()):
        return None
    closing = sentence("expanded", task.language)
    return Proof(outcome="proved", rule="expand", derivation=(line, closing), correct_answer=correct)


def _has_product_of_sums(tree: Tree) -> bool:
    if not isinstance(tree, Apply):
        return False
    if tree.operation in ("mul", "pow", "div") and any("add" in operations_in(part) for part in tree.arguments):
        return True
    return any(map(_has_product_of_sums, tree.arguments))


def _terms(tree: Tree) -> int:
    match tree:
        case Apply(operation="add", arguments=arguments):
            return sum(map(_terms, arguments))
        case Apply(operation="neg", arguments=(inner,)):
            return _terms(inner)
        case _:
            return 1


def _factored(task: Task, wanted: "sympy.Expr", tree: Tree, line: str, correct: str) -> Proof | None:
    """Proved when every factor is irreducible over the rationals; refuted when nothing was factored that can be."""
    import sympy

    if not wanted.is_polynomial() or sympy.Poly(wanted).total_degree() > MAX_DEGREE:
        return None
    _, true_factors = sympy.factor_list(wanted)
    factors = [algebra.built(factor) for factor in _factors(tree)]
    if any(factor is None or not factor.is_polynomial() for factor in factors):
        return None
    polynomials = [factor for factor in factors if factor is not None and factor.free_symbols]
    if len(factors) > 1 and all(_is_irreducible(factor) for factor in polynomials):
        closing = sentence("factored", task.language)
        return Proof(outcome="proved", rule="factor", derivation=(line, closing), correct_answer=correct)
    if (
        len(factors) == 1
        and sum(power for _, power in true_factors) > 1
        and isinstance(tree, Apply)
        and tree.operation == "add"
    ):
        closing = sentence("not_factored", task.language, value=correct)
        return Proof(outcome="refuted", rule="factor", derivation=(line, closing), correct_answer=correct)
    return None


def _is_irreducible(factor: "sympy.Expr") -> bool:
    """Whether a factor cannot be factored further, not even a number out of it."""
    import sympy

    polynomial = sympy.Poly(factor)
    content, _ = polynomial.primitive()
    return bool(polynomial.is_irreducible) and abs(content) == 1


def _factors(tree: Tree) -> list[Tree]:
    """The factors of a written product, each as often as its power says (once is enough: they are only inspected)."""
    match tree:
        case Apply(operation="mul", arguments=arguments):
            return [factor for argument in arguments for factor in _factors(argument)]
        case Apply(operation="neg", arguments=(inner,)):
            return _factors(inner)
        case Apply(operation="pow", arguments=(base, Number(value=exponent))) if (
            exponent > 1 and exponent.denominator == 1
        ):
            return [*_factors(base), *_factors(base)]
        case _:
            return [tree]


_EXPRESSION = r"(?P<expression>[^=:<>]+?)"
_OBJECT = r"(?: the (?:following )?(?:polynomial|expression|quadratic|product|brackets))?"
KINDS = (
    Kind(
        "expand",
        patterns(
            rf"(?:expand|expand and simplify|multiply out){_OBJECT}\s*:?\s*{_EXPRESSION}",
            rf"(?:展开|展開|去括号)\s*:?\s*{_EXPRESSION}",
        ),
        lambda task: _judged(task, "expand", "expand"),
    ),
    Kind(
        "factor",
        patterns(
            rf"(?:factor|factori[sz]e)(?: completely| fully)?{_OBJECT}\s*:?\s*{_EXPRESSION}(?: completely| fully)?",
            rf"(?:因式分解|分解因式|把下列各式分解因式)\s*:?\s*{_EXPRESSION}",
            rf"[把将將]\s*{_EXPRESSION}\s*(?:因式分解|分解因式)",
        ),
        lambda task: _judged(task, "factor", "factor"),
    ),
    Kind(
        "simplify",
        patterns(
            rf"simplify{_OBJECT}\s*:?\s*{_EXPRESSION}",
            rf"(?:化简|化簡|合并同类项|合併同類項)\s*:?\s*{_EXPRESSION}",
        ),
        lambda task: _judged(task, "simplify", "simplify"),
    ),
)
