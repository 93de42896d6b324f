"""Polynomials to expand or factor, and expressions to simplify: equal, and in the form that was asked for."""

from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import CONSTANTS, Apply, Tree, has_decimal, names_in, operations_in, size
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import Task, kind, tree_of
from touchstone.checks.proofs.numbers import factors_of
from touchstone.checks.values.kinds import Quantity

if TYPE_CHECKING:
    import sympy

MAX_FACTORED_DEGREE = 12
_EXPRESSION = r"(?P<expression>[^=:<>]+?)"
_OBJECT = r"(?: the (?:following )?(?:polynomial|expression|quadratic|product|brackets))?"


@kind(
    "expand",
    rf"(?:expand|expand and simplify|multiply out){_OBJECT}\s*:?\s*{_EXPRESSION}",
    rf"(?:展开|展開|去括号)\s*:?\s*{_EXPRESSION}",
)
@kind(
    "factor",
    rf"(?:factor|factori[sz]e)(?: completely| fully)?{_OBJECT}\s*:?\s*{_EXPRESSION}(?: completely| fully)?",
    rf"(?:因式分解|分解因式|把下列各式分解因式)\s*:?\s*{_EXPRESSION}",
    rf"[把将將]\s*{_EXPRESSION}\s*(?:因式分解|分解因式)",
)
@kind(
    "simplify",
    rf"simplify{_OBJECT}\s*:?\s*{_EXPRESSION}",
    rf"(?:化简|化簡|合并同类项|合併同類項)\s*:?\s*{_EXPRESSION}",
)
def _form(task: Task) -> Proof | None:
    wanted = tree_of(task["expression"])
    given = task.expression(wanted) if wanted is not None else None
    if wanted is None or given is None or has_decimal(given):
        return None
    if not names_in(wanted) - CONSTANTS or names_in(wanted) & {"i", "e", "oo"} or names_in(given) - names_in(wanted):
        return None
    if max(map(algebra.degree, (wanted, given))) > algebra.MAX_DEGREE:
        return None
    correct = algebra.timed(task, lambda: _in_form(task, wanted))
    if correct is None:
        return None
    same = task.same(Quantity(given), Quantity(wanted))
    if not same:
        said = task.line("given", given=task.answer)
        apart = algebra.differing(task, given, wanted, task["expression"])
        return task.proof(same, correct, said, apart or task.line("unequal", given=task.answer))
    identical = task.line("identical", given=task.answer, expression=task["expression"])
    if task.rule == "factor":
        return _factored(task, wanted, given, identical, correct)
    best = tree_of(correct)
    if task.rule == "simplify":
        shorter = given != wanted and best is not None and size(given) <= size(best)
        return task.proof(shorter or None, correct, identical)
    # No product of sums is left, and like terms are gathered.
    expanded = best is not None and not _has_product_of_sums(given) and _terms(given) == _terms(best)
    return task.proof(expanded or None, correct, identical, task.line("expanded"))


def _in_form(task: Task, wanted: Tree) -> str:
    """The expression in the form that is asked for."""
    import sympy

    forms = {"expand": sympy.expand, "factor": sympy.factor, "simplify": algebra.simplest}
    return algebra.shown(forms[task.rule](algebra.built(wanted)))


def _has_product_of_sums(tree: Tree) -> bool:
    if not isinstance(tree, Apply):
        return False
    if tree.operation in ("mul", "pow", "div") and any("add" in operations_in(part) for part in tree.arguments):
        return True
    return any(map(_has_product_of_sums, tree.arguments))


def _terms(tree: Tree) -> int:
    match tree:
        case Apply(operation="add" | "neg", arguments=arguments):
            return sum(map(_terms, arguments))
    return 1


def _factored(task: Task, wanted: Tree, tree: Tree, line: str, correct: str) -> Proof | None:
    """Proved when every factor is irreducible over the rationals; refuted when nothing was factored that can be."""
    factors = factors_of(tree)
    parts = algebra.timed(task, lambda: [algebra.built(part) for part in (wanted, *(factor for factor, _ in factors))])
    if parts is None or algebra.degree(wanted) > MAX_FACTORED_DEGREE or not all(part.is_polynomial() for part in parts):
        return None
    several = sum(power for _, power in factors) > 1
    if several and algebra.timed(task, lambda: all(map(_is_irreducible, parts[1:]))):
        return task.proof(True, correct, line, task.line("factored"))
    best = tree_of(correct)
    if (
        isinstance(tree, Apply)
        and tree.operation == "add"
        and best is not None
        and sum(p for _, p in factors_of(best)) > 1
    ):
        return task.proof(False, correct, line, task.line("not_factored", value=correct))
    return None


def _is_irreducible(factor: "sympy.Expr") -> bool:
    """Whether a factor, if it is no number, cannot be factored further, not even a number out of it."""
    import sympy

    if not factor.free_symbols:
        return True
    polynomial = sympy.Poly(factor)
    content, _ = polynomial.primitive()
    return bool(polynomial.is_irreducible) and abs(content) == 1
