"""The end of an answer: its badge, its best attempt, and everything it counts for, stored once."""

from collections.abc import Callable, Sequence

from touchstone.answers.model import ENDED, AnswerRecord, Enrichment, SkipReason, Verification
from touchstone.answers.progress import settled, verified
from touchstone.answers.retrieval import near_keys, problem_key
from touchstone.errors import ConflictError, Unanswered
from touchstone.judges.spends import Spend
from touchstone.records import Answers

OUT_OF_TIME = "Not verified: the time for it was up."
NOT_CARRIED_OUT = "Not verified: the verification could not be carried out."


def finish(
    answers: Answers,
    record: AnswerRecord,
    *,
    enrichment: Enrichment | None = None,
    verification: Verification | None = None,
    spends: Sequence[Spend] = (),
    ended: Callable[[AnswerRecord], None] | None = None,
) -> AnswerRecord:
    """Finish a record by the verdicts of its attempts; a repeat returns the first end.

    `verification` is that of the latest attempt where it is not stored yet; one that was stored meanwhile stays.
    `ended` is told of the record where this call made its end.
    A solution of ours that was verified is kept for later problems; a caller's own answer is not, since nobody here
    wrote its steps. Raises `ConflictError` for a record without an attempt.
    """
    if not record.attempts:
        raise ConflictError("There is no attempt to finish with.")
    end = settled(record if verification is None else verified(record, verification), now=record.updated_at)
    keep = end.problem if end.kind == "solve" else None
    try:
        return answers.finish(
            tenant=end.tenant,
            answer_id=end.id,
            status=end.verification_status or "unverified",
            confidence=end.verification_confidence or 0.0,
            best_attempt=end.best_attempt or 1,
            enrichment=enrichment,
            verification=verification,
            spends=spends,
            problem_key=None if keep is None else problem_key(keep),
            near_keys=() if keep is None else near_keys(keep),
            ended=ended,
        )
    except ConflictError:
        if verification is None:
            raise
    stored = answers.get(record.ref)
    return finish(answers, stored, enrichment=enrichment, spends=spends, ended=ended)


def finish_skipped(
    answers: Answers,
    record: AnswerRecord,
    *,
    reason: SkipReason,
    sentence: str,
    ended: Callable[[AnswerRecord], None] | None = None,
) -> AnswerRecord:
    """Finish a record whose latest verification did not come back: nobody decided, and the record says so."""
    if record.stage in ENDED:
        return record
    if not record.attempts:
        raise ConflictError("There is no attempt to finish with.")
    return finish(answers, skip_verification(answers, record, reason=reason, sentence=sentence), ended=ended)


def fail_or_finish(
    answers: Answers,
    record: AnswerRecord,
    *,
    failure: str,
    skipped: Unanswered = "overloaded",
    sentence: str | None = None,
) -> AnswerRecord:
    """End a record whose further way broke off: with the attempts it has, or failed where there is none.

    `skipped` says why: there is no answer, or nobody decided the attempt whose verification did not come back, in words
    that `sentence` may give. A repeat returns the first end.
    """
    if record.stage in ENDED:
        return record
    if not record.attempts:
        return answers.fail(tenant=record.tenant, answer_id=record.id, failure=failure, reason=skipped)
    if record.attempts[-1].verification is None:
        return finish_skipped(answers, record, reason=skipped, sentence=sentence or sentence_of(skipped))
    return finish(answers, record)


def sentence_of(reason: SkipReason) -> str:
    """What a record says of a verification that did not come back."""
    return OUT_OF_TIME if reason == "timed_out" else NOT_CARRIED_OUT


def skip_verification(answers: Answers, record: AnswerRecord, *, reason: SkipReason, sentence: str) -> AnswerRecord:
    """Say of the latest attempt that nobody decided, and why; a verdict that came after all is kept."""
    skipped = Verification(passed=None, confidence=0.0, method="none", skip_reason=reason, error=sentence)
    return answers.set_verification(
        tenant=record.tenant, answer_id=record.id, number=record.attempt_count, verification=skipped
    )
