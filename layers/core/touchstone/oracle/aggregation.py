"""How the scores of the dimensions become one number: a pure function of the record.

    base    = Σ weightᵢ × scoreᵢ
    penalty = Π over fixed dimensions with score < 60 of score / 60          (else 1)
    final   = base × penalty

The other dimensions cannot make up for a weak fixed one: a credibility of 45 costs a quarter of the whole.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from touchstone import figures
from touchstone.errors import SettingsError
from touchstone.oracle.bands import BANDS, HIGHEST, band_of
from touchstone.oracle.model import (
    WEIGHTS_TOLERANCE,
    Dimension,
    DimensionScore,
    IndividualScoring,
    RiskFlag,
    Suggestion,
)

PENALTY_BELOW = 60.0
"""A fixed dimension brings a penalty if its score is below this."""
PASSES_FROM = 60.0
"""A submission closes a `fastest_first` task if its penalized total is at least this."""
DECIMALS = 6
"""Decimals to which a total is rounded. This is far finer than a score, and coarser than the error that the weights'
tolerance and binary fractions cause in a sum. So four scores of 60 make 60, and equal totals are equal."""
DECIMALS_SHOWN = 2
_REACHED = (PASSES_FROM, *(lowest for lowest, _ in BANDS.values()))
"""What a total may fail to reach: the score from which a submission passes, and the lowest score of each band."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalty:
    """The penalty for one fixed dimension. `factor` (0-1) multiplies the base."""

    dimension: str
    score: float
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A total with its parts: `base` and `final` are 0-100, rounded to `DECIMALS`; `penalty` is 0-1.

    `penalties` are the causes of the penalty, in the order of the dimensions.
    """

    base: float
    penalty: float
    final: float
    penalties: tuple[Penalty, ...]


def aggregate(dimensions: Sequence[Dimension], scores: Mapping[str, float]) -> Aggregate:
    """The aggregate of scores (0-100) by dimension id.

    The total never falls when a score rises, and never exceeds the base. It equals the weighted mean if all fixed
    scores reach `PENALTY_BELOW`. Raises `SettingsError` if the weights do not sum to 1, a dimension occurs twice or has
    no score, a score has no dimension, or a score lies outside 0-100.
    """
    if abs(math.fsum(dimension.weight for dimension in dimensions) - 1.0) > WEIGHTS_TOLERANCE:
        raise SettingsError("The weights of a task's dimensions must sum to 1.")
    if len({dimension.id for dimension in dimensions}) != len(dimensions):
        raise SettingsError("Every dimension of a task must be named once.")
    if {dimension.id for dimension in dimensions} != set(scores):
        raise SettingsError("Every dimension of the task must have a score, and no other.")
    if not all(0.0 <= score <= HIGHEST for score in scores.values()):
        raise SettingsError("Every score must lie between 0 and 100.")
    base = round(math.fsum(dimension.weight * scores[dimension.id] for dimension in dimensions), DECIMALS)
    penalties = tuple(
        Penalty(dimension=dimension.id, score=scores[dimension.id], factor=scores[dimension.id] / PENALTY_BELOW)
        for dimension in dimensions
        if dimension.fixed and scores[dimension.id] < PENALTY_BELOW
    )
    penalty = math.prod(cause.factor for cause in penalties)
    return Aggregate(base=base, penalty=penalty, final=round(base * penalty, DECIMALS), penalties=penalties)


def scoring_of(
    dimensions: Sequence[Dimension],
    scores: tuple[DimensionScore, ...],
    *,
    suggestions: tuple[Suggestion, ...],
    risk_flags: tuple[RiskFlag, ...],
) -> IndividualScoring:
    """The scoring of a submission by itself, with the total that follows from its scores. Raises like `aggregate`."""
    total = aggregate(dimensions, {one.dimension: float(one.score) for one in scores})
    return IndividualScoring(
        dimension_scores=scores,
        overall_band=band_of(total.final),
        revision_suggestions=suggestions,
        weighted_base=total.base,
        penalty=total.penalty,
        penalized_total=total.final,
        risk_flags=risk_flags,
    )


def written_total(total: float, *, bars: Collection[float] = ()) -> str:
    """A total (0-100) as people read it, with two decimals.

    Rounding never lifts it to `PASSES_FROM`, to another band or to one of `bars`, scores that somebody else demands:
    59.996 is "> 59.99".
    """
    return figures.figure(total, DECIMALS_SHOWN, most=HIGHEST, marks=(*_REACHED, *bars))
