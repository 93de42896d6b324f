"""The end of an answer: its badge, its best attempt, and all its counts, stored once."""

from collections.abc import Callable, Sequence

from touchstone.answers.model import ENDED, AnswerRecord, Enrichment, Verification
from touchstone.answers.progress import settled, verified
from touchstone.errors import ConflictError, SkipReason, Unanswered
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
    """Finish a record by the verdicts of its attempts. A repeat returns the first end.

    `verification` is the latest attempt's, if it is not stored yet; a verification that was stored meanwhile stays.
    `ended` is called with the record if this call ended it. A verified solution of ours is stored for later problems; a
    caller's own answer is not, since nobody here wrote its steps. Raises `ConflictError` for a record without an
    attempt.
    """
    from touchstone.answers.retrieval import near_keys, problem_key

    if not record.attempts:
        raise ConflictError("There is no attempt to finish with.")
    end = settled(record if verification is None else verified(record, verification), now=record.updated_at)
    keep = end.problem if end.kind == "solve" else None
    try:
        return answers.finish(
            end.ref,
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
    """Finish a record whose latest verification did not come back: the record says that nobody decided."""
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
    """End a record whose work broke off: finished with its attempts, or failed if it has none.

    `skipped` says why: there is no answer, or the latest attempt is undecided because its verification did not come
    back. `sentence` may say the latter in words. A repeat returns the first end.
    """
    if record.stage in ENDED:
        return record
    if not record.attempts:
        return answers.fail(record.ref, failure=failure, reason=skipped)
    if record.attempts[-1].verification is None:
        return finish_skipped(answers, record, reason=skipped, sentence=sentence or sentence_of(skipped))
    return finish(answers, record)


def sentence_of(reason: SkipReason) -> str:
    """The sentence in a record for a verification that did not come back."""
    return OUT_OF_TIME if reason == "timed_out" else NOT_CARRIED_OUT


def skip_verification(answers: Answers, record: AnswerRecord, *, reason: SkipReason, sentence: str) -> AnswerRecord:
    """Store that nobody decided the latest attempt, and why. A verdict that has come after all is kept."""
    skipped = Verification(passed=None, confidence=0.0, method="none", skip_reason=reason, error=sentence)
    return answers.set_verification(record.ref, number=record.attempt_count, verification=skipped)
