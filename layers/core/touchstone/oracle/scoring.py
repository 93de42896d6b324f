"""INDIVIDUAL: a submission judged by itself, band first, on every dimension of its task.

    passages that speak to whoever grades ─ none ──> judged as sent
                                          └ some ──> judged as sent and again without; per dimension the lower counts

The lower score counts so that such a passage can never pay: whatever a judge makes of it, the submission stands no
higher than it would without it. The submission is judged as sent as well, because the passages that were cut out may be
work, as in an essay about such passages. The reader of a result may see both. A second call is made only for a
submission with such passages. Hidden characters alone cost no second call, because no judge is shown them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from touchstone.checks import is_contentless
from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.judges.base import Judge
from touchstone.judges.calls import NotScored
from touchstone.judges.fence import visible
from touchstone.judges.spends import Spend
from touchstone.oracle.aggregation import scoring_of
from touchstone.oracle.flags import flag_passages
from touchstone.oracle.material import ReadSubmission, SubmissionJudging
from touchstone.oracle.model import (
    SUGGESTIONS,
    Brief,
    Dimension,
    DimensionScore,
    IndividualScoring,
    JudgeOpinion,
    Variant,
)
from touchstone.oracle.passages import NOTHING_LEFT, Passage, flags_of, found_by_judge, in_order, seen_by_judges
from touchstone.oracle.replies import MAX_EVIDENCE_CHARS, IndividualReply, faults_of, score_of, suggestions_of

BASE_OUTPUT_TOKENS, TOKENS_PER_DIMENSION = 2048, 768
"""Output tokens of a scoring. A quote, a band and four sentences of feedback take about 350 tokens a dimension in
either language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringResult:
    """A scoring with everything it was computed from, so that each of its numbers can be found again.

    `readings` are the reading of the submission as sent and, if a judge was shown flagged passages, the reading without
    them. `passages` are the flagged passages, as places in the submission. `spends` are all judge calls that were paid
    for.
    """

    scoring: IndividualScoring
    readings: tuple[JudgeOpinion, ...]
    passages: tuple[Passage, ...]
    spends: tuple[Spend, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A reading, the passages that its judge reported, and the judge calls that were paid for it."""

    reading: JudgeOpinion
    passages: tuple[Passage, ...] = ()
    spends: tuple[Spend, ...] = ()


async def score_submission(
    brief: Brief,
    dimensions: Sequence[Dimension],
    submission: str,
    *,
    judge: Judge,
    deadline: Deadline,
    read: ReadSubmission | None = None,
    use_cache: bool = True,
) -> ScoringResult | NotScored:
    """Score a submission on every dimension of its task.

    `read` is the submission as an earlier stage read it and paid for it; None: it is read here. A dimension that no
    judge scored is never a zero: nothing is scored then, and `NotScored` says why. Raises `InputError` for a submission
    that says nothing, because there is nothing in it to quote.
    """
    check_says_something(submission)
    task = SubmissionJudging(
        brief=brief,
        dimensions=tuple(dimensions),
        submission=submission,
        judge=judge,
        deadline=deadline,
        use_cache=use_cache,
    )
    if read is not None:
        return await score_of_read(task, read)
    found = await task.read()
    if isinstance(found, NotScored):
        return found
    scored = await score_of_read(task, found)
    return replace(scored, spends=(*found.spends, *scored.spends))


async def score_of_read(task: SubmissionJudging, read: ReadSubmission) -> ScoringResult | NotScored:
    """The scoring of a submission that says something, as it was read, by the judge of `task`."""
    sent = await _judge(task, read, "as_sent")
    if isinstance(sent, NotScored):
        return sent
    passages = (*await flag_passages(task.submission), *read.passages, *sent.passages)
    flagged = seen_by_judges(passages)
    cut = await _judge_without_flagged(task, read, flagged) if flagged else None
    if isinstance(cut, NotScored):
        return replace(cut, spends=(*sent.spends, *cut.spends))
    return _scored(task.dimensions, sent, cut, passages)


def check_says_something(submission: str) -> None:
    """Raise `InputError` for a submission that says nothing."""
    if is_contentless(submission):
        raise InputError("The submission says nothing that could be scored; the gate fails it first.")


async def _judge_without_flagged(
    task: SubmissionJudging, earlier: ReadSubmission, passages: Sequence[Passage]
) -> _Judged | NotScored:
    """The submission judged without the flagged passages.

    If nothing else is left, code decides that it has no value.
    """
    read = await task.read(passages, earlier)
    if isinstance(read, NotScored):
        return read
    if is_contentless(read.material.text):
        return _Judged(reading=_nothing_left(task, passages[0]), spends=read.spends)
    judged = await _judge(task, read, "without_flagged")
    return replace(judged, spends=(*read.spends, *judged.spends))


async def _judge(task: SubmissionJudging, read: ReadSubmission, variant: Variant) -> _Judged | NotScored:
    """A single reading of the submission by the judge."""
    ids = [dimension.id for dimension in task.dimensions]
    found = await task.ask(
        "individual",
        IndividualReply,
        lambda reply: faults_of(reply, ids, shown=read.material.text, submission=task.submission),
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_PER_DIMENSION * len(task.dimensions),
        description=task.brief.description,
        criteria=list(task.brief.acceptance_criteria),
        dimensions=[one.model_dump(include={"id", "name", "description"}) for one in task.dimensions],
        **read.material.values(),
        suggestions=SUGGESTIONS,
    )
    if isinstance(found, NotScored):
        return found
    by_dimension = {one.dimension: one for one in found.value.dimension_scores}
    reading = JudgeOpinion(
        variant=variant,
        dimension_scores=tuple(score_of(by_dimension[key]) for key in ids),
        revision_suggestions=suggestions_of(found.value.revision_suggestions),
        provider=found.provider,
        model=found.model,
        prompt_version=found.prompt_version,
    )
    reported = found_by_judge([(one.flag, one.quote) for one in found.value.steering], task.submission)
    return _Judged(reading=reading, passages=reported, spends=found.spends)


def _scored(
    dimensions: Sequence[Dimension], sent: _Judged, cut: _Judged | None, passages: Sequence[Passage]
) -> ScoringResult:
    """The scoring with, per dimension, the lower score and its band, evidence and feedback.

    If both are equal, the one as sent counts. The suggestions are those for the submission without its flagged
    passages, so that the passages have no part in them. If that reading has none, the suggestions for the submission as
    sent are taken.
    """
    judged = (sent,) if cut is None else (sent, cut)
    readings = tuple(one.reading for one in judged)
    scores = tuple(
        min(given, key=lambda one: one.score)
        for given in zip(*(reading.dimension_scores for reading in readings), strict=True)
    )
    return ScoringResult(
        scoring=scoring_of(
            dimensions,
            scores,
            suggestions=readings[-1].revision_suggestions or sent.reading.revision_suggestions,
            risk_flags=flags_of(passages),
        ),
        readings=readings,
        passages=in_order(passages),
        spends=tuple(spend for one in judged for spend in one.spends),
    )


def _nothing_left(task: SubmissionJudging, passage: Passage) -> JudgeOpinion:
    quote = visible(task.submission[passage.start : passage.end]).strip()[:MAX_EVIDENCE_CHARS]
    return JudgeOpinion(
        variant="without_flagged",
        dimension_scores=tuple(
            DimensionScore(
                dimension=dimension.id,
                band="E",
                score=0,
                evidence=quote,
                feedback=NOTHING_LEFT[task.language],
                flag="below_expected",
            )
            for dimension in task.dimensions
        ),
        revision_suggestions=(),
        provider=None,
        model=None,
        prompt_version=None,
    )
