"""The steps of the state machines, one function a state: read the record, do the job's part, store what came of it.

Each may be repeated: what was stored before is found done, and a judge is not asked a second time for it. A record that
got its end meanwhile, by the sweep or a caller's deadline, keeps it: the steps that are left ask nobody.

A function runs one of these steps and starts with the part of the job that this step needs: each imports its own.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from touchstone.answers.model import ENDED, MAX_IMAGE_BYTES, Analysis, AnswerRecord, Attempt, Route, SkipReason
from touchstone.answers.progress import settled
from touchstone.answers.providers import Preferences, nobody_solves
from touchstone.answers.routing import MAX_ATTEMPTS, route
from touchstone.clock import Deadline
from touchstone.errors import (
    ConflictError,
    InputError,
    JudgeError,
    LimitError,
    StoreError,
    TouchstoneError,
    Unanswered,
)
from touchstone.judges.calls import unanswered
from touchstone.judges.spends import Spend, spends_of_failure
from touchstone.operations.desk import Desk
from touchstone.operations.finishing import finish, sentence_of, skip_verification
from touchstone.references import Reference

if TYPE_CHECKING:
    from touchstone.answers.verification import Verified as QuickVerified

READ_SECONDS = 40.0
"""Each of these leaves the step's function 20 s or more for its start, the store, and the reason of a failure."""
ANALYZE_SECONDS = 30.0
SOLVE_SECONDS = 150.0
"""A strong model that thinks takes a minute; this leaves time for a second provider where the first fails."""
ENRICH_SECONDS = 30.0

logger = logging.getLogger(__name__)


class UnsolvedError(InputError):
    """No answer could be produced; the record says why. The error does not, since errors are logged."""

    reason = "unsolved"

    def __init__(self) -> None:
        super().__init__("No answer could be produced; the record says why.")


