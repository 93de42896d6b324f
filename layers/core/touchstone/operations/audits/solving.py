"""The step of a case: one turn of the agent, or the proofs of an earlier audit. Nothing here has seen the key.

The result of a step is stored before the record says so: a crash in between repeats one turn at most once. A first turn
that can wait goes through a provider's batch. Its result lies beside the case until the case's own step takes it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict

from touchstone.attempts import BATCHED
from touchstone.audits.agent import Workbench, begin, reopened, take_turn
from touchstone.audits.case_work import RecheckState, case_advanced, case_awaiting, case_over, case_put_back
from touchstone.audits.cost_limit import cost_reached
from touchstone.audits.report import stored_proof
from touchstone.audits.verdict import standings
from touchstone.clock import Deadline
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.spends import count_unpriced, known_cost
from touchstone.operations.jobs.after_failure import ANY_PROVIDER
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.jobs.parted import batched_line, part_progress
from touchstone.operations.jobs.traced import tracing_calls
from touchstone.operations.jobs.tries import NotingSolver, try_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from touchstone.audits.agent import AgentState
    from touchstone.audits.case_work import BatchTurn, CaseTask, CaseWork
    from touchstone.audits.record import AuditRecord, BundlePlace
    from touchstone.audits.report import StoredProof
    from touchstone.audits.sandbox.result import ProofResult
    from touchstone.audits.verdict import ProofStanding
    from touchstone.errors import JudgeError, LimitError
    from touchstone.judges.conversing import Conversing
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.audits.files import AuditFiles
    from touchstone.parts import PartsProgress

TURN_SECONDS = 420.0
"""No script is begun after this many seconds of a turn. The last script may take as long as the sandbox allows, and its
result must still be stored."""
AUDITED_WITHIN = timedelta(days=7)
"""How long an audit waits for quota, money or keys."""
INTERRUPTED = "timed_out"


async def take_step(context: AuditContext, audit_id: str, number: int) -> StepProgress:
    """Take one step of a case; it may be repeated: `going_on` if another step follows, `waiting` for a try, or `over`.

    The state is `batched` if a provider's batch is to take the first turn.
    """
    record = context.record(audit_id)
    if record.finished_at is not None or record.place is None or record.plan is None:
        return StepProgress(state="over")
    case, ours = context.cases.begin(record.ref, number)
    if not ours:
        return _nothing_to_do(context, case)
    files = context.files(audit_id)
    work = _Work(context=context, record=record, place=record.place, case=case, files=files, task=files.task(number))
    if work.task.before is not None and (said := await work.proved_again(record.plan.unchanged)) is not None:
        return said
    if record.terms.kind == "recheck":
        return work.over()  # a case without stored proofs has nothing to run
    return await work.turn()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """One step of one case."""

    context: AuditContext
    record: AuditRecord
    place: BundlePlace
    case: CaseWork
    files: AuditFiles
    task: CaseTask

    async def proved_again(self, unchanged: bool) -> StepProgress | None:
        """Run the remaining proofs of an earlier audit. None if they are all run and the case is to be solved."""
        before = self.task.before or ()
        again = self.files.again(self.case.number) or RecheckState()
        solving = self.record.terms.kind == "audit"
        if again.stands is not None:
            return None if solving and not again.stands else self.over()
        # With the very same bundle the proofs would have the same results.
        again, all_run = (RecheckState(proofs=before), True) if unchanged else await self._run_on(before, again)
        if all_run:
            again = again.model_copy(update={"stands": self._standing(again.proofs) == self._standing(before)})
        self.files.put_again(self.case.number, again)
        if not all_run or (solving and not again.stands):
            return self._next_step()  # the next thing takes a step of its own, with the full time of a step
        return self.over()

    async def turn(self) -> StepProgress:
        """Take one turn of the agent, with the scripts that it runs."""
        state = self.files.state(self.case.number)
        if state is not None and state.ended is not None and state.ended.why != "unanswered":
            return self.over(state)
        far = self.context.cases.progress(self.record.ref)
        library = self.context.library(self.place)
        if state is None:
            state = begin(self.task.case, library, bounds=self.record.terms.bounds)
        why = cost_reached(self.record.terms.max_cost_usd, far.cost_usd, far.unpriced_calls)
        brought = _uncounted(self.files, self.case, state)
        recorded = None if brought is None or why is not None else await self._recorded(state, brought)
        if brought is not None and recorded is None:
            state = _counted(state, brought)
            self.files.put_state(self.case.number, state)
        if why is not None:
            state = reopened(state).with_end("unanswered", why)
            self.files.put_state(self.case.number, state)
            return self.over(state)
        if await self._waits(state, far):
            return StepProgress(state=BATCHED)
        try:
            solver = NotingSolver(recorded or self.context.solver(solver_of(self.record, state)))
        except (SettingsError, MisconfiguredError) as error:
            return self._put_back(state, [MisconfiguredError(str(error), sent=False)], ANY_PROVIDER)
        known = state.spends
        bench = Workbench(library, self._prove)
        async with tracing_calls(self.context, self.case.id):
            state = await take_turn(reopened(state), model=solver, bench=bench, deadline=Deadline.after(TURN_SECONDS))
        if brought is None or recorded is None:
            self.context.paid(state.spends[len(known) :])
        else:  # `paid` was told of them when the batch was settled
            state = state.model_copy(update={"spends": (*known, *brought.spends)})
        self.files.put_state(self.case.number, state)
        if state.ended is None:
            return self._next_step(state)
        if state.ended.why == "unanswered" and solver.failures:
            return self._put_back(state, solver.failures, solver.provider)
        return self.over(state)

    def over(self, state: AgentState | None = None, *, why: str | None = None) -> StepProgress:
        """Store that the case is over."""
        _ended(self.context, self.case, why, turns=_turns(state), **_cost(state))
        return StepProgress(state="over", reason=why)

    async def _waits(self, state: AgentState, far: PartsProgress) -> bool:
        """Whether the case's first turn goes to a batch, so that the case waits from now on."""
        record, case, by_batch = self.record, self.case, self.context.by_batch
        if by_batch is None or record.when == "now" or case.hastened or state.turns:
            return False
        wanted = await by_batch().wanted(record, state)
        bound = record.terms.max_cost_usd
        # Assume that each case before this one waits too: all that wait at the same time must be within the limit of
        # cost.
        if wanted is None or (bound is not None and far.cost_usd + case.number * wanted.most_usd > bound):
            return False
        # The question is the transcript so far, which is the same for any sender.
        self.files.put_state(case.number, reopened(state))
        line = batched_line(case, "audit", (wanted,), now=self.context.clock())
        self.files.put_wanted(case.number, line)
        return self.context.cases.change(case, lambda one: case_awaiting(one, now=self.context.clock())).batched

    async def _recorded(self, state: AgentState, brought: BatchTurn) -> Conversing | None:
        """A model that gives the first turn that a batch brought.

        None if that is of no use, or the first turn was taken meanwhile.
        """
        if self.context.by_batch is None or state.turns or not brought.usable:
            return None
        return await self.context.by_batch().recorded(self.record, state, brought)

    async def _prove(self, script: str) -> ProofResult:
        order = self.context.order(self.record, self.place, script)
        return await asyncio.to_thread(self.context.sandbox().prove, order)

    async def _run_on(self, before: Sequence[StoredProof], again: RecheckState) -> tuple[RecheckState, bool]:
        """Run the proofs that are not run yet, as far as the time allows.

        Return the results, and whether all proofs are run.
        """
        proofs = list(again.proofs)
        deadline = Deadline.after(TURN_SECONDS)
        for proof in before[len(proofs) :]:
            if deadline.passed:
                return RecheckState(proofs=tuple(proofs)), False
            proofs.append(stored_proof(proof.label, proof.script, await self._prove(proof.script)))
        return RecheckState(proofs=tuple(proofs)), True

    def _standing(self, proofs: Sequence[StoredProof]) -> list[ProofStanding]:
        found = standings(self.task.case, {proof.label: proof.outcome for proof in proofs})
        return [one.standing for one in found]

    def _next_step(self, state: AgentState | None = None) -> StepProgress:
        self.context.cases.change(
            self.case, lambda one: case_advanced(one, turns=_turns(state), now=self.context.clock(), **_cost(state))
        )
        return StepProgress(state="going_on")

    def _put_back(self, state: AgentState, failures: Sequence[JudgeError | LimitError], provider: str) -> StepProgress:
        """Put a case back that got no turn, to be tried again later, or end it."""
        reason = failures[-1].reason
        later = try_again(
            failures[-1:],
            attempts=self.case.attempts,
            provider=provider,
            now=self.context.clock(),
            asked_at=self.record.created_at,
            within=AUDITED_WITHIN,
        )
        if later is None:
            state = state.with_end("unanswered", str(failures[-1]))
            self.files.put_state(self.case.number, state)
            return self.over(state, why=reason)
        back = self.context.cases.change(
            self.case,
            lambda one: case_put_back(
                one, reason, until=later.until, ended=later.ended, now=self.context.clock(), **_cost(state)
            ),
        )
        return StepProgress(state="waiting", until=back.attempts.not_before, reason=reason)


