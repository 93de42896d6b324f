"""Matrices as LaTeX writes them, and sums of them."""

import re

from touchstone.checks.splitting import unbracketed
from touchstone.checks.syntax import parse
from touchstone.checks.tokens import Apply, NotAnExpressionError
from touchstone.checks.values import Matrix

_MATRIX = re.compile(r"\\begin\s?\{([pb]?matrix|array)\}(?:\s?\{[clr|\s]*\})?(.*?)\\end\s?\{\1\}", re.DOTALL)
_PLUS = re.compile(r"(?<=\})\s*\+\s*(?=\\begin)")


def matrices(text: str) -> Matrix:
    """The matrix that `text` writes, or the sum of some. Raises NotAnExpressionError."""
    total: Matrix | None = None
    for part in _PLUS.split(text):
        found = _MATRIX.fullmatch(unbracketed(part.strip())[0])
        if found is None:
            raise NotAnExpressionError("not a matrix, nor a sum of matrices")
        total = _matrix(found[2]) if total is None else _sum(total, _matrix(found[2]))
    if total is None:
        raise NotAnExpressionError("not a matrix")
    return total


def _sum(left: Matrix, right: Matrix) -> Matrix:
    if list(map(len, left.rows)) != list(map(len, right.rows)):
        raise NotAnExpressionError("a sum of matrices of different shapes")
    pairs = zip(left.rows, right.rows, strict=True)
    return Matrix(tuple(tuple(Apply("add", cells) for cells in zip(*rows, strict=True)) for rows in pairs))


def _matrix(body: str) -> Matrix:
    rows = [row for row in re.split(r"\\\\(?:\[[^\]]*\])?", body) if row.strip()]
    return Matrix(tuple(tuple(parse(cell) for cell in row.split("&")) for row in rows))