class UndecidedError(TouchstoneError):
    """Nobody decided, for a reason that may pass: the record has no end yet, and says what it waits for."""

    reason = "undecided"

    def __init__(self) -> None:
        super().__init__("Nobody decided so far; the record says why, and when it is tried again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """Where the pipeline goes on after a verification; `number` is that of the attempt to be made on a retry."""

    route: Route
    number: int


async def read_problem(
    desk: Desk, answer_id: str, *, deadline: Deadline | None = None, left_for: timedelta | None = None
) -> None:
    """OCR. Raises `UnsolvedError` where the picture shows no problem, or nobody reads it.

    Here and below, `left_for` is how long whoever carries the answer to another try may leave it: then what failed for
    a reason that may pass raises `UndecidedError`. None: nobody does, and each failure is an end.
    """
    from touchstone.answers.reading import image, read_image

    record = _get(desk, answer_id)
    if record.stage in ENDED or record.problem is not None or record.image_key is None:
        return
    judge = desk.judges.prefer("strong")
    if judge is None:
        raise _unsolved(desk, answer_id, nobody_solves(desk.judges.remedy), reason="misconfigured")
    # The object may have been replaced after it was accepted; a huge one must not fill the function's memory.
    if desk.artifacts.size(tenant=desk.tenant, key=record.image_key) > MAX_IMAGE_BYTES:
        raise _unsolved(desk, answer_id, f"The image has more than {MAX_IMAGE_BYTES:,} bytes; make it smaller.")
    picture = image(desk.artifacts.get_bytes(tenant=desk.tenant, key=record.image_key))
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
        _put_off(desk, record, error, spends, sentence=sentence, provider=judge.provider, left_for=left_for)
        raise _unsolved(desk, answer_id, sentence, spends, reason=unanswered(error)) from error
    if reading.problem is None:
        raise _unsolved(desk, answer_id, f"The image could not be read: {reading.obstacle}", reading.spends)
    desk.answers.set_problem(tenant=desk.tenant, answer_id=answer_id, text=reading.problem, spends=reading.spends)


async def analyze_problem(desk: Desk, answer_id: str, *, deadline: Deadline | None = None) -> None:
    """ANALYZE. A judge that fails leaves the record without subject and difficulty, and the pipeline goes on."""
    from touchstone.answers.analysis import analyze

    record = _get(desk, answer_id)
    if record.stage in ENDED or record.difficulty is not None:
        return
    found = await analyze(
        _problem(record),
        judge=desk.judges.prefer("fast"),
        deadline=_within(ANALYZE_SECONDS, deadline),
        language=record.language,
        use_cache=record.use_cache,
    )
    if found.analysis is not None:
        desk.answers.set_analysis(tenant=desk.tenant, answer_id=answer_id, analysis=found.analysis, spends=found.spends)
    else:
        desk.answers.add_spends(tenant=desk.tenant, answer_id=answer_id, spends=found.spends)


async def retrieve_solution(desk: Desk, answer_id: str) -> bool:
    """RETRIEVE. Whether a verified solution of the very same problem, whose verdict stands today, answers it."""
    from touchstone.answers.retrieval import retrieve_exact, retrieved_attempt

    record = _get(desk, answer_id)
    if record.attempts:
        return record.retrieved_from is not None
    if record.stage in ENDED or not record.use_retrieved:
        return False
    earlier = await retrieve_exact(_problem(record), desk.solutions, record.answer_key)
    if earlier is None:
        return False
    desk.answers.add_attempt(
        tenant=desk.tenant,
        answer_id=answer_id,
        attempt=retrieved_attempt(earlier, record.answer_key),
        retrieved_from=earlier.answer_id,
    )
    return True


async def solve_problem(
    desk: Desk,
    answer_id: str,
    *,
    number: int,
    deadline: Deadline | None = None,
    left_for: timedelta | None = None,
) -> None:
    """SOLVE, attempt `number`. Raises `UnsolvedError` where no provider answers and there is no earlier attempt."""
    from touchstone.answers.retrieval import retrieve
    from touchstone.answers.solving import next_attempt

    record = _get(desk, answer_id)
    if record.stage in ENDED or record.attempt_count >= number:
        return
    problem = _problem(record)
    examples = (await retrieve(problem, desk.solutions)).examples if record.use_retrieved else ()
    preferences = desk.preferences()
    _note_choice(desk, preferences, record.subject)
    attempted = await next_attempt(
        problem,
        record.attempts,
        judges=desk.judges,
        deadline=_within(SOLVE_SECONDS, deadline),
        preferences=preferences,
        subject=record.subject,
        analysis=_analysis(record),
        examples=examples,
        language=record.language,
        use_cache=record.use_cache,
    )
    if attempted.attempt is not None:
        desk.answers.add_attempt(
            tenant=desk.tenant, answer_id=answer_id, attempt=attempted.attempt, spends=attempted.spends
        )
    else:
        whose = attempted.provider or next(iter(desk.judges.available()), "")
        failure = attempted.failure or nobody_solves(desk.judges.remedy)
        _put_off(desk, record, attempted.error, attempted.spends, sentence=failure, provider=whose, left_for=left_for)
        if not record.attempts:
            raise _unsolved(desk, answer_id, failure, attempted.spends, reason=attempted.reason)
        desk.answers.add_spends(tenant=desk.tenant, answer_id=answer_id, spends=attempted.spends)


def _note_choice(desk: Desk, preferences: Preferences, subject: str | None) -> None:
    """Keep since when the data chooses whom, at the moment it first does; only a report needs it."""
    choice = preferences.changed(subject, available=desk.judges.available())
    if subject is not None and choice is not None:
        try:
            desk.note_choice(subject, choice, preferences.noted.get(subject))
        except StoreError:
            logger.warning("Since when %s solves a subject could not be noted.", choice.provider)


async def verify_attempt(
    desk: Desk,
    answer_id: str,
    *,
    number: int = 1,
    deadline: Deadline | None = None,
    left_for: timedelta | None = None,
) -> Verified:
    """QUICK_VERIFY of attempt `number`, and where to go from there.

    A judge has the seconds that the request or the environment says, and no more than is left until `deadline` (None:
    nobody waits). Where no provider could make that attempt, the earlier one stands with its verdict, and there is no
    further retry.
    """
    record = _get(desk, answer_id)
    if record.stage in ENDED or 0 < record.attempt_count < number:
        return Verified(route="enrich", number=number)
    attempt = _latest(record)
    if attempt.verification is None:
        done = await _quick_verified(desk, record, attempt, deadline=deadline, left_for=left_for)
        record = desk.answers.set_verification(
            tenant=desk.tenant,
            answer_id=answer_id,
            number=attempt.number,
            verification=done.verification,
            spends=done.spends,
        )
        attempt = _latest(record)
    onward: Route = (
        route(attempt.verification, attempt.number, own_answer=record.kind == "verify")
        if attempt.verification is not None
        else "enrich"
    )
    return Verified(route=onward, number=attempt.number + 1)


async def _quick_verified(
    desk: Desk, record: AnswerRecord, attempt: Attempt, *, deadline: Deadline | None, left_for: timedelta | None
) -> "QuickVerified":
    """What QUICK_VERIFY says of an attempt; not stored yet. Raises `UndecidedError` where it is not the end."""
    from touchstone.answers.leisure import judge_seconds, whole_seconds
    from touchstone.answers.verification import quick_verify, second_judge

    judge, seconds = desk.judges.prefer("verify"), judge_seconds(record.verify_seconds)
    done = await quick_verify(
        _problem(record),
        attempt.solution.answer,
        attempt.solution.steps,
        judge=judge,
        another=second_judge(desk.judges, judge),
        remedy=desk.judges.remedy,
        key=record.answer_key,
        deadline=deadline or Deadline.after(whole_seconds(seconds)),
        seconds=seconds,
        language=record.language,
        use_cache=record.use_cache,
    )
    if judge is not None:
        sentence = done.verification.error or f"Not verified: {done.failure}"
        whose = done.failed_by or judge.provider
        _put_off(desk, record, done.failure, done.spends, sentence=sentence, provider=whose, left_for=left_for)
    return done


async def work_whole(
    desk: Desk, record: AnswerRecord, *, deadline: Deadline | None = None, left_for: timedelta | None = None
) -> AnswerRecord:
    """The whole way of an answer that nobody waits for, or as far as it comes. `left_for`: as for `read_problem`."""
    whole = verify_own_answer if record.kind == "verify" else solve_whole
    return await whole(desk, record.id, deadline=deadline, left_for=left_for)


async def verify_own_answer(
    desk: Desk,
    answer_id: str,
    *,
    deadline: Deadline | None = None,
    left_for: timedelta | None = None,
    ended: Callable[[AnswerRecord], None] | None = None,
) -> AnswerRecord:
    """The whole way of an answer that the caller brought: verified once, and finished by the same write.

    `deadline` None: nobody waits for it. With `left_for` the record may have no end yet; then it waits for another try,
    which is this once more. `ended` is told of the record where this call made its end.
    """
    record = _get(desk, answer_id)
    if record.stage in ENDED:
        return record
    attempt = _latest(record)
    if attempt.verification is not None:
        return finish(desk.answers, record, ended=ended)
    try:
        done = await _quick_verified(desk, record, attempt, deadline=deadline, left_for=left_for)
    except UndecidedError:
        return _get(desk, answer_id)
    return finish(desk.answers, record, verification=done.verification, spends=done.spends, ended=ended)


async def solve_whole(
    desk: Desk, answer_id: str, *, deadline: Deadline | None = None, left_for: timedelta | None = None
) -> AnswerRecord:
    """The whole way of a problem in one process: the same steps as the state machine's, one after the other.

    Each step has its own time, and all of them no more than is left until `deadline`. A problem that nobody could
    answer is a record too; it says why. `left_for`: as for `verify_own_answer`.
    """
    try:
        await read_problem(desk, answer_id, deadline=deadline, left_for=left_for)
        await analyze_problem(desk, answer_id, deadline=deadline)
        if not await retrieve_solution(desk, answer_id):
            number = 1
            while number <= MAX_ATTEMPTS:
                await solve_problem(desk, answer_id, number=number, deadline=deadline, left_for=left_for)
                verified = await verify_attempt(desk, answer_id, number=number, deadline=deadline, left_for=left_for)
                if verified.route == "enrich":
                    break
                number = verified.number
    except (UnsolvedError, UndecidedError):
        return _get(desk, answer_id)
    return await enrich_and_finish(desk, answer_id, deadline=deadline)


async def enrich_and_finish(
    desk: Desk, answer_id: str, *, skipped: SkipReason | None = None, deadline: Deadline | None = None
) -> AnswerRecord:
    """ENRICH, and the end: the badge, the best attempt, and everything the record counts for.

    `skipped`: why the verification of the latest attempt did not come back, None where it did.
    """
    from touchstone.answers.enrichment import enrich

    record = _get(desk, answer_id)
    if record.stage in ENDED:
        return record
    if skipped is not None:
        record = skip_verification(desk.answers, record, reason=skipped, sentence=sentence_of(skipped))
    ahead = settled(record, now=desk.clock())
    if ahead.best is None or ahead.verification_status is None:
        raise ConflictError("There is no attempt to finish with.")
    enriched = await enrich(
        _problem(record),
        ahead.best.solution,
        status=ahead.verification_status,
        judge=desk.judges.prefer("fast"),
        deadline=_within(ENRICH_SECONDS, deadline),
        language=record.language,
        use_cache=record.use_cache,
    )
    return finish(desk.answers, record, enrichment=enriched.enrichment, spends=enriched.spends)


def _within(seconds: float, deadline: Deadline | None) -> Deadline:
    """A step's own deadline, no later than that of the whole (None: it has none)."""
    return Deadline.after(seconds) if deadline is None else deadline.within(seconds)


def _put_off(
    desk: Desk,
    record: AnswerRecord,
    failure: JudgeError | LimitError | None,
    spends: Sequence[Spend],
    *,
    sentence: str,
    provider: str,
    left_for: timedelta | None,
) -> None:
    """Raise `UndecidedError` where this failure of `provider` is not the end; the record then waits for another try."""
    if failure is None or left_for is None:
        return
    from touchstone.operations.trying import put_off

    off = put_off(failure, record.trying, sentence=sentence, provider=provider, now=desk.clock(), left_for=left_for)
    if off is None:
        return
    desk.answers.wait(tenant=desk.tenant, answer_id=record.id, waiting=off.waiting, ended=off.ended, spends=spends)
    raise UndecidedError


def _unsolved(
    desk: Desk, answer_id: str, failure: str, spends: Sequence[Spend] = (), *, reason: Unanswered | None = None
) -> UnsolvedError:
    """The error to raise, after the record was told why there is no answer."""
    desk.answers.fail(tenant=desk.tenant, answer_id=answer_id, failure=failure, reason=reason, spends=spends)
    return UnsolvedError()


def _get(desk: Desk, answer_id: str) -> AnswerRecord:
    return desk.answers.get(Reference(desk.tenant, "answer", answer_id))


def _problem(record: AnswerRecord) -> str:
    if record.problem is None:
        raise ConflictError("The problem was not read yet.")
    return record.problem


def _analysis(record: AnswerRecord) -> Analysis | None:
    """What ANALYZE found, as the record keeps it; None where it found nothing."""
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