def _nothing_to_do(context: AuditContext, case: CaseWork) -> StepProgress:
    """The progress of a case on which no step is to be made now. A case whose tries are used up is over."""
    if not case.over and case.attempts.exhausted(context.clock()):
        case = _ended(
            context, case, INTERRUPTED, turns=case.turns, cost_usd=case.cost_usd, unpriced_calls=case.unpriced_calls
        )
    return part_progress(case)


def _ended(
    context: AuditContext,
    case: CaseWork,
    why: str | None,
    *,
    turns: int,
    cost_usd: float,
    unpriced_calls: int,
    counted: bool = False,
) -> CaseWork:
    """Store that a case is over. `why` says why its last try brought nothing; None if it brought something."""
    ended = context.cases.change(
        case,
        lambda one: case_over(
            one,
            why,
            turns=turns,
            cost_usd=cost_usd,
            now=context.clock(),
            unpriced_calls=unpriced_calls,
            counted=counted,
        ),
    )
    return ended if ended.over else count_unused_turn(context, ended, why)


def count_unused_turn(context: AuditContext, case: CaseWork, why: str | None = None) -> CaseWork:
    """Count the cost of a turn that a batch brought for a case that is over or ends now: it was paid for in vain."""
    files = context.files(case.audit_id)
    state = files.state(case.number)
    brought = None if state is None else _uncounted(files, case, state)
    if state is not None and brought is not None:
        state = _counted(state, brought)
        files.put_state(case.number, state)
    cost = _cost(state)
    cost["counted"] = True  # also if the file of the brought turn is gone
    return context.cases.change(case, lambda one: case_over(one, why, turns=_turns(state), now=context.clock(), **cost))


