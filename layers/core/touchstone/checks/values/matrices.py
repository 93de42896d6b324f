"""Matrices as LaTeX writes them, sums of them, and rows in brackets: [[1, 2], [3, 4]]."""

from collections.abc import Sequence

from touchstone.checks.notation.syntax import parse_tokens
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Tree
from touchstone.checks.values.kinds import Items, Matrix, Quantity, Value
from touchstone.checks.values.pieces import split

_ENVIRONMENTS = frozenset(("matrix", "pmatrix", "bmatrix", "Bmatrix", "array", "smallmatrix"))
"""Not `vmatrix`, nor bars around one: that is a determinant, a number."""
_ROW, _CELL = frozenset(("\\\\",)), frozenset(("&",))


def has_environment(tokens: Sequence[Token]) -> bool:
    """Whether a LaTeX environment begins in the tokens."""
    return any(token.kind == "other" and token.text == "\\begin" for token in tokens)


def matrices(tokens: Sequence[Token]) -> Matrix:
    """The matrix that the tokens write, or the sum of some. Raises NotAnExpressionError."""
    total: Matrix | None = None
    place = 0
    while place < len(tokens):
        if total is not None:
            if not tokens[place].is_sign("+"):
                raise NotAnExpressionError("not a sum of matrices")
            place += 1
        begins = [token.text for token in tokens[place : place + 2]]
        bracket = begins[1:] == ["\\begin"] and begins[0] in ("(", "[")
        matrix, place = _environment(tokens, place + bracket)
        if bracket:
            if place >= len(tokens) or not tokens[place].is_sign(")", "]"):
                raise NotAnExpressionError("a bracket that is not closed")
            place += 1
        total = matrix if total is None else _sum(total, matrix)
    if total is None:
        raise NotAnExpressionError("not a matrix")
    return total


def _environment(tokens: Sequence[Token], place: int) -> tuple[Matrix, int]:
    """The matrix whose `\\begin{…}` stands at `place`, and the place behind its end."""
    shape = [token.text for token in tokens[place : place + 4]]
    if len(shape) < 4 or shape[0] != "\\begin" or shape[1] != "{" or shape[3] != "}" or shape[2] not in _ENVIRONMENTS:  # noqa: PLR2004
        raise NotAnExpressionError("not a matrix, nor a sum of matrices")
    inside = place + 4
    if inside < len(tokens) and tokens[inside].is_sign("{") and shape[2] == "array":
        inside = next((at for at in range(inside, len(tokens)) if tokens[at].is_sign("}")), len(tokens)) + 1
    end = next((at for at in range(inside, len(tokens)) if tokens[at].text == "\\end"), None)
    if end is None or [token.text for token in tokens[end + 1 : end + 4]] != ["{", shape[2], "}"]:
        raise NotAnExpressionError("a matrix that does not end")
    rows = [row for row in split(tokens[inside:end], _ROW)[0] if row]
    return Matrix(tuple(tuple(map(parse_tokens, split(row, _CELL)[0])) for row in rows)), end + 4


def _sum(left: Matrix, right: Matrix) -> Matrix:
    if list(map(len, left.rows)) != list(map(len, right.rows)):
        raise NotAnExpressionError("a sum of matrices of different shapes")
    pairs = zip(left.rows, right.rows, strict=True)
    return Matrix(tuple(tuple(Apply("add", cells) for cells in zip(*rows, strict=True)) for rows in pairs))


def as_matrix(value: Value) -> Matrix | None:
    """`value` as a matrix: rows in brackets of the same length; None where it is none."""
    match value:
        case Matrix():
            return value
        case Items(values=values) if values and value.ordered:
            rows = [_cells(each) for each in values]
            cells = tuple(row for row in rows if row is not None)
            if len(cells) == len(rows) and len({len(row) for row in cells}) == 1:
                return Matrix(cells)
    return None


def as_vector(value: Value) -> tuple[Tree, ...] | None:
    """The entries of a row, a column or a tuple; None where `value` is neither."""
    match value:
        case Matrix(rows=(only,)):
            return only
        case Matrix(rows=rows) if all(len(row) == 1 for row in rows):
            return tuple(row[0] for row in rows)
        case Items() if value.ordered:
            return _cells(value)
    return None


def _cells(value: Value) -> tuple[Tree, ...] | None:
    match value:
        case Items(values=values) if value.ordered:
            cells = [each.tree for each in values if isinstance(each, Quantity) and not each.units]
            return tuple(cells) if len(cells) == len(values) else None
    return None
