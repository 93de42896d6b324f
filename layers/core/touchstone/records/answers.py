"""Answers from the request to their end; each step is one conditional write and is harmless to repeat."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from touchstone.answers.model import (
    ENDED,
    Analysis,
    AnswerRecord,
    Attempt,
    BroughtReply,
    Enrichment,
    EvaluationProgress,
    Status,
    Verification,
)
from touchstone.answers.progress import verified
from touchstone.attempts import TryEnd, Waiting, When
from touchstone.errors import ConflictError, Unanswered
from touchstone.judges.spends import Spend
from touchstone.records.answer_lists import AnswerLists
from touchstone.records.solutions import solution_actions
from touchstone.records.table import Action
from touchstone.references import Reference
from touchstone.text.language import language_of


class Answers(AnswerLists):
    """The records of answers.

    Every method raises `NotFoundError` for an id that this tenant does not have, and `StoreError` if the store fails.
    All methods are safe to repeat, and a repeat returns the record as it is stored then. `spends` are kept whatever has
    happened to the record meanwhile, each of them once.
    """

    def set_problem(self, which: Reference, *, text: str, spends: Sequence[Spend] = ()) -> AnswerRecord:
        """Keep the problem's text that was read from its image, and its language; a repeat keeps the first text.

        A language that the caller gave stays.
        """
        return self._work(
            which,
            done=lambda record: record.problem is not None,
            change=lambda record: {"problem": text, "language": record.language or language_of(text)},
            spends=spends,
        )

    def set_analysis(self, which: Reference, *, analysis: Analysis, spends: Sequence[Spend] = ()) -> AnswerRecord:
        """Keep the result of ANALYZE; a repeat keeps the first. Subject and language that the caller gave stay."""

        def change(record: AnswerRecord) -> dict[str, Any]:
            return {
                "subject": record.subject if record.subject is not None else analysis.subject,
                "language": record.language if record.language is not None else analysis.language,
                "difficulty": analysis.difficulty,
                "knowledge_points": analysis.knowledge_points,
                "stage": "solving",
            }

        return self._work(which, done=lambda record: record.difficulty is not None, change=change, spends=spends)

    def add_attempt(
        self,
        which: Reference,
        *,
        attempt: Attempt,
        spends: Sequence[Spend] = (),
        retrieved_from: str | None = None,
    ) -> AnswerRecord:
        """Add the next attempt; a repeat of its number keeps the first.

        `retrieved_from` is the earlier answer that the attempt was taken from. Raises `ConflictError` for a number that
        is not the next one.
        """

        def change(record: AnswerRecord) -> dict[str, Any]:
            if attempt.number != record.attempt_count + 1:
                raise ConflictError(
                    f"Attempt {attempt.number} cannot be added: {record.attempt_count} attempts are stored."
                )
            return {
                "attempts": (*record.attempts, attempt),
                "retrieved_from": retrieved_from if retrieved_from is not None else record.retrieved_from,
                "stage": "solving",
            }

        def done(record: AnswerRecord) -> bool:
            return record.attempt_count >= attempt.number

        return self._work(which, done=done, change=change, spends=spends)

    def set_verification(
        self, which: Reference, *, number: int, verification: Verification, spends: Sequence[Spend] = ()
    ) -> AnswerRecord:
        """Keep the result of the quick verification of attempt `number`; a repeat keeps the first.

        Raises `ConflictError` if there is no such attempt.
        """

        def done(record: AnswerRecord) -> bool:
            if not 1 <= number <= record.attempt_count:
                raise ConflictError(f"There is no attempt {number} to verify: {record.attempt_count} are stored.")
            return record.attempts[number - 1].verification is not None

        def change(record: AnswerRecord) -> dict[str, Any]:
            attempts = list(record.attempts)
            attempts[number - 1] = attempts[number - 1].model_copy(update={"verification": verification})
            return {"attempts": tuple(attempts)}

        return self._work(which, done=done, change=change, spends=spends)

    def finish(
        self,
        which: Reference,
        *,
        status: Status,
        confidence: float,
        best_attempt: int,
        enrichment: Enrichment | None = None,
        verification: Verification | None = None,
        spends: Sequence[Spend] = (),
        problem_key: str | None = None,
        near_keys: Sequence[str] = (),
        ended: Callable[[AnswerRecord], None] | None = None,
    ) -> AnswerRecord:
        """Finish the record and everything it counts for in one transaction; a repeat returns the first result.

        A verified solution that was not itself retrieved is kept under `problem_key` and `near_keys` for later
        problems. A deep evaluation that is wanted becomes `waiting` in the same write, so that a crash right after
        cannot lose it. `verification` is the verification of the latest attempt, if the same write shall keep it.
        `ended` is called with the record if this call ended it. Raises `ConflictError` if that attempt was verified
        meanwhile, or if there is no attempt `best_attempt`.
        """

        def change(record: AnswerRecord) -> dict[str, Any]:
            if not 1 <= best_attempt <= record.attempt_count:
                raise ConflictError(f"There is no attempt {best_attempt}: {record.attempt_count} are stored.")
            if verification is not None and record.attempts[-1].verification is not None:
                raise ConflictError(f"Attempt {record.attempt_count} was verified meanwhile.")
            return {
                "attempts": (record if verification is None else verified(record, verification)).attempts,
                "stage": "finished",
                "waiting": None,
                "brought": (),
                "verification_status": status,
                "verification_confidence": confidence,
                "best_attempt": best_attempt,
                "enrichment": enrichment,
                "evaluation": asked(self._clock(), when=record.evaluation.when)
                if record.deep_evaluation_wanted
                else record.evaluation,
            }

        def also_write(record: AnswerRecord) -> Sequence[Action]:
            return () if problem_key is None else solution_actions(record, problem_key, near_keys)

        return self._work(
            which, done=lambda _: False, change=change, spends=spends, also_write=also_write, worked=ended
        )

    def fail(
        self,
        which: Reference,
        *,
        failure: str,
        reason: Unanswered | None = None,
        spends: Sequence[Spend] = (),
    ) -> AnswerRecord:
        """Record that no answer could be produced, with the reason in words and as a word.

        A finished record stays as it is.
        """
        return self._work(
            which,
            done=lambda _: False,
            change=lambda _: {"stage": "failed", "waiting": None, "failure": failure, "failure_reason": reason},
            spends=spends,
        )

    def wait(self, which: Reference, *, waiting: Waiting, ended: TryEnd, spends: Sequence[Spend] = ()) -> AnswerRecord:
        """Record that a try decided nothing, how it `ended`, and what the answer waits for. The answer stays open."""

        def change(record: AnswerRecord) -> dict[str, Any]:
            begun = record.trying.begun(now=self._clock()) or record.trying
            return {"waiting": waiting, "trying": begun.put_back(until=waiting.until, ended=ended)}

        return self._work(which, done=lambda _: False, change=change, spends=spends)

    def keep_brought(self, which: Reference, *, brought: BroughtReply) -> AnswerRecord:
        """Keep the reply that a provider's batch brought for one of several questions; a repeat keeps it once."""
        return self._work(
            which,
            done=lambda record: brought in record.brought,
            change=lambda record: {"brought": (*record.brought, brought)},
            spends=(),
        )

    def add_late_spends(self, which: Reference, *, spends: Sequence[Spend]) -> AnswerRecord:
        """Keep calls that a batch brought for a record that does not need them any more, each of them once."""
        return self.change(which, lambda record: with_late_spends(record, spends))

    def add_spends(self, which: Reference, *, spends: Sequence[Spend]) -> AnswerRecord:
        """Keep calls that were paid for and brought nothing else to keep.

        A repeat adds its calls too: it made calls of its own.
        """
        return self._work(which, done=lambda _: not spends, change=lambda _: {}, spends=spends)

    def _work(
        self,
        which: Reference,
        *,
        done: Callable[[AnswerRecord], bool],
        change: Callable[[AnswerRecord], dict[str, Any]],
        spends: Sequence[Spend],
        also_write: Callable[[AnswerRecord], Sequence[Action]] | None = None,
        worked: Callable[[AnswerRecord], None] | None = None,
    ) -> AnswerRecord:
        """Take one step on a record that has not ended.

        If the record has ended, or the step is `done`, only its `spends` are kept. `worked` is called with the record
        if the step was taken.
        """
        works = False

        def step(record: AnswerRecord) -> AnswerRecord:
            nonlocal works
            works = record.stage not in ENDED and not done(record)
            if not works:
                return with_late_spends(record, spends)
            return record.model_copy(update={**change(record), "spends": (*record.spends, *spends)})

        def writes(record: AnswerRecord) -> Sequence[Action]:
            return also_write(record) if works and also_write is not None else ()

        record = self.change(which, step, also_write=writes)
        if works and worked is not None:
            worked(record)
        return record


def with_late_spends(record: AnswerRecord, spends: Sequence[Spend]) -> AnswerRecord:
    """The record with calls that were paid for though somebody else took their step meanwhile.

    Calls that the record holds already are left out: a step that is repeated because its reply was lost paid once. Two
    different calls never agree to the fraction of a millisecond.
    """
    late = tuple(spend for spend in spends if spend not in record.spends)
    return record.model_copy(update={"spends": (*record.spends, *late)}) if late else record


def asked(moment: datetime, *, when: When | None = None) -> EvaluationProgress:
    """The progress of an evaluation that was asked for at `moment` and may be tried at once."""
    return EvaluationProgress(state="waiting", requested_at=moment, not_before=moment, when=when)
