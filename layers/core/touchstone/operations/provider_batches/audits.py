"""First turns of audits' cases in batches: the first question about a case, and the only one that goes by batches.

    a case ── wants what no batch takes ──> asked at once
        └──── waits ── gathered ── in a batch ── settled ─┬─ a turn ──────> taken by the case's own step, which goes on
                                                          └─ none of use ─> asked at once

The audit gathers the cases that wait (`files`). Settling stores the brought turn beside the case, and leaves the case
to its own step. If the case is over, or has had its first turn meanwhile, the brought turn only adds to its cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.audits.agent import AgentState, open_solver
from touchstone.audits.agent.solving import PURPOSE, first_request
from touchstone.audits.case_work import BatchTurn, CaseWork, case_batch_ended
from touchstone.audits.record import AuditRecord
from touchstone.clock import Deadline
from touchstone.errors import JudgeError, NotFoundError, SettingsError
from touchstone.judges.base import Reply
from touchstone.judges.batches import BatchReply
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.conversing import Conversing, Turn, TurnRequest
from touchstone.judges.spends import Spend, spends_of, spends_of_failure
from touchstone.operations.audits.context import AuditContext
from touchstone.operations.audits.solving import count_unused_turn, solver_of
from touchstone.operations.jobs.waiting import OpenLine, PartsStanding, WantedQuestion
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.files import FileBatches, WantingWork
from touchstone.operations.provider_batches.questions import (
    ListedQuestion,
    SettledQuestion,
    settled_by,
    wanted_question,
    without_latency,
)
from touchstone.operations.provider_batches.replaying import AwaitedError, WaitingQuestion, replayed_line
from touchstone.references import Reference

REPLAY_SECONDS = 60.0
"""The time for replaying a turn with the reply that is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedTurn:
    """The result of a first turn that is replayed with a batch's reply.

    It is a `reply`, failed calls in `spends`, or a question that is `wanted`.
    """

    reply: Reply[Turn] | None = None
    wanted: WaitingQuestion | None = None
    spends: tuple[Spend, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSolver:
    """A model that gives the turn that it gave in a batch."""

    provider: str
    reply: Reply[Turn]

    @property
    def model(self) -> str:
        """The model that was asked."""
        return self.reply.requested_model

    async def converse(self, request: TurnRequest, *, deadline: Deadline) -> Reply[Turn]:  # noqa: ARG002 - it was asked this
        """The turn that the batch brought."""
        return self.reply


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBatches:
    """The batches at providers that one tenant's audits use."""

    files: FileBatches

    async def wanted(self, record: AuditRecord, state: AgentState) -> WantedQuestion | None:
        """The question that a batch is to answer as a case's first turn. None if no batch takes it.

        Nothing is asked here.
        """
        if not self.files.begins(self._asking(record)):
            return None
        try:
            found = await replayed(self.files.context, record, state)
        except (SettingsError, JudgeError):
            return None  # the code that asks at once reports what is wrong
        return None if found.wanted is None else await wanted_question(self.files.context, found.wanted, shared=False)

    async def recorded(self, record: AuditRecord, state: AgentState, brought: BatchTurn) -> Conversing | None:
        """A model that gives only the brought first turn.

        None if the turn answers a question that has changed since.
        """
        try:
            found = await replayed(
                self.files.context, record, state, address=brought.address, reply=brought.reply, by=brought.provider
            )
        except (SettingsError, JudgeError):
            return None  # the provider is no longer available
        return None if found.reply is None else RecordedSolver(provider=brought.provider, reply=found.reply)

    def add_to_batches(self, record: AuditRecord, lines: Sequence[OpenLine]) -> PartsStanding:
        """Add the cases' open questions to batches. Return each case's new state, keyed by its number."""
        return self.files.add_parts_to_batches(self._asking(record), lines)

    def _asking(self, record: AuditRecord) -> WantingWork:
        return WantingWork.of_parts(record, self.files.context.auditing().files(record.id))


async def replayed(
    context: BatchingContext,
    record: AuditRecord,
    state: AgentState,
    *,
    address: str | None = None,
    reply: BatchReply | None = None,
    by: str | None = None,
) -> ReplayedTurn:
    """Ask for a case's first turn, answered by the reply that the provider `by` brought. Nothing is sent or stored.

    Raises `SettingsError` or `MisconfiguredError` if no model could be asked.
    """
    registry = context.apis.registry
    brought = {} if address is None or reply is None else {address: [reply]}
    async with replayed_line(context.apis, brought, cache=None, brought_by=by) as (judges, work):
        solver = open_solver(judges, by or solver_of(record, state))
        try:
            found = await solver.converse(first_request(state), deadline=Deadline.after(REPLAY_SECONDS))
        except AwaitedError:
            return ReplayedTurn(wanted=work.wanted[0])
        except JudgeError as error:
            return ReplayedTurn(spends=without_latency(spends_of_failure(error, PURPOSE), registry))
        return ReplayedTurn(reply=found, spends=without_latency(spends_of(found, PURPOSE), registry))


async def still_wanted(
    context: BatchingContext,
    batch: ProviderBatch,  # noqa: ARG001 - a question of an audit is in its batch by the audit's own word
    group: Sequence[ListedQuestion],
) -> Mapping[str, WaitingQuestion]:
    """The question that a case still wants answered, as it is to be sent."""
    _, record, case, state = _read(context, group[0])
    if record.finished_at is not None or record.when == "now" or case.over or case.hastened or state.turns:
        return {}
    try:
        wanted = (await replayed(context, record, state)).wanted
    except (SettingsError, JudgeError):
        return {}
    return {} if wanted is None else {wanted.address: wanted}


async def settled(
    context: BatchingContext, batch: ProviderBatch, question: ListedQuestion, reply: BatchReply | None
) -> SettledQuestion:
    """Store the turn that a batch brought for a case beside the case.

    Without a usable turn the case is asked at once.
    """
    here, record, case, state = _read(context, question)
    spends: tuple[Spend, ...] = ()
    if reply is not None and question.address is not None:
        found = await replayed(context, record, state, address=question.address, reply=reply, by=batch.provider)
        spends = found.spends
        if spends:
            came = BatchTurn(address=question.address, provider=batch.provider, reply=reply, spends=spends)
            here.files(record.id).put_brought(case.number, came)
    brought_by = batch.id if spends else None
    case = here.cases.change(case, lambda one: case_batch_ended(one, brought_by, now=here.clock()))
    if case.over and not case.counted and case.brought_by is not None:
        count_unused_turn(here, case)
    return settled_by(reply, spends)


def _read(context: BatchingContext, question: ListedQuestion) -> tuple[AuditContext, AuditRecord, CaseWork, AgentState]:
    """The audit's context, its record, and the case of a question with its state.

    Raises `NotFoundError` if any is gone.
    """
    here = context.auditing()
    audit_id, _, number = question.answer_id.rpartition("-")
    record = here.record(audit_id)
    case = here.cases.get(Reference(context.tenant, "audit", audit_id), int(number))
    state = here.files(audit_id).state(case.number)
    if state is None:
        raise NotFoundError("The case has no transcript any more.")
    return here, record, case, state
