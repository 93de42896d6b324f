"""The step of a case: one turn of the agent, or the proofs of an earlier audit. Nothing here has seen the key.

What was done is kept before the record says so: a crash in between does one turn twice at most.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict

from touchstone.audits.agent import Workbench, begin, reopened, take_turn
from touchstone.audits.case_work import Again, case_over, case_put_back, case_went_on
from touchstone.audits.report import stored_proof
from touchstone.audits.verdict import standings
from touchstone.audits.whole import cost_reached
from touchstone.clock import Deadline
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.spends import known_cost, unpriced
from touchstone.operations.context import StepProgress
from touchstone.operations.jobs.tries import NotingSolver, try_again
from touchstone.operations.traced import tracing_calls
from touchstone.operations.trying import NOBODY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from touchstone.audits.agent import AgentState
    from touchstone.audits.case_work import CaseTask, CaseWork
    from touchstone.audits.record import AuditRecord, BundlePlace
    from touchstone.audits.report import StoredProof
    from touchstone.audits.sandbox.prove import ProofResult
    from touchstone.audits.verdict import ProofStanding
    from touchstone.errors import JudgeError, LimitError
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.audits.files import AuditFiles

TURN_SECONDS = 420.0
"""No script is begun after so long a turn: the last may take as long as the sandbox has, and must be kept then."""
AUDITED_WITHIN = timedelta(days=7)
"""How long an audit waits for quota, money or keys."""
INTERRUPTED = "timed_out"


async def go_on(context: AuditContext, audit_id: str, number: int) -> StepProgress:
    """One step of a case, which may be repeated: `going_on` where another is ahead, `waiting` for a try, or `over`."""
    record = context.record(audit_id)
    if record.finished_at is not None or record.place is None or record.plan is None:
        return StepProgress(state="over")
    case, ours = context.cases.begin(record.ref, number)
    if not ours:
        return _not_ours(context, case)
    files = context.files(audit_id)
    work = _Work(context=context, record=record, place=record.place, case=case, files=files, task=files.task(number))
    if work.task.before is not None and (said := await work.proved_again(record.plan.unchanged)) is not None:
        return said
    if record.terms.kind == "recheck":
        return work.over()  # of a case without stored proofs there is nothing to run
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
        """Run what is left of an earlier audit's proofs; None where that is done and the case is to be solved."""
        before = self.task.before or ()
        again = self.files.again(self.case.number) or Again()
        solving = self.record.terms.kind == "audit"
        if again.stands is not None:
            return None if solving and not again.stands else self.over()
        # Of the very same bundle they would come to the same.
        again, all_run = (Again(proofs=before), True) if unchanged else await self._run_on(before, again)
        if all_run:
            again = again.model_copy(update={"stands": self._standing(again.proofs) == self._standing(before)})
        self.files.put_again(self.case.number, again)
        if not all_run or (solving and not again.stands):
            return self._went_on()  # whatever is next takes a step of its own, with all of its time
        return self.over()

    async def turn(self) -> StepProgress:
        """One turn of the agent, with the scripts that it runs."""
        state = self.files.state(self.case.number)
        if state is not None and state.ended is not None and state.ended.why != "unanswered":
            return self.over(state)
        far = self.context.cases.progress(self.record.ref)
        library = self.context.library(self.place)
        if state is None:
            state = begin(self.task.case, library, bounds=self.record.terms.bounds)
        if (why := cost_reached(self.record.terms.max_cost_usd, far.cost_usd, far.unpriced_calls)) is not None:
            state = reopened(state).over("unanswered", why)
            self.files.put_state(self.case.number, state)
            return self.over(state)
        try:
            solver = NotingSolver(self.context.solver(_provider(self.record, state)))
        except (SettingsError, MisconfiguredError) as error:
            return self._put_back(state, [MisconfiguredError(str(error), sent=False)], NOBODY)
        known = len(state.spends)
        bench = Workbench(library, self._prove)
        async with tracing_calls(self.context, self.case.id):
            state = await take_turn(reopened(state), model=solver, bench=bench, deadline=Deadline.after(TURN_SECONDS))
        self.context.paid(state.spends[known:])
        self.files.put_state(self.case.number, state)
        if state.ended is None:
            return self._went_on(state)
        if state.ended.why == "unanswered" and solver.failures:
            return self._put_back(state, solver.failures, solver.provider)
        return self.over(state)

    def over(self, state: AgentState | None = None, *, why: str | None = None) -> StepProgress:
        """The case is over."""
        _ended(self.context, self.case, why, turns=_turns(state), **_cost(state))
        return StepProgress(state="over", reason=why)

    async def _prove(self, script: str) -> ProofResult:
        order = self.context.order(self.record, self.place, script)
        return await asyncio.to_thread(self.context.sandbox().prove, order)

    async def _run_on(self, before: Sequence[StoredProof], again: Again) -> tuple[Again, bool]:
        """Run the proofs that were not yet, as far as the time goes, and whether all are."""
        proofs = list(again.proofs)
        deadline = Deadline.after(TURN_SECONDS)
        for proof in before[len(proofs) :]:
            if deadline.passed:
                return Again(proofs=tuple(proofs)), False
            proofs.append(stored_proof(proof.label, proof.script, await self._prove(proof.script)))
        return Again(proofs=tuple(proofs)), True

    def _standing(self, proofs: Sequence[StoredProof]) -> list[ProofStanding]:
        found = standings(self.task.case, {proof.label: proof.outcome for proof in proofs})
        return [one.standing for one in found]

    def _went_on(self, state: AgentState | None = None) -> StepProgress:
        self.context.cases.change(
            self.case,
            lambda one: case_went_on(one, turns=_turns(state), now=self.context.clock(), **_cost(state)),
        )
        return StepProgress(state="going_on")

    def _put_back(self, state: AgentState, failures: Sequence[JudgeError | LimitError], provider: str) -> StepProgress:
        """Nobody gave a turn: tried again later, or over."""
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
            state = state.over("unanswered", str(failures[-1]))
            self.files.put_state(self.case.number, state)
            return self.over(state, why=reason)
        back = self.context.cases.change(
            self.case,
            lambda one: case_put_back(
                one, reason, until=later.until, ended=later.ended, now=self.context.clock(), **_cost(state)
            ),
        )
        return StepProgress(state="waiting", until=back.attempts.not_before, reason=reason)


