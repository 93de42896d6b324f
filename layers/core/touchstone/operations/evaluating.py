"""Deep evaluations of a deployment: one record claimed, judged, and stored or put back; nothing lost, nothing twice."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from touchstone.answers.evaluation import Evaluated, evaluate
from touchstone.answers.model import AnswerRecord, EvaluationState
from touchstone.answers.providers import nobody_solves
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
from touchstone.operations.context import AnswerContext
from touchstone.operations.deferral import GivenUp, Postponed, Scope, after_failure
from touchstone.operations.traced import traced
from touchstone.records import evaluation_request_id

EVALUATE_SECONDS = 90.0
"""A judge that thinks over a long solution takes half a minute."""
LEASE_SECONDS = 150.0
"""Longer than a judge may take and its result be stored; after it the claimant is gone and another may try."""

PAUSES = frozenset({"overloaded", "timed_out", "unreadable", "misconfigured", "minute_quota"})
"""Reasons of a pause between tries, which is to be a pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryOutcome:
    """Where a record stands after a try. `until`: when it may be tried again (UTC), None when it is over.

    `reason` says why it was put back or given up, None where it was judged. `tried` is False where it was not ours to
    take, or not its time yet: then the state is an earlier one's doing. `scope` says whom the refusal would meet that
    put it back, None where there was none. `spends` are the calls that this try paid for.
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
    """A record that is ours to judge until `lease`."""

    record: AnswerRecord
    judge: Judge | None
    lease: datetime | None


type Judged = Evaluated | JudgeError | LimitError


def claim(context: AnswerContext, answer_id: str, *, purpose: Purpose) -> Claimed | TryOutcome:
    """Take a record to judge it, or tell where it stands when it is not ours to take.

    A record is not taken while it pauses after a judge that failed. One that was put back for want of quota or money is
    taken all the same: a unit is reserved before anything is sent, and a limit may have been raised.
    """
    record = context.answers.get(context.ref("answer", answer_id))
    progress = record.evaluation
    pausing = progress.not_before is not None and progress.not_before > context.clock()
    if progress.state == "deferred" and pausing and progress.failure in PAUSES:
        return _outcome(record)
    # Before the claim, which holds the record: keys that cannot be read are no fault of it.
    judge = context.judges.prefer("evaluate", purpose=purpose)
    claimed = context.evaluations.claim(tenant=context.tenant, answer_id=answer_id, lease_seconds=LEASE_SECONDS)
    if not claimed.granted:
        return _outcome(claimed.record)
    return Claimed(record=claimed.record, judge=judge, lease=claimed.record.evaluation.not_before)


async def judged(claimed: Claimed, context: AnswerContext) -> Judged:
    """Ask the judge; a failure is returned, since it decides what becomes of the record."""
    if claimed.judge is None:
        return MisconfiguredError(nobody_solves(context.judges.remedy), sent=False)
    return await asked_of(claimed.judge, claimed.record, clock=context.clock)


async def asked_of(judge: Judge, record: AnswerRecord, *, clock: Clock) -> Judged:
    """Ask a judge about a record. Raises `ConflictError` where it has no answer."""
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
    """Store a result, or put the record in the line of the deferred, or give it up."""
    tenant, answer_id = context.tenant, claimed.record.id
    if isinstance(result, Evaluated):
        record = context.evaluations.complete(
            tenant=tenant, answer_id=answer_id, evaluation=result.evaluation, spends=result.spends
        )
        return _outcome(record, tried=True, spends=result.spends)
    now = context.clock()
    scope: Scope | None = None
    spends = spends_of_failure(result, "evaluate")
    reset = next_reset(claimed.judge.provider, now) if claimed.judge else now + timedelta(hours=1)
    progress = claimed.record.evaluation
    match after_failure(result, Attempts(tries=progress.tries, since=progress.since), now=now, reset=reset):
        case GivenUp(reason=reason):
            record = context.evaluations.fail(tenant=tenant, answer_id=answer_id, failure=reason, spends=spends)
        case Postponed(scope=scope) as later:
            record = context.evaluations.defer(
                tenant=tenant,
                answer_id=answer_id,
                until=later.until,
                reason=later.reason,
                ended=later.ended,
                lease=claimed.lease,
                spends=spends,
                cheap=_spent(result) and context.batches(),
            )
    return _outcome(record, tried=True, scope=scope, spends=spends)


def _spent(error: JudgeError | LimitError) -> bool:
    """Whether a day's quota was spent, which batches do not touch."""
    return isinstance(error, DayQuotaError) or (isinstance(error, QuotaExceededError) and error.window == "day")


@traced
async def evaluate_answer(context: AnswerContext, answer_id: str) -> TryOutcome:
    """One try at a record of today, for its own workflow; one asked for `cheap` is put in the line for batches."""
    if context.batches():
        record = context.answers.get(context.ref("answer", answer_id))
        if record.evaluation.state == "waiting" and record.evaluation.when == "cheap":
            return _outcome(context.evaluations.line_up(tenant=context.tenant, answer_id=answer_id, cheap=True))
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
