"""Several judges of one thing: what they say together, and that they do not agree where they do not.

A vote of None is a judge that failed. It is counted as missing and is no vote for anything.
"""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.errors import InputError

SPLIT_BEYOND = 20.0
"""Points of 100 by which scores may lie apart before the judges count as split: the width of a band."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Majority:
    """What most judges say.

    `label` has more than half of the votes cast; None where none has, or nobody voted. `counts` are the votes of each
    label, most first, labels of equal count in alphabetical order. `split`: not all votes cast are the same.
    """

    label: str | None
    counts: tuple[tuple[str, int], ...]
    cast: int
    missing: int
    split: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """The score in the middle, in the unit of the scores; `lowest` and `highest` are the range. None: nobody voted.

    `split`: the range is wider than what was allowed.
    """

    score: float | None
    lowest: float | None
    highest: float | None
    cast: int
    missing: int
    split: bool


def majority(votes: Sequence[str | None]) -> Majority:
    """The label with more than half of the votes cast; the largest of several minorities is no majority."""
    cast = [vote for vote in votes if vote is not None]
    counts = sorted(Counter(cast).items(), key=lambda item: (-item[1], item[0]))
    return Majority(
        label=counts[0][0] if counts and 2 * counts[0][1] > len(cast) else None,
        counts=tuple(counts),
        cast=len(cast),
        missing=len(votes) - len(cast),
        split=len(counts) > 1,
    )


def median(votes: Sequence[float | None], *, split_beyond: float = SPLIT_BEYOND) -> Median:
    """The median of the scores cast; of an even number of them the mean of the two in the middle.

    `split_beyond` is how far the scores may lie apart, in their own unit. Raises `InputError` for a score that is not
    finite.
    """
    cast = [vote for vote in votes if vote is not None]
    if not all(math.isfinite(vote) for vote in cast):
        raise InputError("A score that is not a finite number has no place among votes.", where="votes")
    return Median(
        score=statistics.median(cast) if cast else None,
        lowest=min(cast, default=None),
        highest=max(cast, default=None),
        cast=len(cast),
        missing=len(votes) - len(cast),
        split=bool(cast) and max(cast) - min(cast) > split_beyond,
    )
