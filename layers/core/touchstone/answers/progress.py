"""How a record of an answer begins, what happens after a verification, and how the record is settled.

    verification                         attempts made < 2           otherwise
    passed, confidence >= 0.8            enrich, verified            enrich, verified
    None (skipped)                       enrich, unverified          enrich, unverified
    failed, or passed below 0.8          retry, another provider     enrich, caution

If people's labels give the judge a threshold (`Verification.sure_from`), it takes the place of 0.8. A verdict below the
threshold never gets here, since nobody has decided then. A pass that the judge's own words speak against needs 0.8 all
the same: its confidence is capped below that, and a lower threshold is no reason to lift the cap.

An answer that several judges all pass is verified if the mean of their confidences is at least 0.8, or if each alone
would have verified it. It is never verified if a majority passes it and another judge does not. Nor is it if the words
of a judge that passes it speak against the pass, so that its confidence is capped. However sure the others are, they
cannot make up for what that judge found.

An answer that the caller brought is never solved again: its failure ends at `caution` at once.
"""

from collections.abc import Sequence
from datetime import datetime

from touchstone.answers.model import (
    AnswerRecord,
    Attempt,
    EvaluationProgress,
    JudgeVote,
    Route,
    Solution,
    SolveRequest,
    Status,
    Verification,
    VerifyRequest,
)
from touchstone.errors import InputError
from touchstone.statistics.thresholds import DEFAULT_MIN_CONFIDENCE
from touchstone.text.language import language_of

CALLER = "caller"
"""Stands for the provider of an answer that the caller brought, and for its model if none was named."""
MAX_ATTEMPTS = 2
"""The most attempts at one problem: the first, and one by a different provider."""


def new_record(
    request: VerifyRequest | SolveRequest, *, tenant: str, answer_id: str, now: datetime, image_key: str | None = None
) -> AnswerRecord:
    """The record of a request that was just received.

    `image_key` names the object with the image of the problem, None if no image is kept. An answer that the caller
    brought is the record's only attempt. Raises `InputError` for a blank problem.
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
        judges=request.judges,
        evaluation=EvaluationProgress(when=request.when),
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
    """The record with the verification of its latest attempt."""
    latest = record.attempts[-1].model_copy(update={"verification": verification})
    return record.model_copy(update={"attempts": (*record.attempts[:-1], latest)})


def settled(record: AnswerRecord, *, now: datetime) -> AnswerRecord:
    """The record with its best attempt, its badge and its confidence set, and `finished` as its stage.

    The badge follows the last verification, as the routing does: if an attempt passed without confidence, and nobody
    could decide the next one, the badge is `unverified`. The confidence is that of the attempt that is returned. Raises
    `ValueError` if there are no attempts.
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


def status_of(verification: Verification | None) -> Status:
    """The badge of an answer with this verification. None means that it was never verified, so nobody decided.

    A retrieved verdict was held to these rules when it was found (`touchstone.answers.checking.still_verified`): what
    its judges needed to be sure is not a part of it.
    """
    if verification is None or verification.passed is None:
        return "unverified"
    if not verification.passed or verification.split:
        return "caution"
    if verification.method == "retrieved":
        return "verified"
    unsure = [vote for vote in verification.counted if not is_sure(vote)]
    if any(vote.contradicts_itself for vote in unsure):
        return "caution"
    each = bool(verification.votes) and not unsure
    return "verified" if each or is_sure(verification) else "caution"


def is_sure(verdict: Verification | JudgeVote) -> bool:
    """Whether a judge is as sure of its verdict as labels ask of it, or sure to 0.8 if there are no labels.

    If the judge's own words speak against the verdict, it must be sure to 0.8 in any case.
    """
    least = DEFAULT_MIN_CONFIDENCE if verdict.sure_from is None else verdict.sure_from.confidence
    if verdict.contradicts_itself and least is not None:
        least = max(least, DEFAULT_MIN_CONFIDENCE)
    return least is not None and verdict.confidence >= least


def route(verification: Verification, attempts_made: int, *, own_answer: bool = False) -> Route:
    """The step after the verification of attempt number `attempts_made` (counted from 1).

    `own_answer` means that the answer is the caller's, so there is nothing to solve again.
    """
    if own_answer or attempts_made >= MAX_ATTEMPTS or status_of(verification) != "caution":
        return "enrich"
    return "retry"


def best_attempt(attempts: Sequence[Attempt]) -> int:
    """The number of the attempt to return; of equal attempts, the earlier. Raises `ValueError` if there is none.

    A verified attempt comes first, then one that passed, then an undecided one, and last a failed one: an answer that
    nobody could decide may be right, an answer that failed is held to be wrong. A verified attempt may be less
    confident than one that only passed: labels may ask less of its judge, or one of several judges called the other one
    wrong. Among verified attempts, and among those that only passed, the most confident comes first. Among failed
    attempts the *least* confident does: there, confidence is the certainty of being wrong, and a refuted answer is the
    worst of all.
    """
    if not attempts:
        raise ValueError("there is no attempt to choose from")
    return max(attempts, key=_rank).number


def _rank(attempt: Attempt) -> tuple[int, float]:
    """The rank of an attempt: it rises with the belief that the attempt's answer is right."""
    verification = attempt.verification
    if verification is None or verification.passed is None:
        return (1, 0.0)
    if verification.passed:
        return (3 if status_of(verification) == "verified" else 2, verification.confidence)
    return (0, -verification.confidence)
