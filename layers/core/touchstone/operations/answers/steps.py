"""The steps of the state machines, one function per state: read the record, do the job's part, store the result.

Each step may be repeated: a repeat finds what was stored, and does not ask a judge a second time for it. If the sweep
or a caller's deadline has ended the record meanwhile, it stays as it is, and the remaining steps ask nobody.

A function runs one of these steps and loads only the part of the job that this step needs: each step imports its own.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from touchstone.answers.model import ENDED, MAX_IMAGE_BYTES, Analysis, AnswerRecord, Attempt, Route
from touchstone.answers.progress import MAX_ATTEMPTS, route, settled
from touchstone.clock import Deadline
from touchstone.errors import (
    ConflictError,
    InputError,
    JudgeError,
    LimitError,
    SkipReason,
    StoreError,
    TouchstoneError,
    Unanswered,
)
from touchstone.judges.calls import unanswered_reason
from touchstone.judges.spends import Spend, spends_of_failure
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.finishing import finish, sentence_of, skip_verification
from touchstone.operations.jobs.traced import traced, tracing_calls

if TYPE_CHECKING:
    from touchstone.answers.providers import Preferences
    from touchstone.answers.verification import Verified as QuickVerified

READ_SECONDS = 40.0
"""The step's own times leave its function 20 s or more for its start, the store, and the reason of a failure."""
ANALYZE_SECONDS = 30.0
SOLVE_SECONDS = 150.0
"""A strong model that thinks takes a minute. This leaves time for a second provider if the first fails."""
ENRICH_SECONDS = 30.0

logger = logging.getLogger(__name__)


class UnsolvedError(InputError):
    """No answer could be produced; the record says why. The error does not, because errors are logged."""

    reason = "unsolved"

    def __init__(self) -> None:
        super().__init__("No answer could be produced; the record says why.")


