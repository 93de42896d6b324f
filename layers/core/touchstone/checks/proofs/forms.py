"""Polynomials to expand or factor, and expressions to simplify: the answer must be equal and in the wanted form."""

from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.trees import CONSTANTS, Apply, Tree
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import ProofTask, kind, tree_of
from touchstone.checks.proofs.numbers import factors_of
from touchstone.checks.values.kinds import Quantity

if TYPE_CHECKING:
    import sympy

MAX_FACTORED_DEGREE = 12


@kind("expand")
@kind("factor")
@kind("simplify")
def _form(task: ProofTask) -> Proof | None:
    wanted = parse(task["expression"])
    given = task.expression(wanted)
    if given is None or given.has_decimal:
        return None
    if not wanted.names - CONSTANTS or wanted.names & {"i", "e", "oo"} or given.names - wanted.names:
        return None
    if max(map(algebra.degree, (wanted, given))) > algebra.MAX_DEGREE:
        return None
    correct = algebra.timed(task, lambda: _in_form(task, wanted))
    if correct is None:
        return None
    same = task.same(Quantity(given), Quantity(wanted))
    if not same:
        line_given = task.line("given", given=task.answer)
        difference = algebra.difference_line(task, given, wanted, task["expression"])
        return task.proof(same, correct, line_given, difference or task.line("unequal", given=task.answer))
    identical = task.line("identical", given=task.answer, expression=task["expression"])
    if task.rule == "factor":
        return _factored(task, wanted, given, identical, correct)
    best = tree_of(correct)
    if task.rule == "simplify":
        shorter = given != wanted and best is not None and len(given.parts) <= len(best.parts)
        return task.proof(shorter or None, correct, identical)
    # The answer is expanded if no product of sums is left and like terms are collected.
    expanded = best is not None and not _has_product_of_sums(given) and _terms(given) == _terms(best)
    return task.proof(expanded or None, correct, identical, task.line("expanded"))


def _in_form(task: ProofTask, wanted: Tree) -> str:
    """The expression in the form that the problem asks for."""
    import sympy

    forms = {"expand": sympy.expand, "factor": sympy.factor, "simplify": algebra.simplest}
    return algebra.expression_text(forms[task.rule](algebra.to_sympy(wanted)))


def _has_product_of_sums(tree: Tree) -> bool:
    if not isinstance(tree, Apply):
        return False
    if tree.operation in ("mul", "pow", "div") and any("add" in part.operations for part in tree.arguments):
        return True
    return any(map(_has_product_of_sums, tree.arguments))


def _terms(tree: Tree) -> int:
    match tree:
        case Apply(operation="add" | "neg", arguments=arguments):
            return sum(map(_terms, arguments))
    return 1


def _factored(task: ProofTask, wanted: Tree, tree: Tree, line: str, correct: str) -> Proof | None:
    """Prove that every factor is irreducible over the rationals; refute a sum that could be factored.

    Undecided in all other cases.
    """
    factors = factors_of(tree)
    parts = algebra.timed(
        task, lambda: [algebra.to_sympy(part) for part in (wanted, *(factor for factor, _ in factors))]
    )
    if parts is None or algebra.degree(wanted) > MAX_FACTORED_DEGREE or not all(part.is_polynomial() for part in parts):
        return None
    several = sum(power for _, power in factors) > 1
    if several and algebra.timed(task, lambda: all(map(_is_irreducible, parts[1:]))):
        return task.proof(True, correct, line, task.line("factored"))
    best = tree_of(correct)
    is_sum = isinstance(tree, Apply) and tree.operation == "add"
    if is_sum and best is not None and sum(power for _, power in factors_of(best)) > 1:
        return task.proof(False, correct, line, task.line("not_factored", value=correct))
    return None


def _is_irreducible(factor: "sympy.Expr") -> bool:
    """Whether a factor is a number, or a polynomial that cannot be factored further and has no numerical factor."""
    import sympy

    if not factor.free_symbols:
        return True
    polynomial = sympy.Poly(factor)
    content, _ = polynomial.primitive()
    return bool(polynomial.is_irreducible) and abs(content) == 1
