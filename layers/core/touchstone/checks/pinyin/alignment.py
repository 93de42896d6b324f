"""Which syllable stands for which character, where they may be read otherwise or some are missing."""

from collections.abc import Sequence
from itertools import zip_longest

from touchstone.chinese.parsing import Readings, Syllable, fits

type Pair = tuple[int | None, int | None]
"""Indices of a syllable and of the character that it stands for; None where one of them has no counterpart."""

type Step = tuple[tuple[int, int], Pair, float]
"""The cell before, the pair that is taken on the way from it, and what that costs."""

MOST_CELLS = 250_000
"""Syllables times characters up to which the cheapest alignment is looked for; beyond, both go in order."""


def aligned(syllables: Sequence[Syllable], readings: Readings) -> list[Pair]:
    """The alignment with the fewest syllables and characters that do not fit.

    A character without `readings` stands for any number of syllables; the suffix r needs no character of its own.
    """
    as_many = len(syllables) == len(readings)
    fit = as_many and all(fits(syllable, readings, at) for at, syllable in enumerate(syllables))
    if fit or len(syllables) * len(readings) > MOST_CELLS:
        return list(zip_longest(range(len(syllables)), range(len(readings))))
    rows, columns = len(syllables) + 1, len(readings) + 1
    price = [[0.0] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            if row or column:
                steps = _steps(row, column, syllables, readings)
                price[row][column] = min(price[i][j] + cost for (i, j), _, cost in steps)
    pairs: list[Pair] = []
    row, column = rows - 1, columns - 1
    while row or column:
        steps = _steps(row, column, syllables, readings)
        (row, column), pair, _ = min(steps, key=lambda step: price[step[0][0]][step[0][1]] + step[2])
        pairs.append(pair)
    return pairs[::-1]


def _steps(row: int, column: int, syllables: Sequence[Syllable], readings: Readings) -> list[Step]:
    """From where a cell can be reached; a pair that does not fit costs less than a syllable and a character alone."""
    steps: list[Step] = []
    is_open = column > 0 and not readings[column - 1]
    if row and column:
        cost = 0.0 if fits(syllables[row - 1], readings, column - 1) else 1.5
        steps.append(((row - 1, column - 1), (row - 1, column - 1), cost))
    if row:
        is_free = is_open or syllables[row - 1].base == "r"
        steps.append(((row - 1, column), (row - 1, column - 1 if is_open else None), 0.0 if is_free else 1.0))
    if column:
        steps.append(((row, column - 1), (None, column - 1), 0.0 if is_open else 1.0))
    return steps
