"""Inequalities in one variable between rational functions: solution sets compared point by point.

Both sets are unions of intervals whose ends are among finitely many numbers: the zeros and poles of the inequality and
the ends that the answer names. So they are the same if they agree at every one of these and once between neighbours.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import CONSTANTS, Tree, has_decimal, names_in
from touchstone.checks.proofs import algebra
from touchstone.checks.proofs.answers import unnamed
from touchstone.checks.proofs.equations import denominators_in, is_rational_function, real_roots
from touchstone.checks.proofs.kinds import Kind, Task, patterns, tree_of
from touchstone.checks.proofs.sentences import sentence

if TYPE_CHECKING:
    import sympy

type Piece = tuple["sympy.Expr", bool, "sympy.Expr", bool]
"""An interval: lower end, whether it belongs, upper end, whether it belongs."""
type Contains = Callable[["sympy.Expr"], bool | None]

_SIGN = re.compile(r"(<=|>=|<|>)")
_INTERVAL = re.compile(r"([(\[])([^()\[\],]+),([^()\[\],]+)([)\]])")
_JOIN = re.compile(r"\s?(?:\\cup|∪|\bor\b|或者?)\s?", re.IGNORECASE)
_NONE = re.compile(r"no (?:real )?solutions?|无解|無解|\\emptyset|空集", re.IGNORECASE)
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _solve(task: Task) -> Proof | None:
    parts = _SIGN.split(task["inequality"])
    if len(parts) != 3:  # noqa: PLR2004  (left, sign, right)
        return None
    left, right = tree_of(parts[0]), tree_of(parts[2])
    if left is None or right is None:
        return None
    names = names_in(left) | names_in(right)
    if len(names) != 1 or names & CONSTANTS or not (is_rational_function(left) and is_rational_function(right)):
        return None
    name = next(iter(names))
    if task.parts.get("name", name) != name:
        return None
    return algebra.timed(lambda: _judged(task, name, (left, right), parts[1]))


def _judged(task: Task, name: str, sides: tuple[Tree, Tree], sign: str) -> Proof | None:
    import sympy

    symbol = sympy.Symbol(name, real=True)
    left, right = algebra.built(sides[0]), algebra.built(sides[1])
    pieces = _pieces(task.answer, name)
    if left is None or right is None or pieces is None:
        return None
    poles = [algebra.built(denominator) for side in sides for denominator in denominators_in(side)]
    zeros = real_roots(left - right, symbol, ())
    borders = [real_roots(pole, symbol, ()) for pole in poles if pole is not None and pole.free_symbols]
    if zeros is None or None in poles or None in borders:
        return None
    known = [*zeros, *(point for border in borders for point in border or ())]
    ends = [end for low, _, high, _ in pieces for end in (low, high) if end.is_finite]

    def holds(point: "sympy.Expr") -> bool | None:
        if any(algebra.is_zero(pole.subs(symbol, point)) for pole in poles if pole is not None):
            return False
        if any(algebra.is_zero(point - zero) for zero in zeros):
            return sign in ("<=", ">=")
        return _compared(left.subs(symbol, point) - right.subs(symbol, point), sympy.Integer(0), sign)

    def claimed(point: "sympy.Expr") -> bool | None:
        return _in_pieces(point, pieces)

    correct = _written(name, known, holds)
    if correct is None:
        return None
    line = sentence("interval", task.language, inequality=task["inequality"], solution=correct)
    for point in _points([*known, *ends]):
        true, said = holds(point), claimed(point)
        if true is None or said is None:
            return None
        if true != said:
            key = "interval_in" if true else "interval_out"
            closing = sentence(key, task.language, name=name, point=algebra.shown(point))
            return Proof(outcome="refuted", rule="inequality", derivation=(line, closing), correct_answer=correct)
    closing = sentence("interval_same", task.language)
    return Proof(outcome="proved", rule="inequality", derivation=(line, closing), correct_answer=correct)


def _compared(first: "sympy.Expr", second: "sympy.Expr", sign: str) -> bool | None:
    """`first sign second` for two different real numbers; None where they are too near to tell."""
    import sympy

    gap = sympy.N(first - second, 30)
    if not gap.is_real or abs(gap) < 1e-20:  # noqa: PLR2004  (30 digits are computed)
        return None
    return bool(gap > 0) if ">" in sign else bool(gap < 0)


def _in_pieces(point: "sympy.Expr", pieces: list[Piece]) -> bool | None:
    found = False
    for low, low_in, high, high_in in pieces:
        inside = True
        for end, belongs, sign in ((low, low_in, ">"), (high, high_in, "<")):
            if not end.is_finite:
                continue
            compared = belongs if algebra.is_zero(point - end) else _compared(point, end, sign)
            if compared is None:
                return None
            inside = inside and compared
        found = found or inside
    return found


def _points(borders: "list[sympy.Expr]") -> "list[sympy.Expr]":
    """The borders, a number between each two neighbours, and one beyond each end."""
    import sympy

    ordered = sorted(dict.fromkeys(borders), key=lambda point: sympy.N(point, 30))
    if not ordered:
        return [sympy.Integer(0)]
    between = [sympy.Rational(str(sympy.N((first + second) / 2, 20))) for first, second in pairwise(ordered)]
    beyond = [sympy.floor(ordered[0]) - 1, sympy.ceiling(ordered[-1]) + 1]
    return [*ordered, *between, *beyond]


def _pieces(answer: str, name: str) -> list[Piece] | None:
    """The intervals that an answer names, None where it cannot be read."""
    if _NONE.fullmatch(answer):
        return []
    text = unnamed(answer, name)
    pieces = [_interval(part) or _chain(part, name) for part in _JOIN.split(text)]
    return [piece for piece in pieces if piece is not None] if None not in pieces else None


def _end(text: str) -> "sympy.Expr | None":
    tree = tree_of(text)
    if tree is None or has_decimal(tree) or names_in(tree) - {"oo", "pi"}:
        return None
    return algebra.built(tree)


def _interval(text: str) -> Piece | None:
    match = _INTERVAL.fullmatch(text)
    low, high = (_end(match[2]), _end(match[3])) if match is not None else (None, None)
    if match is None or low is None or high is None:
        return None
    return low, match[1] == "[", high, match[4] == "]"


def _chain(text: str, name: str) -> Piece | None:
    """`x > 2`, `2 < x` or `1 < x <= 3`."""
    import sympy

    parts = [part.strip() for part in _SIGN.split(text)]
    if len(parts) == 3:  # noqa: PLR2004  (left, sign, right)
        left, sign, right = parts
        if right == name:
            left, sign, right = right, _FLIPPED[sign], left
        end = _end(right)
        if left != name or end is None:
            return None
        if ">" in sign:
            return end, "=" in sign, sympy.oo, False
        return -sympy.oo, False, end, "=" in sign
    if len(parts) != 5 or parts[2] != name:  # noqa: PLR2004  (low, sign, name, sign, high)
        return None
    low, high = _end(parts[0]), _end(parts[4])
    if low is None or high is None or parts[1][0] != parts[3][0]:
        return None
    if parts[1][0] == ">":
        return high, "=" in parts[3], low, "=" in parts[1]
    return low, "=" in parts[1], high, "=" in parts[3]


def _written(name: str, borders: "list[sympy.Expr]", holds: Contains) -> str | None:
    """The solution set in words of mathematics, by walking over its borders; None where it cannot be told."""
    import sympy

    ordered = sorted(dict.fromkeys(borders), key=lambda point: sympy.N(point, 30))
    cells: list[tuple[sympy.Expr | None, bool | None]] = []
    for place, point in enumerate(ordered):
        before = ordered[place - 1] if place else None
        middle = sympy.floor(point) - 1 if before is None else sympy.Rational(str(sympy.N((before + point) / 2, 20)))
        cells += [(None, holds(middle)), (point, holds(point))]
    cells.append((None, holds(sympy.ceiling(ordered[-1]) + 1 if ordered else sympy.Integer(0))))
    if any(true is None for _, true in cells):
        return None
    return _sets(name, cells)


def _sets(name: str, cells: "list[tuple[sympy.Expr | None, bool | None]]") -> str:
    """The intervals of alternating open cells and border points, as a union."""
    found: list[str] = []
    start: str | None = None
    for place, (point, true) in enumerate(cells):
        if true and start is None:
            before = cells[place - 1][0] if place else None
            low = (
                f"[{algebra.shown(point)}"
                if point is not None
                else f"({algebra.shown(before)}"
                if before is not None
                else "(-∞"
            )
            start = low
        following = cells[place + 1] if place + 1 < len(cells) else None
        if true and start is not None and (following is None or not following[1]):
            if point is not None:
                high = f"{algebra.shown(point)}]"
            else:
                high = f"{algebra.shown(following[0])})" if following is not None and following[0] is not None else "∞)"
            found.append(f"{start}, {high}")
            start = None
    return f"{name} ∈ {' ∪ '.join(found)}" if found else f"{name} ∈ ∅"


_INEQUALITY = r"(?P<inequality>[^<>=,;:]+(?:<|>)=?[^<>=,;:]+?)"
KINDS = (
    Kind(
        "inequality",
        patterns(
            rf"solve(?: the)?(?: following)?(?: inequality)?(?: for (?P<name>[a-z]))?\s*:?\s*{_INEQUALITY}",
            rf"(?:解不等式|求解不等式|解一元[一二]次不等式)\s*:?\s*{_INEQUALITY}",
            rf"(?:求)?不等式\s*{_INEQUALITY}\s*的解集(?:是(?:什么)?)?",
        ),
        _solve,
    ),
)
