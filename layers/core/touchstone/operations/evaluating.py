"""Deep evaluations of a deployment: one record claimed, judged, and stored or put back; nothing lost, nothing twice."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from touchstone.answers.evaluation import Evaluated, evaluate
from touchstone.answers.model import AnswerRecord, EvaluationState
from touchstone.answers.providers import nobody_solves
from touchstone.attempts import Attempts
from touchstone.budgets import next_reset
from touchstone.clock import Deadline
from touchstone.errors import ConflictError, JudgeError, LimitError, MisconfiguredError
from touchstone.judges.base import Judge, Purpose
from touchstone.judges.spends import Spend, spends_of_failure
from touchstone.operations.deferral import GivenUp, Postponed, Scope, after_failure
from touchstone.operations.desk import Desk
from touchstone.records import evaluation_request_id
from touchstone.references import Reference

EVALUATE_SECONDS = 90.0
"""A judge that thinks over a long solution takes half a minute."""
LEASE_SECONDS = 150.0
"""Longer than a judge may take and its result be stored; after it the claimant is gone and another may try."""

PAUSES = frozenset({"overloaded", "timed_out", "unreadable", "misconfigured", "minute_quota"})
"""Reasons of a pause between tries, which is to be a pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
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


def claim(desk: Desk, answer_id: str, *, purpose: Purpose) -> Claimed | Outcome:
    """Take a record to judge it, or tell where it stands when it is not ours to take.

    A record is not taken while it pauses after a judge that failed. One that was put back for want of quota or money is
    taken all the same: a unit is reserved before anything is sent, and a limit may have been raised.
    """
    record = desk.answers.get(Reference(desk.tenant, "answer", answer_id))
    progress = record.evaluation
    pausing = progress.not_before is not None and progress.not_before > desk.clock()
    if progress.state == "deferred" and pausing and progress.failure in PAUSES:
        return _outcome(record)
    # Before the claim, which holds the record: keys that cannot be read are no fault of it.
    judge = desk.judges.prefer("evaluate", purpose=purpose)
    claimed = desk.evaluations.claim(tenant=desk.tenant, answer_id=answer_id, lease_seconds=LEASE_SECONDS)
    if not claimed.granted:
        return _outcome(claimed.record)
    return Claimed(record=claimed.record, judge=judge, lease=claimed.record.evaluation.not_before)


async def judged(claimed: Claimed, desk: Desk) -> Judged:
    """Ask the judge; a failure is returned, since it decides what becomes of the record."""
    record = claimed.record
    if record.problem is None or record.best is None:
        raise ConflictError("There is no answer to evaluate: the record has none.")
    if claimed.judge is None:
        return MisconfiguredError(nobody_solves(desk.judges.remedy), sent=False)
    try:
        return await evaluate(
            record.problem,
            record.best.solution,
            judge=claimed.judge,
            deadline=Deadline.after(EVALUATE_SECONDS),
            clock=desk.clock,
            language=record.language,
            use_cache=record.use_cache,
        )
    except (JudgeError, LimitError) as error:
        return error


def store(claimed: Claimed, result: Judged, desk: Desk) -> Outcome:
    """Store a result, or put the record in the line of the deferred, or give it up."""
    tenant, answer_id = desk.tenant, claimed.record.id
    if isinstance(result, Evaluated):
        record = desk.evaluations.complete(
            tenant=tenant, answer_id=answer_id, evaluation=result.evaluation, spends=result.spends
        )
        return _outcome(record, tried=True, spends=result.spends)
    now = desk.clock()
    scope: Scope | None = None
    spends = spends_of_failure(result, "evaluate")
    reset = next_reset(claimed.judge.provider, now) if claimed.judge else now + timedelta(hours=1)
    progress = claimed.record.evaluation
    match after_failure(result, Attempts(tries=progress.tries, since=progress.since), now=now, reset=reset):
        case GivenUp(reason=reason):
            record = desk.evaluations.fail(tenant=tenant, answer_id=answer_id, failure=reason, spends=spends)
        case Postponed(scope=scope) as later:
            record = desk.evaluations.defer(
                tenant=tenant,
                answer_id=answer_id,
                until=later.until,
                reason=later.reason,
                ended=later.ended,
                lease=claimed.lease,
                spends=spends,
            )
    return _outcome(record, tried=True, scope=scope, spends=spends)


async def evaluate_answer(desk: Desk, answer_id: str) -> Outcome:
    """One try at a record of today, for its own workflow."""
    claimed = claim(desk, answer_id, purpose="fresh")
    if isinstance(claimed, Outcome):
        return claimed
    return store(claimed, await judged(claimed, desk), desk)


def _outcome(
    record: AnswerRecord, *, tried: bool = False, scope: Scope | None = None, spends: tuple[Spend, ...] = ()
) -> Outcome:
    progress = record.evaluation
    return Outcome(
        state=progress.state,
        request_id=evaluation_request_id(record),
        until=progress.not_before if progress.state in {"waiting", "deferred"} else None,
        reason=progress.failure,
        tried=tried,
        scope=scope,
        spends=spends,
    )
