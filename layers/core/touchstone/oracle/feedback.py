"""Who may read what of a submission, and when. Whoever may read nothing is told that there is nothing.

    reader              before the task closes                                      after
    author              a failed gate: the criteria, with hints                     everything
                        fastest_first: its own scores, at once
                        quality_first: its two suggestions, whatever the scores are
    owner, other        nothing                                                     everything
    submitters
    anybody else        nothing                                                     nothing

The owner is a party like the others: whoever pays for the work may read it once nothing can be handed in any more. The
step that closes the record of a task closes the task; a clock does not. A contest's ranking and the comparisons of its
finalists can be read once the contest is ranked. What an author reads during an open contest does not depend on the
scores: it is made of the state without the scores, and of the suggestions.
"""

from datetime import datetime
from typing import Literal

from touchstone.errors import Unscored
from touchstone.judges.spends import count_unpriced, known_cost, tokens_of
from touchstone.oracle.aggregation import PENALTY_BELOW, aggregate
from touchstone.oracle.bands import Band
from touchstone.oracle.model import (
    CriterionCheck,
    DimensionScore,
    DimensionVote,
    GateCheck,
    GateVote,
    IndividualScoring,
    RiskFlag,
    Suggestion,
    judges_differ,
)
from touchstone.oracle.ranking import place_of
from touchstone.oracle.submission import FinalistComparison, Standing, Submission, standing
from touchstone.oracle.task import DECIDED, Task
from touchstone.strict import Strict

type Reader = Literal["author", "owner", "submitter"]
"""A party of the task, in relation to one submission. `author`: handed it in. `owner`: pays for the work. `submitter`:
handed in another submission."""


class GateFeedback(Strict):
    """Why a submission did not pass the gate, with a hint for each criterion that it missed.

    If there were several judges, `votes` holds what each of them said, in the order of the criteria.
    """

    type: Literal["gate_check"] = "gate_check"
    criteria_checks: tuple[CriterionCheck, ...]
    votes: tuple[GateVote, ...] = ()


class SuggestionsFeedback(Strict):
    """The feedback that the author of a scored submission may read while the contest is open."""

    type: Literal["individual_scoring"] = "individual_scoring"
    revision_suggestions: tuple[Suggestion, ...]


class IndividualFeedback(Strict):
    """A submission judged by itself, without a comparison with others.

    `penalized_total` (0-100) is the total after the factor `penalty` (0-1) is applied, and `overall_band` is its band.
    """

    type: Literal["individual_scoring"] = "individual_scoring"
    dimension_scores: tuple[DimensionScore, ...]
    overall_band: Band
    revision_suggestions: tuple[Suggestion, ...]
    penalty: float
    penalized_total: float
    risk_flags: tuple[RiskFlag, ...]


class FinalDimensionScore(Strict):
    """The final score (0-100) on one dimension: for a finalist the mean of both orders, for others their own score.

    With several judges, the score is the median of theirs, and `votes` holds what each of them said. `unstable` means
    that a judge named another submission as the better one on this dimension when it was asked in the other order.
    """

    dimension: str
    band: Band
    score: float
    evidence: str
    feedback: str
    flag: Literal["below_expected"] | None
    unstable: bool = False
    votes: tuple[DimensionVote, ...] = ()


class PenaltyReason(Strict):
    """A fixed dimension below the threshold, and the factor (0-1) by which it multiplied the base."""

    dimension: str
    score: float
    factor: float


class ScoringFeedback(Strict):
    """The result of a contest for one submission.

    `weighted_base` and `final_score` are 0-100, `penalty` is 0-1. `rank` counts from 1; it is null for a submission
    that was eliminated, and `eliminated_by` names the dimensions that eliminated it. `unscored` names the dimensions on
    which nobody could compare a finalist with the others. `dimension_scores` then holds only the other dimensions, and
    `weighted_base`, `penalty`, `final_score` and `rank` are null, since they need the missing scores.
    """

    type: Literal["scoring"] = "scoring"
    dimension_scores: tuple[FinalDimensionScore, ...]
    weighted_base: float | None
    penalty: float | None
    penalty_reasons: tuple[PenaltyReason, ...]
    final_score: float | None
    risk_flags: tuple[RiskFlag, ...]
    rank: int | None
    eliminated_by: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()


type Feedback = GateFeedback | SuggestionsFeedback | IndividualFeedback | ScoringFeedback


