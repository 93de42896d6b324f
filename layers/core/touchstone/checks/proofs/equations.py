"""Equations, inequalities and linear systems: the answer is compared with all real solutions, one by one."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from string import ascii_lowercase
from typing import Literal

from touchstone.checks.algebra.expressions import Algebra
from touchstone.checks.findings import Proof
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.trees import CONSTANTS, Name, NotAnExpressionError, Number, Tree, difference
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.kinds import DECIMAL_COMMA, WORDS, ProofTask, kind
from touchstone.checks.values.exact import Linear, linear, rational
from touchstone.checks.values.intervals import Span, merged
from touchstone.checks.values.kinds import Interval, Items, Quantity, Region, Solutions, Value, Words
from touchstone.checks.values.reading import as_region, read

_EQUAL = re.compile("(=)")
_ORDER = re.compile(r"(<=|>=|<|>)")
_SPLIT = re.compile(r"\s?(?:[,;，；]|\band\b|和|且|\n)\s?")
_GROUPED = re.compile(r"\d,\d{3}(?!\d)|\d -\d")
"""One number or two: 1,234 with thousands or as a list, and 3 -3 as a difference or as a list."""
_ALWAYS, _NEVER = (frozenset(WORDS[key]) for key in ("always", "never"))
"""Words that give every number, or no number, as the solution. They count only as the answer to one equation."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Two rational functions of one variable with a sign between them, and the real zeros of their difference.

    `zeros` is None if they are not certain, or if every number is a zero. `poles` are the points where a side as
    written divides by zero.
    """

    name: str
    sides: tuple[Tree, Tree]
    sign: str
    difference: Tree
    zeros: dict[str, Tree] | None
    poles: dict[str, Tree]


def _relation(task: ProofTask, signs: re.Pattern[str]) -> Relation:
    """The relation that the problem states. Raises NotAnExpressionError if it states none of this kind."""
    parts = signs.split(task["relation"])
    sides = [parse(part) for part in parts[::2]]
    if len(parts) != 3 or max(map(algebra.degree, sides)) > algebra.MAX_DEGREE:  # noqa: PLR2004
        raise NotAnExpressionError("not one relation of bounded degree")
    (name, *others) = sides[0].names | sides[1].names or CONSTANTS
    if others or name in CONSTANTS or task.parts.get("name", name) != name:
        raise NotAnExpressionError("not a relation of one variable")
    poles: dict[str, Tree] = {}
    for bottom in (bottom for side in sides for bottom in algebra.denominators_in(side)):
        found = algebra.zeros(task, bottom, name) if bottom.names else {}
        if found is None or (not bottom.names and not rational(bottom)):
            raise NotAnExpressionError("poles that are not certain")
        poles |= found
    gap = difference(sides[0], sides[1])
    return Relation(name, (sides[0], sides[1]), parts[1], gap, algebra.zeros(task, gap, name), poles)


def _is_among(task: ProofTask, number: Tree, others: Iterable[Tree]) -> bool | None:
    """Whether `number` equals one of `others`; None if this is not certain."""
    answers = [task.same(Quantity(number), Quantity(other)) for other in others]
    return True if True in answers else None if None in answers else False


@kind("equation")
def _equation(task: ProofTask) -> Proof | None:
    relation = _relation(task, _EQUAL)
    roots = _roots(task, relation.name)
    if relation.zeros is None:
        if roots is None or relation.poles or not task.same(*map(Quantity, relation.sides)):
            return None
        words = "任意实数" if task.language == "zh" else "all real numbers"
        return task.proof(roots == "all", words, task.line("always", equation=task["relation"], name=relation.name))
    are_poles = [_is_among(task, zero, relation.poles.values()) for zero in relation.zeros.values()]
    if roots is None or None in are_poles:
        return None
    zeros = zip(relation.zeros.items(), are_poles, strict=True)
    solutions = dict(zero for zero, is_pole in zeros if not is_pole)
    proof = _proof_by_roots(task, relation, solutions, roots)
    if proof is None or proof.outcome == "proved" or not DECIMAL_COMMA.search(task.answer):
        return proof
    # 3,5 may mean 3.5: the answer is refuted only if both readings are wrong.
    written = DECIMAL_COMMA.sub(".", task.answer)
    other = replace(task, answer=written, given=read(written) or task.given)
    roots = _roots(other, relation.name)
    held = None if roots is None else _proof_by_roots(other, relation, solutions, roots)
    return None if held is None or held.outcome == "proved" else proof


def _proof_by_roots(
    task: ProofTask, relation: Relation, solutions: dict[str, Tree], roots: list[Tree] | Literal["all"]
) -> Proof | None:
    """The proof by all real solutions; each root that the answer gives is substituted into the relation."""
    name, text = relation.name, task["relation"]
    none = "无实数解" if task.language == "zh" else "no real solution"
    correct = (" 或 " if task.language == "zh" else " or ").join(f"{name} = {root}" for root in solutions) or none
    everything = task.line("roots" if solutions else "no_roots", equation=text, roots=correct)
    if roots == "all":
        return task.proof(False, correct, everything)
    lines: list[str] = []
    missing = dict(solutions)
    for root in roots:
        same: list[bool | None] = []
        for found, solution in solutions.items():
            same.append(_is_among(task, root, [solution]))
            if same[-1]:
                missing.pop(found, None)
                lines.append(task.line("root_holds", name=name, root=found))
                break
        else:
            at, left, right = (algebra.value_at(task, tree, name, root) for tree in (Name(name), *relation.sides))
            fails = task.line("root_fails", name=name, root=at, left=left, right=right)
            certain = None not in (left, right, *same) and left != right
            return task.proof(False if certain else None, correct, fails, everything)
    if missing:
        lacks = task.line("root_missing", name=name, root=next(iter(missing)))
        return task.proof(None if "find" in task.parts else False, correct, *lines, everything, lacks)
    return task.proof(True, correct, *lines, everything, *([task.line("all_found")] if solutions else []))


def _roots(task: ProofTask, name: str) -> list[Tree] | Literal["all"] | None:
    """The solutions that an answer names: a list of numbers, or "all" for every number; None if it cannot be read."""
    if _GROUPED.search(task.answer):
        return None
    match task.given:
        case Region(intervals=()):
            return []
        case Region(intervals=(Interval(low=None, high=None),)):
            return "all"
        case Words(text=words) if words in _ALWAYS | _NEVER:
            return "all" if words in _ALWAYS else []
        case Quantity() as only:
            values: list[Value] = [only]
        case Items(values=several, brackets="" | "{}" | "⦃⦄"):
            values = list(several)
        case Solutions(alternatives=alternatives):
            if any(own.partition("_")[0] != name for bindings in alternatives for own, _ in bindings):
                return None
            values = [value for bindings in alternatives for _, value in bindings]
        case _:
            return None
    trees = [value.tree for value in values if isinstance(value, Quantity) and not value.units]
    known = all(tree.names <= {"pi", "e"} for tree in trees)
    return trees if known and len(trees) == len(values) else None


@kind("inequality")
def _inequality(task: ProofTask) -> Proof | None:
    relation = _relation(task, _ORDER)
    if relation.zeros is None or not isinstance(task.given, Region | Items):
        return None
    region, line = as_region(task.given), _Line(task)
    borders = {line.place(zero, shown): "=" in relation.sign for shown, zero in relation.zeros.items()}
    borders |= {line.place(pole, shown): False for shown, pole in relation.poles.items()}
    pieces = [Interval(Number(place), Number(place), True, True) for place, belongs in borders.items() if belongs]
    for low, middle, high in _cells(borders):
        gap = rational(relation.difference.substituted(relation.name, Number(middle)))
        if gap is None:
            return None
        if (gap > 0) == (">" in relation.sign):
            pieces.append(Interval(_number(low), _number(high)))
    solution, given = merged(Region(tuple(pieces))), merged(line.placed(region))
    if solution is None or given is None or region.variable not in (None, relation.name):
        return None
    correct = f"{relation.name} ∈ {' ∪ '.join(map(line.shown, solution)) or '∅'}"
    holds = task.line("interval", inequality=task["relation"], solution=correct)
    ends = {place for span in (*solution, *given) for sign, place in span[::2] if not sign}
    for point in (*ends, *(middle for _, middle, _ in _cells(ends))):
        inside = _is_in(point, solution)
        if inside != _is_in(point, given):
            key = "interval_in" if inside else "interval_out"
            where = task.line(key, name=relation.name, point=line.names.get(point, point))
            return task.proof(False, correct, holds, where)
    return task.proof(True, correct, holds, task.line("interval_same"))


class _Line:
    """The real line with the ends of intervals. Each end gets a rational number as its place; equal ends share one.

    `names` holds the text that shows each place. Raises NotAnExpressionError for ends that may be equal but are not
    certainly so, for example because one is rounded.
    """

    def __init__(self, task: ProofTask) -> None:
        self._task = task
        self._places: list[tuple[Tree, Fraction]] = []
        self.names: dict[Fraction, str] = {}

    def place(self, tree: Tree, shown: str) -> Fraction:
        """The place of the end `tree`; a new place is shown as `shown`."""
        for other, place in self._places:
            same = self._task.same(Quantity(tree), Quantity(other))
            if same:
                return place
            if same is None:
                raise NotAnExpressionError("two ends that may be the same")
        ends = Algebra(self._task.time).bounds(tree)
        if ends is None:
            raise NotAnExpressionError("an end that is no number")
        self._places.append((tree, ends[0]))
        self.names[ends[0]] = shown
        return ends[0]

    def placed(self, region: Region) -> Region:
        """The region with each end replaced by its place."""
        parts = (replace(part, low=self._end(part.low), high=self._end(part.high)) for part in region.intervals)
        return Region(tuple(parts))

    def _end(self, tree: Tree | None) -> Number | None:
        return None if tree is None else Number(self.place(tree, algebra.value_at(self._task, tree, "", tree) or ""))

    def shown(self, span: Span) -> str:
        """An interval in the usual notation."""
        (below, low), low_closed, (above, high), high_closed = span
        first, last = "-∞" if below else self.names[low], "∞" if above else self.names[high]
        return f"{'[' if low_closed else '('}{first}, {last}{']' if high_closed else ')'}"


def _number(place: Fraction | None) -> Number | None:
    return None if place is None else Number(place)


def _cells(borders: Iterable[Fraction]) -> Iterator[tuple[Fraction | None, Fraction, Fraction | None]]:
    """The open intervals between the borders and beyond them, each as its low end, a point inside, its high end."""
    for low, high in pairwise([None, *sorted(borders), None]):
        if low is None:
            yield None, Fraction(0) if high is None else high - 1, high
        else:
            yield low, low + 1 if high is None else (low + high) / 2, high


def _is_in(point: Fraction, spans: tuple[Span, ...]) -> bool:
    place = (0, point)
    inside = (low < place < high for low, _, high, _ in spans)
    return any(inside) or any((place == low and closed) or (place == high and end) for low, closed, high, end in spans)


@kind("system")
def _system(task: ProofTask) -> Proof | None:
    texts = _SPLIT.split(task["system"].strip(" ,;.{⦃"))
    equations = [[parse(side) for side in text.split("=")] for text in texts]
    if not 2 <= len(equations) <= 4 or {len(sides) for sides in equations} != {2}:  # noqa: PLR2004  (one is no system)
        return None
    rows = [linear(difference(left, right)) for left, right in equations]
    names = sorted({name for row in rows for name in row if name})
    solution = _only_solution(rows, names) if len(names) in (2, 3) else None
    given = _named(task.given, names, sorted(names, key=task["system"].find))
    if solution is None or given is None:
        return None
    correct = ", ".join(f"{name} = {value}" for name, value in solution.items())
    line = task.line("system", solution=correct)
    values = {name: rational(tree) for name, tree in given.items()}
    if values == solution:
        return task.proof(True, correct, task.line("system_holds"), line)
    if None in values.values() or any(each.has_decimal for each in given.values()):
        return None
    for text, sides in zip(texts, equations, strict=True):
        left, right = (_at(side, given) for side in sides)
        if left != right:
            return task.proof(False, correct, task.line("system_fails", equation=text, left=left, right=right), line)
    return None


def _at(tree: Tree, values: dict[str, Tree]) -> Fraction | None:
    for name, value in values.items():
        tree = tree.substituted(name, value)
    return rational(tree)


def _only_solution(rows: list[Linear], names: list[str]) -> Linear | None:
    """The solution of `row = 0` for all rows, by Gaussian elimination over fractions; None if not exactly one."""
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


def _named(given: Value, names: list[str], order: list[str]) -> dict[str, Tree] | None:
    """The number that an answer gives to each name; None unless it gives exactly one to each.

    The members of a tuple belong to the names in alphabetical order, which is that of a system of x and y; others must
    also occur in this `order`.
    """
    match given:
        case Solutions(alternatives=(bindings,)) if sorted(name for name, _ in bindings) == names:
            values = dict(bindings)
        case Items(values=several, brackets="()") if len(several) == len(names) and _are_in_order(names, order):
            values = dict(zip(names, several, strict=True))
        case _:
            return None
    trees = {name: value.tree for name, value in values.items() if isinstance(value, Quantity) and not value.units}
    return trees if len(trees) == len(names) else None


def _are_in_order(names: list[str], order: list[str]) -> bool:
    together = "".join(names)
    return together in "xyz" or (together in ascii_lowercase and names == order)
