"""Linear systems of two or three equations with exactly one solution."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from fractions import Fraction

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import (
    CONSTANTS,
    Apply,
    Name,
    NotAnExpressionError,
    Number,
    Tree,
    has_decimal,
    names_in,
)
from touchstone.checks.proofs.kinds import Kind, Task, number_of, patterns, tree_of
from touchstone.checks.proofs.sentences import sentence
from touchstone.checks.values.exact import rational

type Linear = dict[str, Fraction]
"""A linear expression: coefficient by name, the constant under the empty name."""
_SPLIT = re.compile(r"\s?(?:[,;，；]|\band\b|和|且|\n)\s?")
_ORDERED = (["x", "y"], ["x", "y", "z"], ["a", "b"], ["a", "b", "c"], ["m", "n"])
"""Names whose order is settled, so that (7, 3) can be read."""


class _NotLinearError(Exception):
    """The expression is not linear in its names."""


def linear(tree: Tree) -> Linear:
    """The linear expression that a tree writes. Raises `_NotLinearError` for anything else."""
    match tree:
        case Name(name) if name not in CONSTANTS:
            return {name: Fraction(1)}
        case Apply(operation="neg", arguments=(inner,)):
            return {name: -value for name, value in linear(inner).items()}
        case Apply(operation="add", arguments=(left, right)):
            total = linear(left)
            for name, value in linear(right).items():
                total[name] = total.get(name, Fraction(0)) + value
            return total
        case Apply(operation="mul" | "div" as operation, arguments=(left, right)):
            if operation == "mul" and not names_in(left):
                left, right = right, left
            factor = _constant(right)
            factor = factor if operation == "mul" else 1 / factor
            return {name: value * factor for name, value in linear(left).items()}
        case _:
            return {"": _constant(tree)}


def _constant(tree: Tree) -> Fraction:
    if names_in(tree):
        raise _NotLinearError
    try:
        value = rational(tree)
    except NotAnExpressionError:
        raise _NotLinearError from None
    if value is None:
        raise _NotLinearError
    return value


def unique_solution(rows: list[Linear], names: list[str]) -> Linear | None:
    """The one solution of `row = 0` for all rows, by Gauss's elimination over fractions; None if not exactly one."""
    left = [[row.get(name, Fraction(0)) for name in names] + [-row.get("", Fraction(0))] for row in rows]
    for column in range(len(names)):
        pivot = next((at for at in range(column, len(left)) if left[at][column]), None)
        if pivot is None:
            return None
        left[column], left[pivot] = left[pivot], left[column]
        left[column] = [value / left[column][column] for value in left[column]]
        for at, row in enumerate(left):
            if at != column and row[column]:
                left[at] = [value - row[column] * base for value, base in zip(row, left[column], strict=True)]
    if any(any(row) for row in left[len(names) :]):
        return None
    return {name: left[at][-1] for at, name in enumerate(names)}


def _equations(text: str) -> list[tuple[str, Linear, Linear]] | None:
    """The equations of a system, each with its sides."""
    text = re.sub(r"\\(?:begin|end)\s?\{(?:cases|array|aligned)\}(?:\s?\{[lcr]+\})?|&|⦃|\{", " ", text)
    found: list[tuple[str, Linear, Linear]] = []
    for part in _SPLIT.split(text.strip(" ,;.")):
        sides = [tree_of(side) for side in part.split("=")]
        if len(sides) != 2 or sides[0] is None or sides[1] is None:  # noqa: PLR2004  (left and right)
            return None
        try:
            found.append((part, linear(sides[0]), linear(sides[1])))
        except (_NotLinearError, ZeroDivisionError):
            return None
    return found


def _solve(task: Task) -> Proof | None:
    equations = _equations(task["system"])
    if equations is None or not 2 <= len(equations) <= 4:  # noqa: PLR2004  (one equation is no system)
        return None
    rows = [_difference(left, right) for _, left, right in equations]
    names = sorted({name for row in rows for name in row if name})
    solution = unique_solution(rows, names) if len(names) in (2, 3) and len(rows) >= len(names) else None
    given = _given(task.answer, names)
    if solution is None or given is None:
        return None
    correct = ", ".join(f"{name} = {solution[name]!s}" for name in names)
    line = sentence("system", task.language, solution=correct)
    if all(given[name].value == solution[name] for name in names):
        lines = (sentence("system_holds", task.language), line)
        return Proof(outcome="proved", rule="system", derivation=lines, correct_answer=correct)
    if any(has_decimal(given[name]) for name in names):
        return None
    values = {name: number.value for name, number in given.items()}
    for text, left, right in equations:
        first, second = _at(left, values), _at(right, values)
        if first != second:
            fails = sentence("system_fails", task.language, equation=text, left=str(first), right=str(second))
            return Proof(outcome="refuted", rule="system", derivation=(fails, line), correct_answer=correct)
    return None


def _difference(left: Linear, right: Linear) -> Linear:
    return {name: left.get(name, Fraction(0)) - right.get(name, Fraction(0)) for name in left | right}


def _at(expression: Linear, values: dict[str, Fraction]) -> Fraction:
    return sum((factor * values.get(name, Fraction(1)) for name, factor in expression.items()), Fraction(0))


def _given(answer: str, names: list[str]) -> dict[str, Number] | None:
    """The value that an answer gives to each name, None where it does not give exactly one to each."""
    text = re.sub(r"\\(?:begin|end)\s?\{cases\}|[{}⦃⦄]", " ", answer).strip()
    tuple_ = re.fullmatch(r"(?:\(\s*([a-z](?:\s*,\s*[a-z])+)\s*\)\s*=\s*)?\(([^()]*)\)", text)
    if tuple_ is not None:
        order = tuple_[1].replace(" ", "").split(",") if tuple_[1] else names
        values = [number_of(part) for part in tuple_[2].split(",")]
        if (not tuple_[1] and names not in _ORDERED) or sorted(order) != names or len(values) != len(names):
            return None
        return _whole({name: value for name, value in zip(order, values, strict=True) if value is not None}, names)
    found: dict[str, Number] = {}
    for part in _SPLIT.split(text):
        name, equals, right = (piece.strip() for piece in part.partition("="))
        value = number_of(right)
        if not equals or value is None or name in found:
            return None
        found[name] = value
    return _whole(found, names)


def _whole(found: dict[str, Number], names: list[str]) -> dict[str, Number] | None:
    return found if sorted(found) == names else None


_SYSTEM = r"(?P<system>.+=.+=.+)"
KINDS = (
    Kind(
        "system",
        patterns(
            rf"solve(?: the)?(?: following)?(?: (?:linear |simultaneous )?(?:system|equations|system of (?:linear )?equations))?(?: for x and y)?\s*:?\s*{_SYSTEM}",
            rf"(?:解方程组|解方程組|解下列方程组|解二元一次方程组|求解方程组|解三元一次方程组)\s*:?\s*{_SYSTEM}",
        ),
        _solve,
    ),
)