class UndecidedError(TouchstoneError):
    """Nobody decided, for a passing reason: the record has not ended, and says what it waits for."""

    reason = "undecided"

    def __init__(self) -> None:
        super().__init__("Nobody decided so far; the record says why, and when it is tried again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """The next step of the pipeline after a verification. `number` is the number of the attempt to make on a retry."""

    route: Route
    number: int


@traced
async def read_problem(
    context: AnswerContext,
    answer_id: str,
    *,
    deadline: Deadline | None = None,
    abandoned_after: timedelta | None = None,
) -> None:
    """OCR: read the problem from the image. Raises `UnsolvedError` if it shows no problem, or nobody can read it.

    Here and below, `abandoned_after` is how long the batch or message that carries the answer may leave it before
    another try: then a failure for a passing reason raises `UndecidedError`. If `abandoned_after` is None, there is no
    other try, and each failure is final.
    """
    from touchstone.answers.providers import no_solver_sentence
    from touchstone.answers.reading import image, read_image

    record = _get(context, answer_id)
    if record.stage in ENDED or record.problem is not None or record.image_key is None:
        return
    judge = context.judges.default("strong")
    if judge is None:
        raise _unsolved(context, answer_id, no_solver_sentence(context.judges.remedy), reason="misconfigured")
    # The object may have been replaced after it was accepted: check its size first, so that it cannot fill the memory.
    if context.artifacts.size(tenant=context.tenant, key=record.image_key) > MAX_IMAGE_BYTES:
        raise _unsolved(context, answer_id, f"The image has more than {MAX_IMAGE_BYTES:,} bytes; make it smaller.")
    picture = image(context.artifacts.get_bytes(tenant=context.tenant, key=record.image_key))
    try:
        reading = await read_image(
            picture,
            judge=judge,
            deadline=_within(READ_SECONDS, deadline),
            language=record.language,
            use_cache=record.use_cache,
        )
    except (JudgeError, LimitError) as error:
        spends = spends_of_failure(error, "ocr")
        sentence = f"The image could not be read: {error}"
        _put_off(
            context, record, error, spends, sentence=sentence, provider=judge.provider, abandoned_after=abandoned_after
        )
        raise _unsolved(context, answer_id, sentence, spends, reason=unanswered_reason(error)) from error
    if reading.problem is None:
        raise _unsolved(context, answer_id, f"The image could not be read: {reading.obstacle}", reading.spends)
    context.answers.set_problem(context.ref("answer", answer_id), text=reading.problem, spends=reading.spends)


@traced
async def analyze_problem(context: AnswerContext, answer_id: str, *, deadline: Deadline | None = None) -> None:
    """ANALYZE: find subject and difficulty.

    If the judge fails, the record stays without them and the pipeline goes on.
    """
    from touchstone.answers.analysis import analyze

    record = _get(context, answer_id)
    if record.stage in ENDED or record.difficulty is not None:
        return
    found = await analyze(
        _problem(record),
        judge=context.judges.default("fast"),
        deadline=_within(ANALYZE_SECONDS, deadline),
        language=record.language,
        use_cache=record.use_cache,
    )
    if found.analysis is not None:
        context.answers.set_analysis(context.ref("answer", answer_id), analysis=found.analysis, spends=found.spends)
    else:
        context.answers.add_spends(context.ref("answer", answer_id), spends=found.spends)


async def retrieve_solution(context: AnswerContext, answer_id: str) -> bool:
    """RETRIEVE: whether a stored solution of the very same problem, whose verdict still stands, answers it."""
    from touchstone.answers.retrieval import retrieve_exact, retrieved_attempt

    record = _get(context, answer_id)
    if record.attempts:
        return record.retrieved_from is not None
    if record.stage in ENDED or not record.use_retrieved:
        return False
    earlier = await retrieve_exact(_problem(record), context.solutions, record.answer_key, judges=record.judges)
    if earlier is None:
        return False
    context.answers.add_attempt(
        context.ref("answer", answer_id),
        attempt=retrieved_attempt(earlier, record.answer_key),
        retrieved_from=earlier.answer_id,
    )
    return True


@traced
async def solve_problem(
    context: AnswerContext,
    answer_id: str,
    *,
    number: int,
    deadline: Deadline | None = None,
    abandoned_after: timedelta | None = None,
) -> None:
    """SOLVE: make attempt `number`. Raises `UnsolvedError` if no provider answers and there is no earlier attempt."""
    from touchstone.answers.providers import no_solver_sentence
    from touchstone.answers.retrieval import retrieve
    from touchstone.answers.solving import next_attempt

    record = _get(context, answer_id)
    if record.stage in ENDED or record.attempt_count >= number:
        return
    problem = _problem(record)
    examples = (await retrieve(problem, context.solutions)).examples if record.use_retrieved else ()
    preferences = context.preferences()
    _note_choice(context, preferences, record.subject)
    attempted = await next_attempt(
        problem,
        record.attempts,
        judges=context.judges,
        deadline=_within(SOLVE_SECONDS, deadline),
        preferences=preferences,
        subject=record.subject,
        analysis=_analysis(record),
        examples=examples,
        language=record.language,
        use_cache=record.use_cache,
        began=_own_since(record),
    )
    if attempted.attempt is not None:
        context.answers.add_attempt(
            context.ref("answer", answer_id), attempt=attempted.attempt, spends=attempted.spends
        )
    else:
        whose = attempted.provider or next(iter(context.judges.available()), "")
        failure = attempted.failure or no_solver_sentence(context.judges.remedy)
        _put_off(
            context,
            record,
            attempted.error,
            attempted.spends,
            sentence=failure,
            provider=whose,
            abandoned_after=abandoned_after,
        )
        if not record.attempts:
            raise _unsolved(context, answer_id, failure, attempted.spends, reason=attempted.reason)
        context.answers.add_spends(context.ref("answer", answer_id), spends=attempted.spends)


def _own_since(record: AnswerRecord) -> datetime:
    """Since when the replies are this work's own, so that one of no use is not asked for anew.

    Of a problem that is tried again for such a reply, it is the begin of the new try.
    """
    waiting = record.waiting
    return waiting.until if waiting is not None and waiting.reason == "unreadable" else record.created_at


def _note_choice(context: AnswerContext, preferences: "Preferences", subject: str | None) -> None:
    """Note when the data first chooses a provider for a subject.

    Only a report needs this, so a fault is only logged.
    """
    choice = preferences.changed(subject, available=context.judges.available())
    if subject is not None and choice is not None:
        try:
            context.note_choice(subject, choice, preferences.noted.get(subject))
        except StoreError:
            logger.warning("Since when %s solves a subject could not be noted.", choice.provider)


@traced
async def verify_attempt(
    context: AnswerContext,
    answer_id: str,
    *,
    number: int = 1,
    deadline: Deadline | None = None,
    abandoned_after: timedelta | None = None,
) -> NextStep:
    """QUICK_VERIFY: verify attempt `number`. Return the next step.

    A judge has the seconds that the request or the environment sets, and no more than is left until `deadline` (None:
    nobody waits). If no provider could make that attempt, the earlier one stands with its verdict, and there is no
    further retry.
    """
    record = _get(context, answer_id)
    if record.stage in ENDED or 0 < record.attempt_count < number:
        return NextStep(route="enrich", number=number)
    attempt = _latest(record)
    if attempt.verification is None:
        done = await quick_verified(context, record, attempt, deadline=deadline, abandoned_after=abandoned_after)
        record = context.answers.set_verification(
            context.ref("answer", answer_id), number=attempt.number, verification=done.verification, spends=done.spends
        )
        attempt = _latest(record)
    onward: Route = (
        route(attempt.verification, attempt.number, own_answer=record.kind == "verify")
        if attempt.verification is not None
        else "enrich"
    )
    return NextStep(route=onward, number=attempt.number + 1)


async def quick_verified(
    context: AnswerContext,
    record: AnswerRecord,
    attempt: Attempt,
    *,
    deadline: Deadline | None,
    abandoned_after: timedelta | None,
) -> "QuickVerified":
    """The result of QUICK_VERIFY for an attempt; it is not stored yet.

    With `abandoned_after`, a passing failure raises `UndecidedError`, and the record is stored as waiting. With
    `abandoned_after` None, each failure is final, and nothing is stored.
    """
    from touchstone.answers.judge_time import judge_seconds
    from touchstone.answers.panel import several, verifying_seconds
    from touchstone.answers.verification import quick_verify, second_judge

    judge, seconds = context.judges.default("verify"), judge_seconds(record.verify_seconds)
    done = await quick_verify(
        _problem(record),
        attempt.solution.answer,
        attempt.solution.steps,
        judge=judge,
        another=second_judge(context.judges, judge),
        several=several(context.judges, record.judges),
        thresholds=context.thresholds,
        remedy=context.judges.remedy,
        key=record.answer_key,
        deadline=deadline or Deadline.after(verifying_seconds(seconds, record.judges)),
        seconds=seconds,
        language=record.language,
        use_cache=record.use_cache,
    )
    if judge is not None:
        sentence = done.verification.error or f"Not verified: {done.failure}"
        whose = done.failed_by or judge.provider
        _put_off(
            context,
            record,
            done.failure,
            done.spends,
            sentence=sentence,
            provider=whose,
            abandoned_after=abandoned_after,
        )
    return done


async def work_whole(
    context: AnswerContext,
    record: AnswerRecord,
    *,
    deadline: Deadline | None = None,
    abandoned_after: timedelta | None = None,
) -> AnswerRecord:
    """Run all steps of an answer that nobody waits for, as far as they come; parameters as for `read_problem`."""
    whole = verify_own_answer if record.kind == "verify" else solve_whole
    return await whole(context, record.id, deadline=deadline, abandoned_after=abandoned_after)


async def verify_own_answer(
    context: AnswerContext,
    answer_id: str,
    *,
    deadline: Deadline | None = None,
    abandoned_after: timedelta | None = None,
    ended: Callable[[AnswerRecord], None] | None = None,
) -> AnswerRecord:
    """Run all steps of an answer that the caller brought: it is verified once, and finished by the same write.

    `deadline` None: nobody waits for it. With `abandoned_after` the record may stay without an end; then it waits for
    another try, which calls this function again. `ended` is called with the record if this call ended it.
    """
    record = _get(context, answer_id)
    if record.stage in ENDED:
        return record
    attempt = _latest(record)
    if attempt.verification is not None:
        return finish(context.answers, record, ended=ended)
    async with tracing_calls(context, answer_id, deadline=deadline) as keep_trace:
        try:
            done = await quick_verified(context, record, attempt, deadline=deadline, abandoned_after=abandoned_after)
        except UndecidedError:
            return _get(context, answer_id)
        keep_trace()
        return finish(context.answers, record, verification=done.verification, spends=done.spends, ended=ended)


async def solve_whole(
    context: AnswerContext,
    answer_id: str,
    *,
    deadline: Deadline | None = None,
    abandoned_after: timedelta | None = None,
) -> AnswerRecord:
    """Run all steps of a problem in one process: the steps of the state machine, one after the other.

    Each step has its own time, and none goes past `deadline`. A problem that nobody could answer is a record too, which
    says why. `abandoned_after`: as for `verify_own_answer`.
    """
    try:
        await read_problem(context, answer_id, deadline=deadline, abandoned_after=abandoned_after)
        await analyze_problem(context, answer_id, deadline=deadline)
        if not await retrieve_solution(context, answer_id):
            number = 1
            while number <= MAX_ATTEMPTS:
                await solve_problem(
                    context, answer_id, number=number, deadline=deadline, abandoned_after=abandoned_after
                )
                verified = await verify_attempt(
                    context, answer_id, number=number, deadline=deadline, abandoned_after=abandoned_after
                )
                if verified.route == "enrich":
                    break
                number = verified.number
    except (UnsolvedError, UndecidedError):
        return _get(context, answer_id)
    return await enrich_and_finish(context, answer_id, deadline=deadline)


@traced
async def enrich_and_finish(
    context: AnswerContext, answer_id: str, *, skipped: SkipReason | None = None, deadline: Deadline | None = None
) -> AnswerRecord:
    """ENRICH and finish: store the badge, the best attempt, and everything that the record counts for.

    `skipped` says why the verification of the latest attempt did not come back; None if it did.
    """
    from touchstone.answers.enrichment import enrich

    record = _get(context, answer_id)
    if record.stage in ENDED:
        return record
    if skipped is not None:
        record = skip_verification(context.answers, record, reason=skipped, sentence=sentence_of(skipped))
    ahead = settled(record, now=context.clock())
    if ahead.best is None or ahead.verification_status is None:
        raise ConflictError("There is no attempt to finish with.")
    enriched = await enrich(
        _problem(record),
        ahead.best.solution,
        status=ahead.verification_status,
        judge=context.judges.default("fast"),
        deadline=_within(ENRICH_SECONDS, deadline),
        language=record.language,
        use_cache=record.use_cache,
    )
    return finish(context.answers, record, enrichment=enriched.enrichment, spends=enriched.spends)


def _within(seconds: float, deadline: Deadline | None) -> Deadline:
    """A step's own deadline, no later than that of all steps (None: they have none)."""
    return Deadline.after(seconds) if deadline is None else deadline.within(seconds)


def _put_off(
    context: AnswerContext,
    record: AnswerRecord,
    failure: JudgeError | LimitError | None,
    spends: Sequence[Spend],
    *,
    sentence: str,
    provider: str,
    abandoned_after: timedelta | None,
) -> None:
    """Let the record wait and raise `UndecidedError`, unless this failure of `provider` is final."""
    if failure is None or abandoned_after is None:
        return
    from touchstone.operations.jobs.after_failure import postpone

    off = postpone(
        failure,
        record.trying,
        sentence=sentence,
        provider=provider,
        now=context.clock(),
        abandoned_after=abandoned_after,
    )
    if off is None:
        return
    context.answers.wait(record.ref, waiting=off.waiting, ended=off.ended, spends=spends)
    raise UndecidedError


def _unsolved(
    context: AnswerContext,
    answer_id: str,
    failure: str,
    spends: Sequence[Spend] = (),
    *,
    reason: Unanswered | None = None,
) -> UnsolvedError:
    """Store in the record why there is no answer. Return the error to raise."""
    context.answers.fail(context.ref("answer", answer_id), failure=failure, reason=reason, spends=spends)
    return UnsolvedError()


def _get(context: AnswerContext, answer_id: str) -> AnswerRecord:
    return context.answers.get(context.ref("answer", answer_id))


def _problem(record: AnswerRecord) -> str:
    if record.problem is None:
        raise ConflictError("The problem was not read yet.")
    return record.problem


def _analysis(record: AnswerRecord) -> Analysis | None:
    """The result of ANALYZE as the record holds it. None if there is none."""
    if record.difficulty is None or record.subject is None or record.language is None:
        return None
    return Analysis(
        subject=record.subject,
        difficulty=record.difficulty,
        knowledge_points=record.knowledge_points,
        language=record.language,
    )


def _latest(record: AnswerRecord) -> Attempt:
    if not record.attempts:
        raise ConflictError("There is no attempt yet.")
    return record.attempts[-1]
