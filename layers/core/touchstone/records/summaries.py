"""What a list shows of an answer: small enough that an index can carry it."""

from datetime import datetime
from typing import Literal

from touchstone.answers.model import AnswerRecord, Difficulty, EvaluationState, Stage, Status
from touchstone.judges.spends import unpriced
from touchstone.strict import Strict

SUMMARY_CHARS = 160


class AnswerSummary(Strict):
    """One line of a list of answers. `problem` and `answer` have at most 160 characters, None before they exist.

    What is longer ends in an ellipsis. `overall` is the deep evaluation's score (0–1), None before there is one.
    """

    id: str
    kind: Literal["verify", "solve"]
    stage: Stage
    created_at: datetime
    updated_at: datetime
    problem: str | None
    answer: str | None
    subject: str | None
    difficulty: Difficulty | None
    model: str | None
    attempt_count: int
    verification_status: Status | None
    verification_confidence: float | None
    evaluation: EvaluationState
    overall: float | None
    cost_usd: float | None
    unpriced_calls: int = 0
    batch_id: str | None


def summary_of(record: AnswerRecord) -> AnswerSummary:
    """The summary of a record; shows the best attempt, or the latest while none is chosen."""
    shown = record.best or (record.attempts[-1] if record.attempts else None)
    return AnswerSummary(
        id=record.id,
        kind=record.kind,
        stage=record.stage,
        created_at=record.created_at,
        updated_at=record.updated_at,
        problem=None if record.problem is None else _beginning(record.problem),
        answer=None if shown is None else _beginning(shown.solution.answer),
        subject=record.subject,
        difficulty=record.difficulty,
        model=None if shown is None else shown.solution.model,
        attempt_count=record.attempt_count,
        verification_status=record.verification_status,
        verification_confidence=record.verification_confidence,
        evaluation=record.evaluation.state,
        overall=None if record.deep_evaluation is None else record.deep_evaluation.overall,
        cost_usd=record.cost_usd,
        unpriced_calls=unpriced(record.spends),
        batch_id=record.batch_id,
    )


def _beginning(text: str) -> str:
    return text if len(text) <= SUMMARY_CHARS else f"{text[: SUMMARY_CHARS - 1]}…"
