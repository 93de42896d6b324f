"""Who is eliminated, who is compared side by side, and in which order a contest ends."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from touchstone.oracle.bands import ELIMINATED_BELOW, Band, is_lower_band

FINALISTS = 3
"""How many submissions are compared side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A submission that was scored by itself. `bands` maps a dimension to the submission's band; times are UTC."""

    submission_id: str
    submitted_at: datetime
    penalized_total: float
    bands: Mapping[str, Band]

    @property
    def eliminated_by(self) -> tuple[str, ...]:
        """The dimensions whose band is too low to stay in the contest, in their order."""
        return tuple(dimension for dimension, band in self.bands.items() if is_lower_band(band, ELIMINATED_BELOW))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """`finalists` and `others` are the survivors, best first.

    `eliminated` are the rest, in the order of their arrival.
    """

    finalists: tuple[Contender, ...]
    others: tuple[Contender, ...]
    eliminated: tuple[Contender, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a surviving submission. `rank` counts from 1; no two submissions share a rank.

    `final_score` (0-100) is the aggregated comparison score for a finalist, and the own total for others. Both fields
    are null for a finalist that nobody could compare with the others. It ranks before all non-finalists, but its place
    among the finalists is unknown, so no number is invented.
    """

    submission_id: str
    rank: int | None
    final_score: float | None


def shortlist(contenders: Iterable[Contender]) -> Shortlist:
    """Eliminate by band, order by the penalized total, and take the best as finalists.

    Of equal totals, the earlier submission is better.
    """
    arrived = sorted(contenders, key=_arrival)
    survivors = sorted((one for one in arrived if not one.eliminated_by), key=_individual)
    return Shortlist(
        finalists=tuple(survivors[:FINALISTS]),
        others=tuple(survivors[FINALISTS:]),
        eliminated=tuple(one for one in arrived if one.eliminated_by),
    )


def rank(chosen: Shortlist, horizontal: Mapping[str, float]) -> tuple[Place, ...]:
    """The survivors in the order in which a contest ends. See `winner_of` for who won.

    `horizontal` holds the aggregated horizontal score (0-100) of each finalist that could be compared on every
    dimension. These finalists come first, ranked among themselves. A tie is decided by the individual penalized total,
    then by the earlier submission. Next come the finalists without a horizontal score, unranked, in their individual
    order. All other survivors follow in their individual order. Their ranks always begin after the number of finalists:
    nobody moves up because a judge failed. A single survivor wins on its individual score and needs no horizontal
    score.
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
    """The id of the submission at rank 1. None if nobody survived, or if no finalist could be compared."""
    return next((place.submission_id for place in places if place.rank == 1), None)


def place_of(submission_id: str, places: Iterable[Place]) -> Place | None:
    """The place of a submission. None if it has none: it was eliminated or could not be scored."""
    return next((place for place in places if place.submission_id == submission_id), None)


def _own(one: Contender, place: int) -> Place:
    """A place with the submission's own total as the final score."""
    return Place(submission_id=one.submission_id, rank=place, final_score=one.penalized_total)


def _arrival(one: Contender) -> tuple[datetime, str]:
    return one.submitted_at, one.submission_id


def _individual(one: Contender) -> tuple[float, datetime, str]:
    return -one.penalized_total, *_arrival(one)
