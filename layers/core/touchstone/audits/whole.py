"""A whole audit in this process: every case solved by an agent, proved, rated, and kept in a folder as it goes.

```python
report = await audit(loaded.cases, bundle, model=open_solver(judges), sandbox=open_sandbox(), folder=Path("out"))
```

An audit that was interrupted goes on where it was, in the middle of a case too: no turn that was answered is paid for
again. Where an earlier audit is handed in, of another version of the target say, its proofs are run first, which asks
no model, and a case is solved again only where an option stands otherwise than it did.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.audits.agent import (
    AgentState,
    Bounds,
    Library,
    SolvedCase,
    Workbench,
    begin,
    proving,
    reopened,
    solved,
    take_turn,
)
from touchstone.audits.bundles.target import Bundle
from touchstone.audits.case import AuditCase
from touchstone.audits.folder import AuditFolder, AuditFolderRequest, Taken
from touchstone.audits.loading import LoadedCase
from touchstone.audits.recheck import recheck
from touchstone.audits.report import (
    AuditedCase,
    CaseSource,
    QualityReport,
    StoredProof,
    audited_case,
    quality_report,
    stored_proof,
)
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, Limits
from touchstone.audits.sandbox.prove import check_import
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.judges.conversing import Conversing
from touchstone.judges.registry import unpriced_allowed
from touchstone.judges.spends import Spend, known_cost, unpriced

DEFAULT_BOUNDS = Bounds()
COST_REACHED = "The limit of cost was reached."
COST_UNKNOWN = "A call came without its cost, so the limit of cost cannot be kept (TOUCHSTONE_UNPRICED=allow goes on)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """How far an audit is: `done` cases of `total`, for `cost_usd` so far, all but `unpriced_calls`."""

    done: int
    total: int
    cost_usd: float
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvingTerms:
    """How cases are solved: the bounds of each and of its proofs, and how many at a time.

    `max_cost_usd`: no turn is begun once all have cost so much, or once the cost of one is not known and
    `TOUCHSTONE_UNPRICED` does not let it pass; None: without limit.
    """

    bounds: Bounds = DEFAULT_BOUNDS
    limits: Limits = DEFAULT_LIMITS
    jobs: int = 1
    max_cost_usd: float | None = None


DEFAULT_TERMS = SolvingTerms()


async def audit(
    cases: Sequence[LoadedCase],
    bundle: Bundle,
    *,
    model: Conversing,
    sandbox: Sandbox,
    folder: Path,
    terms: SolvingTerms = DEFAULT_TERMS,
    previous: QualityReport | None = None,
    progress: Callable[[Far], None] = lambda _far: None,
    clock: Clock = system_clock,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> QualityReport:
    """Audit `cases` against `bundle`, in `folder`.

    Raises InputError where the target cannot be imported, `ConflictError` where the folder holds another audit or is
    held by another run, `StoreError` where it cannot be written, and SettingsError where scripts cannot be run here. A
    model that fails is no error: its cases are Unproven, say why, and are gone on with by the next run.
    """
    manifest = bundle.manifest
    kept = AuditFolder.open(folder, AuditFolderRequest(target=manifest, model=f"{model.provider}/{model.model}"))
    try:
        await asyncio.to_thread(check_import, bundle, sandbox=sandbox)
        if previous is not None:
            await asyncio.to_thread(_take_over, cases, previous, bundle, kept, sandbox=sandbox, jobs=terms.jobs)
        library = Library(bundle, title=f"{manifest.target.name} {manifest.version}")
        bench = Workbench(library, proving(bundle, sandbox=sandbox, limits=terms.limits))
        run = _Run(kept=kept, model=model, bench=bench, terms=terms, clock=clock, sleep=sleep)
        found = await run.audited(cases, progress)
    finally:
        kept.close()
    return quality_report(manifest, found, limits=terms.limits, trusted=sandbox.trusted, made_at=clock())


def _take_over(
    cases: Sequence[LoadedCase],
    previous: QualityReport,
    bundle: Bundle,
    kept: AuditFolder,
    *,
    sandbox: Sandbox,
    jobs: int,
) -> None:
    """Keep the proofs of an earlier audit that still come to the same.

    Of cases that are asked as they were, that were worked on to the end, and that were not begun here.
    """
    before = {one.case.id: one for one in previous.cases}
    wanted: list[AuditedCase] = []
    for loaded in cases:
        known = before.get(loaded.case.id)
        if known is None or known.stopped is not None or known.case.blind() != loaded.case.blind():
            continue
        if kept.state_of(loaded.case) is None and kept.taken_of(loaded.case) is None:
            wanted.append(known)
    if not wanted:
        return
    part = quality_report(
        previous.target, wanted, limits=previous.limits, trusted=previous.trusted, made_at=previous.made_at
    )
    found = recheck(part, bundle, sandbox=sandbox, made_at=previous.made_at, jobs=jobs)
    drifted = {drift.id for drift in found.drifts}
    for one in found.report.cases:
        if one.case.id not in drifted:
            kept.keep_taken(one.case, Taken(case=one.case.blind(), proofs=one.proofs, critique=one.critique))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The work on all cases. `paid` is what each has paid for so far, in earlier runs too."""

    kept: AuditFolder
    model: Conversing
    bench: Workbench
    terms: SolvingTerms
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]
    paid: dict[str, tuple[Spend, ...]] = field(default_factory=dict)

    def far(self, done: int, total: int) -> Far:
        spends = [spend for paid in self.paid.values() for spend in paid]
        return Far(done=done, total=total, cost_usd=known_cost(spends) or 0.0, unpriced_calls=unpriced(spends))

    def reached(self) -> str | None:
        """Why no turn is begun any more; None where one may be."""
        far = self.far(0, 0)
        return cost_reached(self.terms.max_cost_usd, far.cost_usd, far.unpriced_calls)

    async def audited(self, cases: Sequence[LoadedCase], progress: Callable[[Far], None]) -> list[AuditedCase]:
        """Each case with its rating, in their order."""
        room = asyncio.Semaphore(self.terms.jobs)
        for loaded in cases:
            self._count(loaded.case, self.kept.state_of(loaded.case))
        done = 0

        async def one(loaded: LoadedCase) -> AuditedCase:
            nonlocal done
            async with room:
                found = await self._one(loaded)
            done += 1
            progress(self.far(done, len(cases)))
            return found

        progress(self.far(0, len(cases)))
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(loaded)) for loaded in cases]
        except ExceptionGroup as found:
            raise found.exceptions[0] from None  # the others were ended because of it
        return [task.result() for task in tasks]

    async def _one(self, loaded: LoadedCase) -> AuditedCase:
        source = CaseSource(file=str(loaded.file), line=loaded.line)
        if (taken := self.kept.taken_of(loaded.case)) is not None:
            return audited_case(loaded.case, taken.proofs, source=source, critique=taken.critique)
        state = self.kept.state_of(loaded.case)
        if state is None:
            state = begin(loaded.case.blind(), self.bench.library, bounds=self.terms.bounds)
        state = await self._ended(loaded.case, _gone_on_with(state, self.terms.bounds))
        return audited_of(loaded.case, solved(state), source=source)

    async def _ended(self, case: AuditCase, state: AgentState) -> AgentState:
        """The case worked on to its end, or for as long as it may cost."""
        deadline = Deadline.after(self.terms.bounds.seconds)
        while state.ended is None:
            if (why := self.reached()) is not None:
                return state.over("unanswered", why)  # not kept: it is gone on with under a higher limit
            if deadline.passed:
                return state.over("time", "The time for the case was used up.")
            state = await take_turn(state, model=self.model, bench=self.bench, deadline=deadline)
            self._count(case, state)
            self.kept.keep_state(case, state)
            pause = self._pause(state)
            if pause is not None and pause < deadline.remaining:
                await self.sleep(pause)
                state = reopened(state)
        return state

    def _pause(self, state: AgentState) -> float | None:
        """Seconds until the model may be asked again; None where waiting is no help."""
        ended = state.ended
        if ended is None or ended.why != "unanswered" or ended.until is None:
            return None
        return max(0.0, (ended.until - self.clock()).total_seconds())

    def _count(self, case: AuditCase, state: AgentState | None) -> None:
        if state is not None:
            self.paid[case.id] = state.spends


