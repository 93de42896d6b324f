"""Several judges of scores: the median on each dimension counts, and what each judge said is kept.

individual    each judge scores the submission by itself ──> median by dimension, its band; totals follow from those
horizontal    each judge compares in both orders, by the same labels ──> median of their means by submission

A median needs the scores of more than half of the judges that are wanted. If a judge failed and its score could move
the median, the median waits for another try of that judge, as long as `wait_for_retry` is true.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import floor
from random import Random

from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.panel import JudgePanel, PanelSeat, failure_among, seats_of
from touchstone.oracle.aggregation import PENALTY_BELOW, scoring_of
from touchstone.oracle.bands import band_of
from touchstone.oracle.compared import ComparedEntry, ComparisonResult
from touchstone.oracle.entries import FinalistEntry
from touchstone.oracle.horizontal import check_comparable, compare_in_both_orders
from touchstone.oracle.judging import Judging
from touchstone.oracle.material import ReadSubmission, SubmissionJudging
from touchstone.oracle.model import Dimension, DimensionScore, DimensionVote, RiskFlag, judges_differ
from touchstone.oracle.passages import flags_of, in_order
from touchstone.oracle.scoring import ScoringResult, check_says_something, score_of_read
from touchstone.statistics.votes import median, panel_score


async def score_by_judges(
    task: SubmissionJudging, read: ReadSubmission, *, panel: JudgePanel | None, wait_for_retry: bool = True
) -> ScoringResult | NotScored:
    """Score a submission, as it was read, on every dimension: by the judge of `task`, or by the judges of `panel`.

    Otherwise like `score_submission`. If several judges are tried again, `task.use_cache` must be true, so that those
    that answered are not paid twice.
    """
    check_says_something(task.submission)
    if panel is None:
        return await score_of_read(task, read)
    seats = await seats_of(panel, lambda judge: score_of_read(task.by(judge), read))
    if isinstance(seats, NotScored):
        return seats
    return _scored(task.dimensions, seats, pending=_pending(seats, wait_for_retry=wait_for_retry))


async def compare_by_judges(
    task: Judging,
    dimension: Dimension,
    entries: Sequence[FinalistEntry],
    *,
    panel: JudgePanel | None,
    rng: Random,
    partial: bool = False,
    wait_for_retry: bool = True,
) -> ComparisonResult | NotScored:
    """Compare entries on one dimension: by the judge of `task`, or by the judges of `panel`, who all know the entries
    by the same labels.

    Otherwise like `compare`. If several judges are tried again, `rng` must draw as before and `task.use_cache` must be
    true, so that those that answered are not paid twice.
    """
    check_comparable(entries)
    seed = rng.getrandbits(64)

    async def ask(judge: Judge) -> ComparisonResult | NotScored:
        labels = Random(seed)  # noqa: S311 - the same for each judge; who knows them gains nothing after the deadline
        return await compare_in_both_orders(task.by(judge), dimension, entries, rng=labels, partial=partial)

    if panel is None:
        return await ask(task.judge)
    seats = await seats_of(panel, ask)
    if isinstance(seats, NotScored):
        return seats
    return _compared(seats, pending=_pending(seats, wait_for_retry=wait_for_retry))


def _scored(
    dimensions: Sequence[Dimension], seats: Sequence[PanelSeat[ScoringResult]], *, pending: int
) -> ScoringResult | NotScored:
    spends = tuple(spend for seat in seats for spend in seat.result.spends)
    results = [seat.answer for seat in seats if seat.answer is not None]
    found = [_dimension(place, seats, pending=pending) for place in range(len(dimensions))]
    scores = tuple(one for one in found if one is not None)
    if len(scores) < len(dimensions) and (failed := failure_among(seats)) is not None:
        return replace(failed, spends=spends)
    passages = in_order(passage for one in results for passage in one.passages)
    differ: tuple[RiskFlag, ...] = ("judges_disagree",) if any(judges_differ(one.votes) for one in scores) else ()
    middle = _middle(results, key=lambda one: one.scoring.penalized_total)
    return ScoringResult(
        scoring=scoring_of(
            dimensions,
            scores,
            suggestions=middle.scoring.revision_suggestions,
            risk_flags=(*flags_of(passages), *differ),
        ),
        readings=tuple(reading for one in results for reading in one.readings),
        passages=passages,
        spends=spends,
    )


def _middle[T](given: Iterable[T | None], *, key: Callable[[T], float]) -> T:
    """The one in the middle by `key`, of those that are given; of two in the middle, the lower one."""
    ordered = sorted((one for one in given if one is not None), key=key)
    return ordered[(len(ordered) - 1) // 2]


def _dimension(place: int, seats: Sequence[PanelSeat[ScoringResult]], *, pending: int) -> DimensionScore | None:
    """The score of one dimension; None if it is not decided.

    A half point in the median is dropped: of the two judges in the middle only one gave that much.
    """
    given = [None if seat.answer is None else seat.answer.scoring.dimension_scores[place] for seat in seats]
    median_score = panel_score([None if one is None else float(one.score) for one in given], pending=pending)
    if median_score is None:
        return None
    score = floor(median_score)
    return _middle(given, key=lambda one: one.score).model_copy(
        update={
            "score": score,
            "band": band_of(score),
            "flag": "below_expected" if score < PENALTY_BELOW else None,
            "votes": tuple(_vote(seat, place) for seat in seats),
        }
    )


def _vote(seat: PanelSeat[ScoringResult], place: int) -> DimensionVote:
    """The vote of a wanted judge on a dimension, as the record keeps it."""
    if isinstance(seat.result, NotScored):
        return _silence(seat.provider, seat.result)
    by, score = seat.result.readings[0], seat.result.scoring.dimension_scores[place]
    return DimensionVote(
        provider=seat.provider,
        model=by.model,
        prompt_version=by.prompt_version,
        score=float(score.score),
        band=score.band,
        evidence=score.evidence,
        feedback=score.feedback,
    )


def _silence(provider: str | None, failure: NotScored) -> DimensionVote:
    return DimensionVote(provider=provider, unscored=failure.reason, because=failure.details)


def _compared(seats: Sequence[PanelSeat[ComparisonResult]], *, pending: int) -> ComparisonResult | NotScored:
    spends = tuple(spend for seat in seats for spend in seat.result.spends)
    results = [seat.answer for seat in seats if seat.answer is not None]
    found = {label: _entry(label, seats, pending=pending) for one in results[:1] for label in one.labels}
    entries = {label: one for label, one in found.items() if one is not None}
    waits = len(entries) < len(found) and pending
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
        silent=tuple(_silence(seat.provider, seat.result) for seat in seats if isinstance(seat.result, NotScored)),
        spends=spends,
    )


def _pending[T](seats: Sequence[PanelSeat[T]], *, wait_for_retry: bool) -> int:
    """How many judges failed, may give a score at another try, and are waited for.

    0 without `wait_for_retry`.
    """
    return sum(seat.pending for seat in seats) if wait_for_retry else 0


def _entry(label: str, seats: Sequence[PanelSeat[ComparisonResult]], *, pending: int) -> ComparedEntry | None:
    """An entry with the median of the scores that the judges gave it; None if the median is not decided."""
    given = [None if seat.answer is None else _of(label, seat.answer) for seat in seats]
    scores = [None if one is None else one.score for one in given]
    score = panel_score(scores, pending=pending)
    if score is None:
        return None
    ordered = sorted((one for one in given if one is not None), key=lambda one: one.score)
    flags = list(dict.fromkeys(flag for one in ordered for flag in one.risk_flags))
    if median(scores).split:
        flags.append("judges_disagree")
    return _middle(ordered, key=lambda one: one.score).model_copy(
        update={"score": score, "band": band_of(score), "risk_flags": tuple(flags)}
    )


def _of(label: str, result: ComparisonResult) -> ComparedEntry | None:
    return next((one for one in result.entries if one.label == label), None)


def _faults(submission_id: str, results: Sequence[ComparisonResult]) -> Iterator[str]:
    """The faults that the judges' replies have about an entry, each sentence once."""
    yield from dict.fromkeys(fault for one in results for fault in one.unscored.get(submission_id, ()))
