"""Several judges of one thing: what they say together, and that they do not agree where they do not.

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
"""Points of 100 by which scores may lie apart before the judges count as split: the width of a band."""

type PanelEnd = Literal["agreed", "pending", "split", "lost"]
"""What becomes of a question to several judges. `agreed`: more than half of those that were wanted say the same.
`pending`: judges that failed, and may not the next time, could still make that up. `split`: they differ for good.
`lost`: they do not differ, and too few of them said anything for good."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelVote:
    """What becomes of a question to several judges; `label` is what they agree on, None where they do not.

    `split`: not all votes cast are the same.
    """

    end: PanelEnd
    label: str | None
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


def panel_vote(votes: Sequence[str | None], *, pending: int) -> PanelVote:
    """What more than half of the judges that were wanted say, a vote or None each; else what becomes of the question.

    `pending` of those without a vote may give one at another try.
    """
    found = majority(votes)
    most = found.counts[0][1] if found.counts else 0
    if 2 * most > len(votes):
        return PanelVote(end="agreed", label=found.label, split=found.split)
    if 2 * (most + pending) > len(votes):
        return PanelVote(end="pending", label=None, split=found.split)
    return PanelVote(end="split" if found.split else "lost", label=None, split=found.split)


def panel_score(scores: Sequence[float | None], *, pending: int) -> float | None:
    """The median of what the judges that were wanted give, a score or None each.

    None where half of them or fewer give one, or where one of the `pending` that may give one at another try could
    move it.
    """
    cast = [score for score in scores if score is not None]
    if 2 * len(cast) <= len(scores) or (pending and min(cast) != max(cast)):
        return None
    return median(scores).score