def cost_reached(limit: float | None, known: float, unpriced_calls: int) -> str | None:
    """Why no turn is begun any more under a limit of cost; None where one may be."""
    if limit is None:
        return None
    if known >= limit:
        return COST_REACHED
    return COST_UNKNOWN if unpriced_calls and not unpriced_allowed() else None


def _gone_on_with(state: AgentState, bounds: Bounds) -> AgentState:
    """The state under the bounds of now: open again where its model gave no turn, or a bound that it met is wider."""
    state = reopened(state).model_copy(update={"bounds": bounds})
    if state.ended is None:
        return state
    room = {
        "turns": state.turns < bounds.turns,
        "runs": len(state.runs) < bounds.runs,
        "tokens": state.tokens < bounds.tokens,
        "time": state.seconds < bounds.seconds,
    }
    return state.model_copy(update={"ended": None}) if room.get(state.ended.why) else state


def audited_of(case: AuditCase, found: SolvedCase, *, source: CaseSource | None = None) -> AuditedCase:
    """A case with the rating that the scripts of its solving come to. What the agent answered counts for nothing."""
    proofs: list[StoredProof] = [
        stored_proof(option.label, option.run.script, option.run.result)
        for option in found.options
        if option.run is not None
    ]
    said = found.conclusion.critique.strip() if found.conclusion is not None else ""
    stopped = None if found.ended.why == "concluded" else found.ended.sentence
    return audited_case(case, proofs, source=source, critique=said or None, stopped=stopped, spends=found.spends)
