"""Records of answers for tests: a clock that is moved by hand, and builders that fill in what does not matter."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from touchstone.answers.model import AnswerRecord, Attempt, DeepEvaluation, Enrichment, Solution, Verification
from touchstone.errors import SkipReason
from touchstone.judges.spends import Spend
from touchstone.records import Answers, new_ulid

START = datetime(2026, 11, 21, 6, 30, tzinfo=UTC)


class HandClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> None:
        """Move on by a `timedelta`'s keywords."""
        self.now += timedelta(**duration)


def an_answer(
    *, tenant: str = "acme", answer_id: str | None = None, at: datetime = START, **fields: Any
) -> AnswerRecord:
    """A record just received: an easy problem of mathematics."""
    given: dict[str, Any] = {
        "kind": "solve",
        "stage": "received",
        "problem": "What is 2 + 2?",
        "subject": "mathematics",
        "difficulty": "easy",
        "language": "en",
    }
    return AnswerRecord(tenant=tenant, id=answer_id or new_ulid(at), created_at=at, updated_at=at, **(given | fields))


def an_attempt(
    number: int = 1,
    *,
    passed: bool | None = True,
    confidence: float = 0.9,
    provider: str = "gemini",
    model: str = "gemini-3.8-flash",
    answer: str = "4",
    skip_reason: SkipReason | None = None,
) -> Attempt:
    """An attempt with its verification; `passed` None is skipped, timed out unless told otherwise."""
    skipped: SkipReason | None = (skip_reason or "timed_out") if passed is None else None
    return Attempt(
        number=number,
        solution=Solution(answer=answer, steps="Add them.", provider=provider, model=model),
        verification=Verification(
            passed=passed, confidence=0.0 if passed is None else confidence, method="judge", skip_reason=skipped
        ),
    )


def a_spend(**fields: Any) -> Spend:
    """The cost of one call."""
    given: dict[str, Any] = {
        "purpose": "verify",
        "provider": "gemini",
        "model": "gemini-3.8-flash",
        "prompt_version": "0" * 16,
        "input_tokens": 100,
        "output_tokens": 20,
        "cost_usd": 0.000_123,
    }
    return Spend(**(given | fields))


def an_evaluation(
    score: float = 0.8,
    *,
    at: datetime = START,
    suggestions: Sequence[str] = ("Name the rule that is used.",),
    better: str | None = None,
) -> DeepEvaluation:
    """A deep evaluation with one score everywhere."""
    return DeepEvaluation(
        correctness=score,
        completeness=score,
        clarity=score,
        pedagogy=score,
        format=score,
        overall=score,
        improvement_suggestions=tuple(suggestions),
        better_approach=better,
        provider="gemini",
        model="gemini-3.8-flash",
        prompt_version="0" * 16,
        evaluated_at=at,
    )


def finished(answers: Answers, record: AnswerRecord, *attempts: Attempt, **fields: Any) -> AnswerRecord:
    """Store `record` and take it through its attempts to its end; verified by its last one unless told otherwise."""
    answers.create(record)
    made = attempts or (an_attempt(),)
    for attempt in made:
        answers.add_attempt(record.ref, attempt=attempt, spends=[a_spend()])
    given: dict[str, Any] = {
        "status": "verified",
        "confidence": 0.9,
        "best_attempt": len(made),
        "enrichment": Enrichment(hints=("Count on your fingers.",)),
    }
    return answers.finish(record.ref, **(given | fields))
