"""Who is eliminated, who is compared side by side, and in which order a contest ends."""

from collections.abc import Iterable, Mapping
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
    """Where a survivor ended. `rank` counts from 1; several never share one.

    `final_score` (0-100): of a finalist its aggregated horizontal scores, of another its own total. Both are None for a
    finalist that nobody could compare with the others: it stands ahead of those behind the finalists, and nobody knows
    where among them; a number would be made up.
    """

    submission_id: str
    rank: int | None
    final_score: float | None


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
    """The survivors in the order in which a contest ends; see `winner_of` for who won.

    `horizontal` holds the aggregated horizontal score (0-100) of each finalist that could be compared on every
    dimension. Those come first, ranked among themselves; ties fall to the individual penalized total, then to the
    earlier submission. Behind them stand the finalists without a horizontal score, unranked, in their individual order.
    Those behind the finalists keep that order and their ranks, which begin after all finalists whatever became of them:
    nobody moves up because a judge failed. One survivor wins on its individual score and needs no horizontal one.
    """
    finalists = chosen.finalists
    if len(finalists) == 1:
        return (_own(finalists[0], 1),)
    scored = sorted(
        (one for one in finalists if one.submission_id in horizontal),
        key=lambda one: (-horizontal[one.submission_id], *_individual(one)),
    )
    return (
        *(
            Place(submission_id=one.submission_id, rank=place, final_score=horizontal[one.submission_id])
            for place, one in enumerate(scored, start=1)
        ),
        *(
            Place(submission_id=one.submission_id, rank=None, final_score=None)
            for one in finalists
            if one.submission_id not in horizontal
        ),
        *(_own(one, place) for place, one in enumerate(chosen.others, start=len(finalists) + 1)),
    )


def winner_of(places: Iterable[Place]) -> str | None:
    """The id of the submission at rank 1; None where nobody survived, or where no finalist could be compared."""
    return next((place.submission_id for place in places if place.rank == 1), None)


def _own(one: Contender, place: int) -> Place:
    """A place by the submission's own score."""
    return Place(submission_id=one.submission_id, rank=place, final_score=one.penalized_total)


def _arrival(one: Contender) -> tuple[datetime, str]:
    return one.submitted_at, one.submission_id


def _individual(one: Contender) -> tuple[float, datetime, str]:
    return -one.penalized_total, *_arrival(one)
