"""Deep evaluations of a deployment: a record is claimed, judged, and its result stored, or it is put back.

Nothing is lost, and nothing is done twice.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from touchstone.answers.evaluation import Evaluated, evaluate
from touchstone.answers.model import AnswerRecord, EvaluationState
from touchstone.answers.providers import no_evaluator_sentence
from touchstone.attempts import Attempts
from touchstone.budgets import next_reset
from touchstone.clock import Clock, Deadline
from touchstone.errors import (
    ConflictError,
    DayQuotaError,
    JudgeError,
    LimitError,
    MisconfiguredError,
    QuotaExceededError,
)
from touchstone.judges.base import Judge, Purpose
from touchstone.judges.spends import Spend, spends_of_failure
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.jobs.after_failure import GivenUp, Postponed, Scope, after_failure
from touchstone.operations.jobs.traced import traced
from touchstone.records import evaluation_request_id

EVALUATE_SECONDS = 90.0
"""The time of one evaluation. A judge that thinks about a long solution takes half a minute."""
LEASE_SECONDS = 150.0
"""Longer than a judge may take and its result be stored. After this time the claimant is gone, and another may try."""

PAUSES = frozenset({"overloaded", "timed_out", "unreadable", "misconfigured", "minute_quota"})
"""The reasons of failures after which a record must pause before its next try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryOutcome:
    """The state of a record after a try. `until` is when it may be tried again (UTC), None if it is over.

    `reason` says why it was put back or given up, None if it was judged. `tried` is False if the record could not be
    claimed, or must still pause: then the state comes from earlier. `scope` says who would meet the refusal that put it
    back, None if there was none. `spends` are the calls that this try paid for.
    """

    state: EvaluationState
    request_id: str
    until: datetime | None = None
    reason: str | None = None
    tried: bool = False
    scope: Scope | None = None
    spends: tuple[Spend, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A record that this process has claimed until `lease`, and its judge; None if no judge can be asked."""

    record: AnswerRecord
    judge: Judge | None
    lease: datetime | None


type Judged = Evaluated | JudgeError | LimitError


def claim(context: AnswerContext, answer_id: str, *, purpose: Purpose) -> Claimed | TryOutcome:
    """Claim a record to judge it. If it cannot be claimed, return its state.

    A record is not claimed while it pauses after a judge that failed. A record that was put back for lack of quota or
    money is claimed all the same: a unit is reserved before anything is sent, and a limit may have been raised.
    """
    record = context.answers.get(context.ref("answer", answer_id))
    progress = record.evaluation
    pausing = progress.not_before is not None and progress.not_before > context.clock()
    if progress.state == "deferred" and pausing and progress.failure in PAUSES:
        return _outcome(record)
    # Before the claim, which holds the record: a failure to read the keys is not the record's fault.
    judge = context.judges.default("evaluate", purpose=purpose)
    claimed = context.evaluations.claim(context.ref("answer", answer_id), lease_seconds=LEASE_SECONDS)
    if not claimed.granted:
        return _outcome(claimed.record)
    return Claimed(record=claimed.record, judge=judge, lease=claimed.record.evaluation.not_before)


async def judged(claimed: Claimed, context: AnswerContext) -> Judged:
    """Ask the judge. A failure is returned, not raised, because it decides what happens to the record."""
    if claimed.judge is None:
        return MisconfiguredError(no_evaluator_sentence(context.judges.remedy), sent=False)
    return await asked_of(claimed.judge, claimed.record, clock=context.clock)


async def asked_of(judge: Judge, record: AnswerRecord, *, clock: Clock) -> Judged:
    """Ask a judge about a record. Raises `ConflictError` if the record has no answer."""
    if record.problem is None or record.best is None:
        raise ConflictError("There is no answer to evaluate: the record has none.")
    try:
        return await evaluate(
            record.problem,
            record.best.solution,
            judge=judge,
            deadline=Deadline.after(EVALUATE_SECONDS),
            clock=clock,
            language=record.language,
            use_cache=record.use_cache,
        )
    except (JudgeError, LimitError) as error:
        return error


def store(claimed: Claimed, result: Judged, context: AnswerContext) -> TryOutcome:
    """Store a result; after a failure, put the record into the line of deferred evaluations, or give it up."""
    which = claimed.record.ref
    if isinstance(result, Evaluated):
        record = context.evaluations.complete(which, evaluation=result.evaluation, spends=result.spends)
        return _outcome(record, tried=True, spends=result.spends)
    now = context.clock()
    scope: Scope | None = None
    spends = spends_of_failure(result, "evaluate")
    reset = next_reset(claimed.judge.provider, now) if claimed.judge else now + timedelta(hours=1)
    progress = claimed.record.evaluation
    match after_failure(result, Attempts(tries=progress.tries, since=progress.since), now=now, reset=reset):
        case GivenUp(reason=reason):
            record = context.evaluations.fail(which, failure=reason, spends=spends)
        case Postponed(scope=scope) as later:
            record = context.evaluations.defer(
                which,
                until=later.until,
                reason=later.reason,
                ended=later.ended,
                lease=claimed.lease,
                spends=spends,
                cheap=_spent(result) and context.batches(),
            )
    return _outcome(record, tried=True, scope=scope, spends=spends)


def _spent(error: JudgeError | LimitError) -> bool:
    """Whether the error is a used-up day's quota, which batches do not need."""
    return isinstance(error, DayQuotaError) or (isinstance(error, QuotaExceededError) and error.window == "day")


@traced
async def evaluate_answer(context: AnswerContext, answer_id: str) -> TryOutcome:
    """Try to evaluate a record once, for its own workflow. A `cheap` evaluation is put into the line for batches."""
    if context.batches():
        record = context.answers.get(context.ref("answer", answer_id))
        if record.evaluation.state == "waiting" and record.evaluation.when == "cheap":
            return _outcome(context.evaluations.enqueue(context.ref("answer", answer_id), cheap=True))
    claimed = claim(context, answer_id, purpose="fresh")
    if isinstance(claimed, TryOutcome):
        return claimed
    return store(claimed, await judged(claimed, context), context)


def _outcome(
    record: AnswerRecord, *, tried: bool = False, scope: Scope | None = None, spends: tuple[Spend, ...] = ()
) -> TryOutcome:
    progress = record.evaluation
    return TryOutcome(
        state=progress.state,
        request_id=evaluation_request_id(record),
        until=progress.not_before if progress.state in {"waiting", "deferred"} else None,
        reason=progress.failure,
        tried=tried,
        scope=scope,
        spends=spends,
    )
