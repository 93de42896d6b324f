"""An answer as its owner sees it, the same through every door: the API, the command, a batch's results."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from touchstone.answers.answer_key import AnswerTolerance
from touchstone.answers.model import (
    AnswerRecord,
    Attempt,
    DeepEvaluation,
    Difficulty,
    Enrichment,
    EvaluationState,
    Method,
    Stage,
    Status,
    SubmittedPlace,
)
from touchstone.attempts import When
from touchstone.errors import SkipReason, Unanswered
from touchstone.judges.base import JudgeCount
from touchstone.judges.spends import Spend, batch_savings, count_unpriced, tokens_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A status as it is shown beside an answer: its colour and its text."""

    colour: Literal["green", "yellow"]
    text: str


_BADGES: Final[dict[tuple[Status, Literal["zh", "en"]], Badge]] = {
    ("verified", "zh"): Badge(colour="green", text="已验证 ✓"),
    ("verified", "en"): Badge(colour="green", text="Verified ✓"),
    ("caution", "zh"): Badge(colour="yellow", text="建议核实 ⚠"),
    ("caution", "en"): Badge(colour="yellow", text="Check this ⚠"),
}


def badge(status: Status | None, language: Literal["zh", "en"] | None) -> Badge | None:
    """The badge of a status in a language (None: English). None if it has none, as `unverified` or no status yet."""
    if status is None:
        return None
    return _BADGES.get((status, language or "en"))


class EvaluationView(BaseModel):
    """The state of the deep evaluation.

    `not_before` is when an evaluation that waits or is deferred may be tried (UTC). `when` is how it is asked for, null
    if nobody has said so far. If it is submitted, `submitted` is its place in a provider's batch, and when that batch
    has ended at the latest.
    """

    model_config = ConfigDict(frozen=True)

    state: EvaluationState
    requested_at: datetime | None
    not_before: datetime | None
    failure: str | None
    failure_reason: Unanswered | None = None
    when: When | None = None
    submitted: SubmittedPlace | None = None


class AnswerView(BaseModel):
    """An answer with its verdict, and how the verdict was reached.

    `verification_status` is the badge, null until the answer is finished. `verify_passed` is null if nobody decided;
    `skip_reason` and `verify_error` then say why. Confidences are 0–1. `attempts` holds every attempt. `answer` and the
    `verify_…` fields are those of the attempt that is returned.

    `expected` is the answer key that came with the request, empty if there was none. `tolerance` is how far a number
    may differ from it. `failure_reason` is a word for why nobody produced an answer.

    `cost_usd` is the sum of the known prices in US dollars. `saved_usd` is what providers' batches saved; null if none
    was used, or no price is known.

    `judges` is how many judges were wanted. If that is more than one, the `votes` of an attempt's verification hold
    what each judge said, and `split` means that the votes that count differ. `waiting_for` is why nobody decided so
    far, if the verification is tried again; that is not before `waiting_until` (UTC).
    """

    model_config = ConfigDict(frozen=True)

    id: str
    kind: Literal["verify", "solve"]
    stage: Stage
    problem: str | None
    answer: str | None
    steps: str | None
    expected: tuple[str, ...] = ()
    tolerance: AnswerTolerance | None = None
    subject: str | None
    difficulty: Difficulty | None
    language: Literal["zh", "en"] | None
    knowledge_points: tuple[str, ...]
    verification_status: Status | None
    verification_confidence: float | None = Field(ge=0.0, le=1.0)
    verify_passed: bool | None
    verify_confidence: float | None = Field(ge=0.0, le=1.0)
    independent_answer: str | None
    verify_error: str | None
    skip_reason: SkipReason | None
    method: Method | None
    uncertain: bool
    derivation: tuple[str, ...]
    attempt_count: int = Field(ge=0)
    attempts: tuple[Attempt, ...]
    retrieved_from: str | None
    enrichment: Enrichment | None
    evaluation: EvaluationView
    deep_evaluation: DeepEvaluation | None
    failure: str | None
    failure_reason: Unanswered | None = None
    spends: tuple[Spend, ...]
    tokens: int = Field(ge=0)
    cost_usd: float | None = Field(ge=0.0)
    unpriced_calls: int = Field(default=0, ge=0)
    saved_usd: float | None = Field(default=None, ge=0.0)
    created_at: datetime
    updated_at: datetime
    batch_id: str | None
    judges: JudgeCount = 1
    split: bool = False
    waiting_for: SkipReason | None = None
    waiting_until: datetime | None = None

    @classmethod
    def of(cls, record: AnswerRecord) -> "AnswerView":
        """The view of a record. The tenant is left out, since the reader is the tenant."""
        shown = record.best or (record.attempts[-1] if record.attempts else None)
        solution = shown.solution if shown else None
        verification = shown.verification if shown else None
        key = record.answer_key
        kept = record.model_dump(include=set(cls.model_fields) & set(AnswerRecord.model_fields) - {"evaluation"})
        return cls(
            **kept,
            answer=solution.answer if solution else None,
            steps=solution.steps if solution else None,
            expected=key.expected if key else (),
            tolerance=key.tolerance if key else None,
            verify_passed=verification.passed if verification else None,
            verify_confidence=verification.confidence if verification else None,
            independent_answer=verification.independent_answer if verification else None,
            verify_error=verification.error if verification else None,
            skip_reason=verification.skip_reason if verification else None,
            method=verification.method if verification else None,
            uncertain=verification.uncertain if verification else False,
            split=verification.split if verification else False,
            derivation=verification.derivation if verification else (),
            attempt_count=record.attempt_count,
            evaluation=EvaluationView(**record.evaluation.model_dump(include=set(EvaluationView.model_fields))),
            tokens=tokens_of(record.spends),
            cost_usd=record.cost_usd,
            waiting_for=record.waiting.reason if record.waiting else None,
            waiting_until=record.waiting.until if record.waiting else None,
            unpriced_calls=count_unpriced(record.spends),
            saved_usd=batch_savings(record.spends),
        )
