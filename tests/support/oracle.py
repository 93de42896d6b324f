"""Tasks and submissions for tests, complete but for what a test is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.briefs import brief, dimensions
from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.oracle.aggregation import aggregate
from touchstone.oracle.bands import band_of
from touchstone.oracle.material import ReadSubmission, SubmissionJudging
from touchstone.oracle.model import (
    Brief,
    CriterionCheck,
    DimensionScore,
    GateCheck,
    IndividualScoring,
    JudgeOpinion,
    RiskFlag,
    Stage,
    Suggestion,
    TaskPath,
    Unjudged,
)
from touchstone.oracle.ranking import Place
from touchstone.oracle.submission import FinalistComparison, Submission
from touchstone.oracle.task import Task, TaskRequest, locked, new_task

NOW = datetime(2026, 11, 21, 6, 30, tzinfo=UTC)
DEADLINE = NOW + timedelta(days=7)
CRITERION = "Names a source for each figure."
TASK_ID, SUBMISSION_ID = "01M7YCR9J0YEPNXK2F1F80QC0C", "01M7YCR9J0YEPNXK2F1F80QC0D"


def a_request(path: TaskPath = "quality_first", **changes: Any) -> TaskRequest:
    """A request for a task that ends in a week."""
    brief = Brief(description="Compare three databases.", acceptance_criteria=(CRITERION,))
    fields = {"brief": brief, "path": path, "owner": "buyer-1", "deadline": DEADLINE, "challenge_seconds": 3600}
    return TaskRequest.model_validate(fields | changes)


def a_task(path: TaskPath = "quality_first", **changes: Any) -> Task:
    """A task that is open."""
    return locked(new_task(a_request(path, **changes), tenant="acme", task_id=TASK_ID, now=NOW), dimensions())


def a_submission(**changes: Any) -> Submission:
    """A submission that was just received."""
    fields: dict[str, Any] = {
        "tenant": "acme",
        "task_id": TASK_ID,
        "id": SUBMISSION_ID,
        "submitter": "writer-1",
        "submitted_at": NOW,
        "revision": 1,
        "text_key": "acme/submissions/1.md",
    }
    return Submission.model_validate(fields | changes)


def passed_gate() -> GateCheck:
    """A gate check whose criterion is met."""
    return GateCheck(criteria_checks=(CriterionCheck(criterion=CRITERION, passed=True, reason="Each has one."),))


def failed_gate() -> GateCheck:
    """A gate check with a hint."""
    missed = CriterionCheck(criterion=CRITERION, passed=False, reason="One has none.", revision_hint="Name it.")
    return GateCheck(criteria_checks=(missed,))


def scoring(score: int = 80, *, risk_flags: tuple[RiskFlag, ...] = (), **others: int) -> IndividualScoring:
    """A scoring with one score for each dimension but for those in `others`."""
    scores = {one.id: others.get(one.id, score) for one in dimensions()}
    total = aggregate(dimensions(), {name: float(value) for name, value in scores.items()})
    return IndividualScoring(
        dimension_scores=tuple(
            DimensionScore(
                dimension=name,
                band=band_of(value),
                score=value,
                evidence=f"The passage on {name}.",
                feedback=f"Clear on {name}.",
                flag="below_expected" if value < 60 else None,
            )
            for name, value in scores.items()
        ),
        overall_band=band_of(total.final),
        revision_suggestions=(
            Suggestion(problem="One source only.", suggestion="Compare a second one.", severity="high"),
            Suggestion(problem="No date.", suggestion="Say when.", severity="low"),
        ),
        weighted_base=total.base,
        penalty=total.penalty,
        penalized_total=total.final,
        risk_flags=risk_flags,
    )


def comparisons(*scores: tuple[int, int], label: str = "B") -> tuple[FinalistComparison, ...]:
    """What was said of a finalist on each dimension, in two orders."""
    return tuple(
        FinalistComparison(
            dimension=one.id, label=label, scores=pair, evidence=f"Its passage on {one.id}.", feedback="Beside others."
        )
        for one, pair in zip(dimensions(), scores, strict=True)
    )


COMPARED = comparisons((90, 80), (70, 70), (88, 76), (61, 61))


def unjudged(stage: Stage) -> Unjudged:
    """Why a stage brought nothing."""
    return Unjudged(stage=stage, reason="timed_out", details=("No reply in time.",))


PLACES = (Place(submission_id=SUBMISSION_ID, rank=1, final_score=95.0),)
READING = JudgeOpinion(
    variant="as_sent",
    dimension_scores=scoring(95).dimension_scores,
    revision_suggestions=scoring(95).revision_suggestions,
    provider="openai",
    model="m",
    prompt_version="0" * 16,
)


async def judging_of(text: str, judge: Judge, *, use_cache: bool = True) -> tuple[SubmissionJudging, ReadSubmission]:
    """A submission to the brief of tests that is to be judged by `judge` within half a minute, and as it was read."""
    task = SubmissionJudging(
        brief=brief(),
        submission=text,
        dimensions=dimensions(),
        judge=judge,
        deadline=Deadline.after(30.0),
        use_cache=use_cache,
    )
    read = await task.read()
    assert isinstance(read, ReadSubmission)
    return task, read
