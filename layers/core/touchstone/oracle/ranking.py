"""Who is eliminated, who is compared side by side, and in which order a contest ends."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.oracle.bands import ELIMINATED_BELOW, Band, below

FINALISTS = 3
"""How many are compared side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A submission that was scored by itself. `bands` are its bands by dimension; times are UTC."""

    submission_id: str
    submitted_at: datetime
    penalized_total: float
    bands: Mapping[str, Band]

    @property
    def eliminated_by(self) -> tuple[str, ...]:
        """The dimensions in a band too low to stay in the contest, in their order."""
        return tuple(dimension for dimension, band in self.bands.items() if below(band, ELIMINATED_BELOW))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """`finalists` and `others` survived, best first; `eliminated` did not, in the order of their arrival."""

    finalists: tuple[Contender, ...]
    others: tuple[Contender, ...]
    eliminated: tuple[Contender, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`rank` counts from 1. `final_score`: of a finalist its aggregated horizontal scores, of another its own total."""

    submission_id: str
    rank: int
    final_score: float


def shortlist(contenders: Iterable[Contender]) -> Shortlist:
    """Eliminate by band, order by the penalized total, and take the best; of equals the earlier submission."""
    arrived = sorted(contenders, key=_arrival)
    survivors = sorted((one for one in arrived if not one.eliminated_by), key=_individual)
    return Shortlist(
        finalists=tuple(survivors[:FINALISTS]),
        others=tuple(survivors[FINALISTS:]),
        eliminated=tuple(one for one in arrived if one.eliminated_by),
    )


def rank(chosen: Shortlist, horizontal: Mapping[str, float]) -> tuple[Place, ...]:
    """The survivors in the order in which a contest ends; the first is the winner, and none means no winner.

    `horizontal` holds the aggregated horizontal score (0-100) of each finalist. Ties fall to the individual penalized
    total, then to the earlier submission. One survivor wins on its individual score and needs no horizontal one. Those
    behind the finalists keep their individual order. Raises `KeyError` for a finalist among several without a score.
    """
    finalists = chosen.finalists
    finals = (
        {one.submission_id: one.penalized_total for one in finalists}
        if len(finalists) == 1
        else {one.submission_id: horizontal[one.submission_id] for one in finalists}
    )
    ordered = sorted(finalists, key=lambda one: (-finals[one.submission_id], *_individual(one)))
    finals |= {one.submission_id: one.penalized_total for one in chosen.others}
    return _places([*ordered, *chosen.others], finals)


def _places(ordered: Sequence[Contender], finals: Mapping[str, float]) -> tuple[Place, ...]:
    return tuple(
        Place(submission_id=one.submission_id, rank=rank, final_score=finals[one.submission_id])
        for rank, one in enumerate(ordered, start=1)
    )


def _arrival(one: Contender) -> tuple[datetime, str]:
    return one.submitted_at, one.submission_id


def _individual(one: Contender) -> tuple[float, datetime, str]:
    return -one.penalized_total, *_arrival(one)