def _uncounted(files: AuditFiles, case: CaseWork, state: AgentState) -> BatchTurn | None:
    """The turn that a batch brought for a case, if its cost is not in the case's state yet. None if there is none."""
    if case.brought_by is None or case.counted or any(spend.line_id is not None for spend in state.spends):
        return None
    return files.brought(case.number)


def _counted(state: AgentState, brought: BatchTurn) -> AgentState:
    """The state with the cost of a batch's calls whose turn it does not use."""
    return state.model_copy(update={"spends": (*state.spends, *brought.spends)})


def solver_of(record: AuditRecord, state: AgentState) -> str | None:
    """The provider that solves: the one that the audit names, else the one that took the earlier turns.

    None before any turn. No other provider could continue from the earlier turns.
    """
    return record.terms.provider or next((spend.provider for spend in reversed(state.spends)), None)


def _turns(state: AgentState | None) -> int:
    return 0 if state is None else state.turns


def _cost(state: AgentState | None) -> _Cost:
    spends = () if state is None else state.spends
    return {
        "cost_usd": known_cost(spends) or 0.0,
        "unpriced_calls": count_unpriced(spends),
        "counted": any(spend.line_id is not None for spend in spends),
    }


class _Cost(TypedDict):
    cost_usd: float
    unpriced_calls: int
    counted: bool
