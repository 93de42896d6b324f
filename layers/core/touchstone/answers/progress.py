"""How a record of an answer begins, and how it is settled."""

from datetime import datetime

from touchstone.answers.model import AnswerRecord, Attempt, Solution, SolveRequest, Verification, VerifyRequest
from touchstone.answers.routing import best_attempt, status_of
from touchstone.checks.language import language_of
from touchstone.errors import InputError

CALLER = "caller"
"""Stands for the provider, and where none was named for the model, of an answer that the caller brought."""


def new_record(
    request: VerifyRequest | SolveRequest, *, tenant: str, answer_id: str, now: datetime, image_key: str | None = None
) -> AnswerRecord:
    """The record of a request that was just received. `image_key`: where the image of its problem is kept, if it is.

    An answer that the caller brought is its only attempt. Raises `InputError` for a problem that is blank.
    """
    common = AnswerRecord(
        tenant=tenant,
        id=answer_id,
        kind="solve",
        stage="received",
        created_at=now,
        updated_at=now,
        problem=request.problem,
        image_key=image_key,
        answer_key=request.answer_key,
        subject=request.subject,
        language=request.language or (None if request.problem is None else language_of(request.problem)),
        use_cache=request.use_cache,
        deep_evaluation_wanted=request.deep_evaluation,
        verify_seconds=request.verify_seconds,
    )
    if request.problem is not None and not request.problem.strip():
        raise InputError("The problem is blank.", where="problem")
    if isinstance(request, SolveRequest):
        return common.model_copy(update={"use_retrieved": request.use_retrieved})
    solution = Solution(answer=request.answer, steps=request.steps, provider=CALLER, model=request.model or CALLER)
    return common.model_copy(
        update={
            "kind": "verify",
            "difficulty": request.difficulty,
            "attempts": (Attempt(number=1, solution=solution),),
        }
    )


def verified(record: AnswerRecord, verification: Verification) -> AnswerRecord:
    """The record with what was found of its latest attempt."""
    latest = record.attempts[-1].model_copy(update={"verification": verification})
    return record.model_copy(update={"attempts": (*record.attempts[:-1], latest)})


def settled(record: AnswerRecord, *, now: datetime) -> AnswerRecord:
    """The record with its best attempt chosen, and the badge and confidence to be shown; its stage is `finished`.

    The badge follows the last verification, as the routing does: an attempt that passed without confidence and was
    followed by one that nobody could decide is `unverified`. The confidence is that of the attempt that is returned.
    Raises `ValueError` without attempts.
    """
    number = best_attempt(record.attempts)
    verification = record.attempts[number - 1].verification
    return record.model_copy(
        update={
            "stage": "finished",
            "best_attempt": number,
            "verification_status": status_of(record.attempts[-1].verification),
            "verification_confidence": 0.0 if verification is None else verification.confidence,
            "updated_at": now,
        }
    )
