"""A whole audit in this process. An agent solves every case; each case is proved, rated, and stored in a folder.

```python
report = await audit(loaded.cases, bundle, model=open_solver(judges), sandbox=open_sandbox(), folder=Path("out"))
```

An audit that was interrupted continues where it was, even in the middle of a case: no answered turn is paid for again.
If an earlier audit is given, for example of another version of the target, its proofs are run first, which asks no
model. A case is then solved again only if one of its options stands otherwise than before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.audits.agent import (
    AgentState,
    Bounds,
    Library,
    Workbench,
    audited_of,
    begin,
    proving,
    reopened,
    solved,
)
from touchstone.audits.agent.solving import take_turns
from touchstone.audits.bundles.target import Bundle
from touchstone.audits.case import AuditCase
from touchstone.audits.cost_limit import cost_reached
from touchstone.audits.folder import AuditFolder, AuditFolderRequest, ReusedProofs
from touchstone.audits.loading import LoadedCase
from touchstone.audits.recheck import recheck
from touchstone.audits.report import (
    AuditedCase,
    CaseSource,
    QualityReport,
    audited_case,
    quality_report,
)
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, Limits
from touchstone.audits.sandbox.prove import check_import
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.judges.conversing import Conversing
from touchstone.judges.spends import Spend, count_unpriced, known_cost
from touchstone.together import gather_all

DEFAULT_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProgress:
    """The progress of an audit: `done` cases of `total`, at a cost of `cost_usd` so far.

    `unpriced_calls` are the calls that `cost_usd` leaves out, because their cost is not known.
    """

    done: int
    total: int
    cost_usd: float
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvingTerms:
    """How cases are solved: the bounds of a case, the limits of its proofs, and how many cases at a time (`jobs`).

    `max_cost_usd`: no turn is begun once all cases together have cost this much. Neither is one begun once a call came
    without a known cost, unless `TOUCHSTONE_UNPRICED` allows it. None: no limit.
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
    progress: Callable[[AuditProgress], None] = lambda _progress: None,
    clock: Clock = system_clock,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> QualityReport:
    """Audit `cases` against `bundle`, in `folder`.

    Raises InputError if the target cannot be imported, `ConflictError` if the folder holds another audit or another run
    holds the folder, `StoreError` if the folder cannot be written, and SettingsError if scripts cannot be run here. A
    model that fails is no error: its cases are Unproven and say why, and the next run continues them.
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
    """Run the proofs of an earlier audit and store those of the cases in which no option stands otherwise.

    A case is included if its question is unchanged, the earlier audit worked on it to the end, and it was not begun in
    this folder.
    """
    before = {one.case.id: one for one in previous.cases}
    wanted: list[AuditedCase] = []
    for loaded in cases:
        known = before.get(loaded.case.id)
        if known is None or known.stopped is not None or known.case.blind() != loaded.case.blind():
            continue
        if kept.state_of(loaded.case) is None and kept.reused_proofs_of(loaded.case) is None:
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
            kept.keep_reused_proofs(
                one.case, ReusedProofs(case=one.case.blind(), proofs=one.proofs, critique=one.critique)
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The work on all cases.

    `paid` holds the calls that each case has paid for so far, in earlier runs too, by case id.
    """

    kept: AuditFolder
    model: Conversing
    bench: Workbench
    terms: SolvingTerms
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]
    paid: dict[str, tuple[Spend, ...]] = field(default_factory=dict)

    def progress_at(self, done: int, total: int) -> AuditProgress:
        spends = [spend for paid in self.paid.values() for spend in paid]
        return AuditProgress(
            done=done, total=total, cost_usd=known_cost(spends) or 0.0, unpriced_calls=count_unpriced(spends)
        )

    def cost_stop(self) -> str | None:
        """Why no further turn may be begun; None if one may."""
        so_far = self.progress_at(0, 0)
        return cost_reached(self.terms.max_cost_usd, so_far.cost_usd, so_far.unpriced_calls)

    async def audited(
        self, cases: Sequence[LoadedCase], progress: Callable[[AuditProgress], None]
    ) -> list[AuditedCase]:
        """Each case with its rating, in the order of `cases`."""
        for loaded in cases:
            self._count(loaded.case, self.kept.state_of(loaded.case))
        done = 0

        async def one(loaded: LoadedCase) -> AuditedCase:
            nonlocal done
            found = await self._one(loaded)
            done += 1
            progress(self.progress_at(done, len(cases)))
            return found

        progress(self.progress_at(0, len(cases)))
        return await gather_all(map(one, cases), concurrency=self.terms.jobs)

    async def _one(self, loaded: LoadedCase) -> AuditedCase:
        source = CaseSource(file=str(loaded.file), line=loaded.line)
        if (taken := self.kept.reused_proofs_of(loaded.case)) is not None:
            return audited_case(loaded.case, taken.proofs, source=source, critique=taken.critique)
        state = self.kept.state_of(loaded.case)
        if state is None:
            state = begin(loaded.case.blind(), self.bench.library, bounds=self.terms.bounds)

        def keep(state: AgentState) -> None:
            self._count(loaded.case, state)
            self.kept.keep_state(loaded.case, state)

        state = await take_turns(
            _resumed(state, self.terms.bounds),
            model=self.model,
            bench=self.bench,
            deadline=Deadline.after(self.terms.bounds.seconds),
            stop=self.cost_stop,
            keep=keep,
            clock=self.clock,
            sleep=self.sleep,
        )
        return audited_of(loaded.case, solved(state), source=source)

    def _count(self, case: AuditCase, state: AgentState | None) -> None:
        if state is not None:
            self.paid[case.id] = state.spends


def _resumed(state: AgentState, bounds: Bounds) -> AgentState:
    """The state under the bounds of this run.

    It is open again if it ended because its model gave no turn, or because of a bound that is wider now.
    """
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
