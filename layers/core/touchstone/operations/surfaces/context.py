"""What the steps of one tenant's measurements and experiments work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from touchstone.operations.context import StepContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from touchstone.judges.base import Judge
    from touchstone.judges.opening import Judges
    from touchstone.judges.panel import JudgePanel
    from touchstone.judges.registry import Model
    from touchstone.judges.spends import Spend
    from touchstone.operations.batches.lines import OpenLine, WantedQuestion
    from touchstone.operations.surfaces.experiment_files import ExperimentFiles
    from touchstone.records import Experiments, Measurements, Pairs
    from touchstone.surfaces.experiments.pair_work import PairTask, PairWork
    from touchstone.surfaces.experiments.pairs import PairResult
    from touchstone.surfaces.experiments.record import ExperimentRecord
    from touchstone.surfaces.measurement import Measurement
    from touchstone.surfaces.model import MetricName


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringContext(StepContext):
    """One tenant's measurements and judges.

    `judge` gives the judge of a measurement. Its argument tells whose replies it may be answered with: None, all that
    the tenant's judges gave; else those alone that were given for this record, so that its second try pays nothing
    twice and yet nothing that was said before it counts. It raises `SettingsError` where nobody can be asked.
    `several` gives so many judges, as far as there are.

    `by_batch` carries a metric by batches of providers, and says until when it waits for one; None: it is over, or to
    be asked about at once. Without it there are no batches.
    """

    measurements: Measurements
    judge: Callable[[str | None], Judge]
    several: Callable[[str | None, int], JudgePanel]
    by_batch: Callable[[Measurement, MetricName], Awaitable[datetime | None]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTry:
    """What came of a pair by what batches brought. `paid` are the calls that took, each line of a batch once.

    `wanted` is what a further batch is to answer. Where there is nothing, and the pair is not `whole`, it is to be
    asked about at once.
    """

    result: PairResult
    paid: Sequence[Spend]
    wanted: tuple[WantedQuestion, ...]
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsStanding:
    """The pairs that wait for batches. `due` are over with them, `again`: and are to be asked about at once.

    `until` is when those that are not due are looked at again (UTC), None where all are. `batches` are all that were
    made for the experiment, by our own ids.
    """

    due: frozenset[int]
    again: bool
    until: datetime | None
    batches: tuple[str, ...]


class PairsByBatch(Protocol):
    """Has pairs of experiments answered by batches of providers."""

    async def tried(self, record: ExperimentRecord, pair: PairWork, task: PairTask) -> PairTry:
        """What comes of a pair by what was brought so far; nothing is asked."""
        ...

    def carried(self, record: ExperimentRecord, lines: Sequence[OpenLine]) -> PairsStanding:
        """Put what pairs want into batches, and where they stand then, by their numbers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentContext(StepContext):
    """One tenant's experiments and judges.

    `judge` and `several` give the judges of an experiment as those of `MeasuringContext` do, `judges` those among which
    the models of variants' prompts are, and `model` the one that the judge would ask, None without any key. `by_batch`
    has what can wait answered by batches; without it there are none.
    """

    experiments: Experiments
    pairs: Pairs
    files: Callable[[str], ExperimentFiles]
    judge: Callable[[str | None], Judge]
    several: Callable[[str | None, int], JudgePanel]
    judges: Callable[[str | None], Judges]
    model: Callable[[], Model | None]
    by_batch: PairsByBatch | None = None

    def record(self, experiment_id: str) -> ExperimentRecord:
        """The record of an experiment."""
        return self.experiments.get(self.ref("experiment", experiment_id))

    def fail(self, record: ExperimentRecord, why: str) -> ExperimentRecord:
        """Keep that an experiment came to nothing, and why."""
        from touchstone.surfaces.experiments.record import failed

        progress = self.pairs.progress(record.ref)
        return self.experiments.change(record.ref, lambda one: failed(one, why, progress, now=self.clock()))
