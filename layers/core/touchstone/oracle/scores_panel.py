"""Several judges of scores: the median on each dimension counts, and what each judge said is kept.

individual    each judge scores the submission by itself ──> median by dimension, its band; totals follow from those
horizontal    each judge compares in both orders, by the same labels ──> median of their means by submission

A median needs the scores of more than half of the judges that are wanted. If a judge failed and its score could move
the median, the median waits for another try of that judge, as long as `wait_for_retry` is true.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import floor
from random import Random

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.panel import JudgePanel, PanelSeat, failure_among, seats_of
from touchstone.oracle.aggregation import PENALTY_BELOW, aggregate
from touchstone.oracle.bands import band_of
from touchstone.oracle.compared import ComparedEntry, ComparisonResult
from touchstone.oracle.entries import FinalistEntry
from touchstone.oracle.horizontal import check_comparable, compare
from touchstone.oracle.material import ReadSubmission
from touchstone.oracle.model import (
    Brief,
    Dimension,
    DimensionScore,
    DimensionVote,
    IndividualScoring,
    RiskFlag,
    judges_differ,
)
from touchstone.oracle.passages import flags_of
from touchstone.oracle.scoring import ScoringResult, check_says_something, score_submission
from touchstone.statistics.votes import median, panel_score


async def score_by_judges(
    brief: Brief,
    dimensions: Sequence[Dimension],
    submission: str,
    *,
    judge: Judge,
    panel: JudgePanel | None,
    deadline: Deadline,
    read: ReadSubmission | None = None,
    use_cache: bool = True,
    wait_for_retry: bool = True,
) -> ScoringResult | NotScored:
    """Score a submission on every dimension: by `judge`, or by the judges of `panel` if it is given.

    Otherwise like `score_submission`. If several judges are tried again, `use_cache` must be true, so that those that
    answered are not paid twice.
    """

    async def score(one: Judge) -> ScoringResult | NotScored:
        return await score_submission(
            brief, dimensions, submission, judge=one, deadline=deadline, read=read, use_cache=use_cache
        )

    if panel is None:
        return await score(judge)
    check_says_something(submission)
    seats = await seats_of(panel, score)
    return seats if isinstance(seats, NotScored) else _scored(dimensions, seats, wait_for_retry=wait_for_retry)


async def compare_by_judges(
    dimension: Dimension,
    entries: Sequence[FinalistEntry],
    *,
    brief: Brief,
    judge: Judge,
    panel: JudgePanel | None,
    deadline: Deadline,
    rng: Random,
    partial: bool = False,
    use_cache: bool = True,
    wait_for_retry: bool = True,
) -> ComparisonResult | NotScored:
    """Compare entries on one dimension: by `judge`, or by the judges of `panel`, who all know the entries by the same
    labels.

    Otherwise like `compare`. If several judges are tried again, `rng` must draw as before and `use_cache` must be true,
    so that those that answered are not paid twice.
    """
    seed = rng.getrandbits(64)

    async def ask(one: Judge) -> ComparisonResult | NotScored:
        labels = Random(seed)  # noqa: S311 - the same for each judge; who knows them gains nothing after the deadline
        return await compare(
            dimension, entries, brief=brief, judge=one, deadline=deadline, rng=labels, partial=partial,
            use_cache=use_cache
        )  # fmt: skip

    if panel is None:
        return await ask(judge)
    check_comparable(entries)
    seats = await seats_of(panel, ask)
    return seats if isinstance(seats, NotScored) else _compared(seats, wait_for_retry=wait_for_retry)


def _scored(
    dimensions: Sequence[Dimension], seats: Sequence[PanelSeat[ScoringResult]], *, wait_for_retry: bool
) -> ScoringResult | NotScored:
    spends = tuple(spend for seat in seats for spend in seat.result.spends)
    results = sorted(
        (seat.answer for seat in seats if seat.answer is not None), key=lambda one: one.scoring.penalized_total
    )
    found = [_dimension(place, seats, wait_for_retry=wait_for_retry) for place in range(len(dimensions))]
    scores = tuple(one for one in found if one is not None)
    if len(scores) < len(dimensions) and (failed := failure_among(seats)) is not None:
        return replace(failed, spends=spends)
    total = aggregate(dimensions, {one.dimension: float(one.score) for one in scores})
    passages = tuple(passage for one in results for passage in one.passages)
    differ: tuple[RiskFlag, ...] = ("judges_disagree",) if any(judges_differ(one.votes) for one in scores) else ()
    return ScoringResult(
        scoring=IndividualScoring(
            dimension_scores=scores,
            overall_band=band_of(total.final),
            revision_suggestions=results[(len(results) - 1) // 2].scoring.revision_suggestions,
            weighted_base=total.base,
            penalty=total.penalty,
            penalized_total=total.final,
            risk_flags=(*flags_of(passages), *differ),
        ),
        readings=tuple(reading for seat in seats if seat.answer is not None for reading in seat.answer.readings),
        passages=tuple(sorted(set(passages), key=lambda one: (one.start, one.end, one.flag))),
        spends=spends,
    )


def _dimension(place: int, seats: Sequence[PanelSeat[ScoringResult]], *, wait_for_retry: bool) -> DimensionScore | None:
    """The score of one dimension; None if it is not decided.

    A half point in the median is dropped: of the two judges in the middle only one gave that much.
    """
    given = [None if seat.answer is None else seat.answer.scoring.dimension_scores[place] for seat in seats]
    middle = panel_score(
        [None if one is None else float(one.score) for one in given],
        pending=_pending(seats, wait_for_retry=wait_for_retry),
    )
    if middle is None:
        return None
    ordered = sorted((one for one in given if one is not None), key=lambda one: one.score)
    score = floor(middle)
    return ordered[(len(ordered) - 1) // 2].model_copy(
        update={
            "score": score,
            "band": band_of(score),
            "flag": "below_expected" if score < PENALTY_BELOW else None,
            "votes": tuple(_vote(seat, one) for seat, one in zip(seats, given, strict=True)),
        }
    )


def _vote(seat: PanelSeat[ScoringResult], score: DimensionScore | None) -> DimensionVote:
    """The vote of a wanted judge on a dimension, as the record keeps it."""
    if seat.answer is None or score is None:
        return _silence(seat)
    by = seat.answer.readings[0]
    return DimensionVote(
        provider=seat.provider,
        model=by.model,
        prompt_version=by.prompt_version,
        score=float(score.score),
        band=score.band,
        evidence=score.evidence,
        feedback=score.feedback,
    )


def _silence[T](seat: PanelSeat[T]) -> DimensionVote:
    if not isinstance(seat.result, NotScored):
        raise TypeError("a judge that said something is not silent")
    return DimensionVote(provider=seat.provider, unscored=seat.result.reason, because=seat.result.details)


def _compared(seats: Sequence[PanelSeat[ComparisonResult]], *, wait_for_retry: bool) -> ComparisonResult | NotScored:
    spends = tuple(spend for seat in seats for spend in seat.result.spends)
    results = [seat.answer for seat in seats if seat.answer is not None]
    found = {label: _entry(label, seats, wait_for_retry=wait_for_retry) for one in results[:1] for label in one.labels}
    entries = {label: one for label, one in found.items() if one is not None}
    waits = len(entries) < len(found) and _pending(seats, wait_for_retry=wait_for_retry)
    if (not entries or waits) and (failed := failure_among(seats)) is not None:
        return replace(failed, spends=spends)
    first = results[0]
    return ComparisonResult(
        dimension=first.dimension,
        labels=first.labels,
        entries=tuple(entries.values()),
        orders=tuple(order for one in results for order in one.orders),
        unstable=any(one.unstable for one in results),
        unscored={
            first.labels[label]: tuple(_faults(first.labels[label], results)) for label in found if label not in entries
        },
        silent=tuple(_silence(seat) for seat in seats if seat.answer is None),
        spends=spends,
    )


def _pending[T](seats: Sequence[PanelSeat[T]], *, wait_for_retry: bool) -> int:
    """How many judges failed, may give a score at another try, and are waited for.

    0 without `wait_for_retry`.
    """
    return sum(seat.pending for seat in seats) if wait_for_retry else 0


def _entry(label: str, seats: Sequence[PanelSeat[ComparisonResult]], *, wait_for_retry: bool) -> ComparedEntry | None:
    """An entry with the median of the scores that the judges gave it; None if the median is not decided."""
    given = [None if seat.answer is None else _of(label, seat.answer) for seat in seats]
    scores = [None if one is None else one.score for one in given]
    middle = panel_score(scores, pending=_pending(seats, wait_for_retry=wait_for_retry))
    if middle is None:
        return None
    ordered = sorted((one for one in given if one is not None), key=lambda one: one.score)
    flags = list(dict.fromkeys(flag for one in ordered for flag in one.risk_flags))
    if median(scores).split:
        flags.append("judges_disagree")
    return ordered[(len(ordered) - 1) // 2].model_copy(
        update={"score": middle, "band": band_of(middle), "risk_flags": tuple(flags)}
    )


def _of(label: str, result: ComparisonResult) -> ComparedEntry | None:
    return next((one for one in result.entries if one.label == label), None)


def _faults(submission_id: str, results: Sequence[ComparisonResult]) -> Iterator[str]:
    """The faults that the judges' replies have about an entry, each sentence once."""
    yield from dict.fromkeys(fault for one in results for fault in one.unscored.get(submission_id, ()))
