"""Reads matrices in LaTeX, sums of matrices, and rows in brackets: [[1, 2], [3, 4]]."""

from collections.abc import Sequence

from touchstone.checks.notation.syntax import parse_tokens
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Tree, value_or_none
from touchstone.checks.values.kinds import Items, Matrix, Quantity, Value
from touchstone.checks.values.pieces import EQUALITY, ORDER, closing, split

_ENVIRONMENTS = frozenset(("matrix", "pmatrix", "bmatrix", "Bmatrix", "array", "smallmatrix"))
"""Without `vmatrix`: it is a determinant, which is a number, and so is a matrix between bars."""
_SYSTEMS = frozenset(("cases", "dcases", "rcases", "aligned", "align", "gathered"))
RELATIONS = EQUALITY | ORDER | {"in"}
ROW, CELL = frozenset(("\\\\",)), frozenset(("&",))


def has_environment(tokens: Sequence[Token]) -> bool:
    """Whether a LaTeX environment begins in the tokens."""
    return any(token.kind == "other" and token.text == "\\begin" for token in tokens)


def matrices(tokens: Sequence[Token]) -> Matrix:
    """The matrix, or the sum of matrices, that the tokens form. Raises NotAnExpressionError if they form none."""
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
    """The matrix whose `\\begin{…}` stands at `place`, and the place behind its `\\end{…}`."""
    inside, end = _inside(tokens, place, _ENVIRONMENTS)
    rows = [row for row in split(inside, ROW)[0] if row]
    return Matrix(tuple(tuple(map(parse_tokens, split(row, CELL)[0])) for row in rows)), end


def _inside(tokens: Sequence[Token], place: int, names: frozenset[str]) -> tuple[Sequence[Token], int]:
    """The content of the environment that begins at `place`, and the place behind its end.

    Raises NotAnExpressionError if none of these names begins there.
    """
    shape = [token.text for token in tokens[place : place + 4]]
    if len(shape) < 4 or shape[0] != "\\begin" or shape[1] != "{" or shape[3] != "}" or shape[2] not in names:  # noqa: PLR2004
        raise NotAnExpressionError("not a matrix, nor a sum of matrices")
    inside = place + 4
    if inside < len(tokens) and tokens[inside].is_sign("{") and shape[2] == "array":
        inside = next((at for at in range(inside, len(tokens)) if tokens[at].is_sign("}")), len(tokens)) + 1
    end = next((at for at in range(inside, len(tokens)) if tokens[at].text == "\\end"), None)
    if end is None or [token.text for token in tokens[end + 1 : end + 4]] != ["{", shape[2], "}"]:
        raise NotAnExpressionError("a matrix that does not end")
    return tokens[inside:end], end + 4


def systems(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with ⟦ and ⟧ around the rows of a system of equations or of a function by cases."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        begin = tokens[place]
        braced = bool(found) and found[-1].is_sign("{", "⦃") and closing(tokens, place - 1) == len(tokens)
        names = _SYSTEMS | _ENVIRONMENTS if braced else _SYSTEMS
        read = value_or_none(_inside, tokens, place, names) if begin.text == "\\begin" else None
        if read is None:
            found.append(begin)
            place += 1
            continue
        inside, place = read
        if braced:
            found.pop()
        rows = (
            token
            for at, token in enumerate(inside)
            if not (token.is_sign("&") and any(each.is_sign(*RELATIONS) for each in inside[max(0, at - 1) : at + 2]))
        )
        found += [begin._replace(kind="open", text="⟦"), *rows, begin._replace(kind="close", text="⟧", spaced=False)]
    return found


def semicolon_rows(inside: Sequence[Token]) -> Items | None:
    """The rows of `[1, 2; 3, 4]` or `[1 2; 3 4]`, without the brackets; None if they are no such rows.

    Raises NotAnExpressionError for semicolons and commas in another shape.
    """
    rows = [_row(row) for row in split(inside, frozenset((";",)))[0]]
    if len(rows) == 1 or max(map(len, rows)) == 1:
        return None
    if len({len(row) for row in rows}) > 1:
        raise NotAnExpressionError("rows of different lengths")
    return Items(tuple(Items(tuple(Quantity(parse_tokens(cell)) for cell in row), "[]") for row in rows), "[]")


def _row(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The cells of a row, with commas or blanks between them."""
    cells, commas = split(tokens, frozenset((",",)))
    starts = [place for place, token in enumerate(tokens) if not place or token.spaced]
    if (
        commas
        or not tokens
        or any(tokens[place].is_sign("+", "-", "*", "/") and tokens[place + 1].spaced for place in starts[:-1])
    ):
        return cells
    return [tokens[start:end] for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True)]


def _sum(left: Matrix, right: Matrix) -> Matrix:
    if list(map(len, left.rows)) != list(map(len, right.rows)):
        raise NotAnExpressionError("a sum of matrices of different shapes")
    pairs = zip(left.rows, right.rows, strict=True)
    return Matrix(tuple(tuple(Apply("add", cells) for cells in zip(*rows, strict=True)) for rows in pairs))


def as_matrix(value: Value) -> Matrix | None:
    """`value` as a matrix, also if it is written as rows in brackets of the same length; None if it is no matrix."""
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
    """The entries of a row, a column or a tuple; None if `value` is none of these."""
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
