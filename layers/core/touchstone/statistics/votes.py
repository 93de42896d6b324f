"""Votes of several judges on one thing: the joint result, and whether the judges are split.

A vote of None is a judge that failed. It is counted as missing and is no vote for anything.
"""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.errors import InputError

SPLIT_BEYOND = 20.0
"""If the scores lie further apart than this (points of 100), the judges count as split. It is the width of a band."""

type PanelEnd = Literal["agreed", "pending", "split", "lost"]
"""The outcome of a question to several judges. `agreed`: more than half of the judges wanted say the same. `pending`:
there is no such majority yet, but judges that failed and can be asked again could still make one. `split`: the votes
differ, and no further try can make a majority. `lost`: the votes do not differ, but too few judges voted, and no
further try can change that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Majority:
    """The label of most judges.

    `label` has more than half of the votes cast; None if no label has, or nobody voted. `counts` gives the votes of
    each label, most first, labels of equal count in alphabetical order. `split`: the votes cast are not all the same.
    """

    label: str | None
    counts: tuple[tuple[str, int], ...]
    cast: int
    missing: int
    split: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """The median score, in the unit of the scores; `lowest` and `highest` are the range. None: nobody voted.

    `split`: the range is wider than allowed.
    """

    score: float | None
    lowest: float | None
    highest: float | None
    cast: int
    missing: int
    split: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelVote:
    """The outcome of a question to several judges. `label` is the label they agree on, None if they do not agree.

    `split`: the votes cast are not all the same.
    """

    end: PanelEnd
    label: str | None
    split: bool


def majority(votes: Sequence[str | None]) -> Majority:
    """The label with more than half of the votes cast. The largest of several minorities is no majority."""
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
    """The median of the scores cast; the mean of the two in the middle if their number is even.

    `split_beyond` is how far the scores may lie apart, in their own unit. Raises `InputError` if a score is not finite.
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


def panel_vote(votes: Sequence[str | None], *, pending: int) -> PanelVote:
    """The label of more than half of the judges wanted, or the outcome if there is none.

    `votes` has one entry for each judge wanted, None for a judge without a vote. `pending` is the number of judges
    without a vote that may give one at another try.
    """
    found = majority(votes)
    most = found.counts[0][1] if found.counts else 0
    if 2 * most > len(votes):
        return PanelVote(end="agreed", label=found.label, split=found.split)
    if 2 * (most + pending) > len(votes):
        return PanelVote(end="pending", label=None, split=found.split)
    return PanelVote(end="split" if found.split else "lost", label=None, split=found.split)


def panel_score(scores: Sequence[float | None], *, pending: int) -> float | None:
    """The median score of the judges wanted.

    `scores` has one entry for each judge wanted, None for a judge without a score. `pending` judges may give a score at
    another try. None if half of the judges or fewer gave a score, or if a pending judge could move the median.
    """
    cast = [score for score in scores if score is not None]
    if 2 * len(cast) <= len(scores) or (pending and min(cast) != max(cast)):
        return None
    return median(scores).score