class SubmissionView(Strict):
    """A submission as one reader may see it.

    `unscored` is why nobody could judge it; it is null unless that is its standing. `because` says it in sentences, but
    not while a contest is open, since what a judge said may name scores. `gate` is the whole gate check with the
    criteria that were met, and who made it; it is null until the task is closed, or if nobody could make the check.
    `batched_until` is when a judge is asked at once unless the provider's batch brings the scores before (UTC); it is
    null if no batch has its questions. `tokens` and `cost_usd` (US dollars, known prices only) are what judging it
    took, null while a contest is open.
    """

    id: str
    task_id: str
    submitter: str
    submitted_at: datetime
    revision: int
    standing: Standing
    unscored: Unscored | None = None
    because: tuple[str, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    gate: GateCheck | None = None
    batched_until: datetime | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    unpriced_calls: int | None = None


def reader_of(task: Task, submission: Submission, *, party: str, submitted: bool) -> Reader | None:
    """What a party is to a submission; None for a stranger.

    `submitted`: whether the party handed in anything to the task.
    """
    if party == submission.submitter:
        return "author"
    if party == task.request.owner:
        return "owner"
    return "submitter" if submitted else None


def view_of(submission: Submission, task: Task, reader: Reader | None) -> SubmissionView | None:
    """What a reader may see of a submission now. None: the reader may see nothing, not even that it exists."""
    closed = task.closed_at is not None
    if reader is None or (reader != "author" and not closed):
        return None
    hidden = task.contest and not closed
    stands = standing(submission, task)
    failure = submission.failure if stands == "unscored" else None
    return SubmissionView(
        id=submission.id,
        task_id=submission.task_id,
        submitter=submission.submitter,
        submitted_at=submission.submitted_at,
        revision=submission.revision,
        standing="gate_passed" if hidden and stands == "scored" else stands,
        unscored=failure.reason if failure is not None else None,
        because=failure.details if failure is not None and not hidden else (),
        feedback=_hidden(submission) if hidden else _open(submission, task),
        gate=submission.gate if closed else None,
        batched_until=submission.batched_until(task),
        tokens=None if hidden else tokens_of(submission.spends),
        cost_usd=None if hidden else known_cost(submission.spends),
        unpriced_calls=None if hidden else count_unpriced(submission.spends),
    )


def _hidden(submission: Submission) -> tuple[Feedback, ...]:
    if submission.individual is not None:
        return (SuggestionsFeedback(revision_suggestions=submission.individual.revision_suggestions),)
    return _gate(submission)


def _open(submission: Submission, task: Task) -> tuple[Feedback, ...]:
    scoring = submission.individual
    if scoring is None:
        return _gate(submission)
    own = IndividualFeedback.model_validate(scoring, from_attributes=True)
    decided = task.contest and task.state in DECIDED
    return (own, _scoring(submission, scoring, task)) if decided else (own,)


def _gate(submission: Submission) -> tuple[Feedback, ...]:
    if submission.gate is None or submission.gate.passed:
        return ()
    return (GateFeedback(criteria_checks=submission.gate.criteria_checks, votes=submission.gate.votes),)


def _scoring(submission: Submission, scoring: IndividualScoring, task: Task) -> ScoringFeedback:
    """The result of a contest for a submission, computed again from the record.

    The scores are those of the comparisons for a finalist, and the submission's own scores for any other.
    """
    finalist = submission.comparisons or submission.uncompared
    scores = submission.comparisons if finalist else scoring.dimension_scores
    by_dimension = {one.dimension: float(one.score) for one in scores}
    total = None if submission.uncompared else aggregate(task.dimensions, by_dimension)
    own = None if total is None else total.final
    penalties = () if total is None else total.penalties
    place = place_of(submission.id, task.places)
    contender = submission.contender
    flags: list[RiskFlag] = [flag for flag in scoring.risk_flags if flag != "judges_disagree" or not finalist]
    if any(one.disagrees for one in submission.comparisons):
        flags.append("orders_disagree")
    if any(judges_differ(one.votes) for one in submission.comparisons):
        flags.append("judges_disagree")
    return ScoringFeedback(
        dimension_scores=tuple(_final(one) for one in scores),
        weighted_base=None if total is None else total.base,
        penalty=None if total is None else total.penalty,
        penalty_reasons=tuple(PenaltyReason.model_validate(one, from_attributes=True) for one in penalties),
        final_score=own if place is None else place.final_score,
        risk_flags=tuple(flags),
        rank=None if place is None else place.rank,
        eliminated_by=() if contender is None else contender.eliminated_by,
        unscored=submission.uncompared,
    )


def _final(score: FinalistComparison | DimensionScore) -> FinalDimensionScore:
    return FinalDimensionScore(
        dimension=score.dimension,
        band=score.band,
        score=float(score.score),
        evidence=score.evidence,
        feedback=score.feedback,
        flag="below_expected" if score.score < PENALTY_BELOW else None,
        unstable=isinstance(score, FinalistComparison) and score.disagrees,
        votes=score.votes,
    )