def _not_ours(context: AuditContext, case: CaseWork) -> StepProgress:
    """Where a case stands that no step is to be made of now; one whose tries are used up is over."""
    if not case.over and case.attempts.broken_off(context.clock()):
        case = _ended(
            context, case, INTERRUPTED, turns=case.turns, cost_usd=case.cost_usd, unpriced_calls=case.unpriced_calls
        )
    return StepProgress(state="over") if case.over else StepProgress(state="waiting", until=case.attempts.not_before)


def _ended(
    context: AuditContext, case: CaseWork, why: str | None, *, turns: int, cost_usd: float, unpriced_calls: int
) -> CaseWork:
    """Keep that a case is over; `why` its last try brought nothing, None where it did."""
    return context.cases.change(
        case,
        lambda one: case_over(
            one, why, turns=turns, cost_usd=cost_usd, now=context.clock(), unpriced_calls=unpriced_calls
        ),
    )


def _provider(record: AuditRecord, state: AgentState) -> str | None:
    """Who solves: whoever was named, else whoever took the turns before, which no other could go on with."""
    return record.terms.provider or next((spend.provider for spend in reversed(state.spends)), None)


def _turns(state: AgentState | None) -> int:
    return 0 if state is None else state.turns


def _cost(state: AgentState | None) -> _Cost:
    spends = () if state is None else state.spends
    return {"cost_usd": known_cost(spends) or 0.0, "unpriced_calls": unpriced(spends)}


class _Cost(TypedDict):
    cost_usd: float
    unpriced_calls: int
