"""The stores and judges that the steps of one tenant's measurements and experiments use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from touchstone.operations.jobs.context import StepContext
from touchstone.operations.jobs.waiting import PartsByBatch
from touchstone.parts import failed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from touchstone.judges.base import Judge, JudgeCount
    from touchstone.judges.opening import Judges
    from touchstone.judges.panel import JudgePanel
    from touchstone.judges.registry import Model
    from touchstone.judges.spends import Spend
    from touchstone.judges.sureness import JudgeThresholds
    from touchstone.operations.jobs.waiting import WantedQuestion
    from touchstone.operations.surfaces.experiment_files import ExperimentFiles
    from touchstone.records import Experiments, Measurements, Pairs
    from touchstone.surfaces.experiments.pair_work import PairTask, PairWork
    from touchstone.surfaces.experiments.pairs import PairResult
    from touchstone.surfaces.experiments.record import ExperimentRecord
    from touchstone.surfaces.measurement import Measurement
    from touchstone.surfaces.names import MetricName


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringContext(StepContext):
    """One tenant's measurements and judges.

    `judge` gives the judge of a measurement. Its argument tells which stored replies may answer the judge's questions.
    None: every reply that the tenant's judges ever gave. A record's id: only replies that were given for this record,
    so that its second try pays nothing twice, and no older reply counts. It raises `SettingsError` if no judge can be
    asked. `several` gives a panel of the wanted number of judges, or of as many as there are. `thresholds` gives the
    thresholds, computed from people's labels, from which a judge's verdict on a class is sure.

    `by_batch` carries a metric by batches of providers, and returns until when the metric waits for a batch; None if
    the metric is over, or its questions are to be asked at once. If `by_batch` itself is None, there are no batches.
    """

    measurements: Measurements
    judge: Callable[[str | None], Judge]
    several: Callable[[str | None, JudgeCount], JudgePanel]
    thresholds: Callable[[], JudgeThresholds] = dict
    by_batch: Callable[[Measurement, MetricName], Awaitable[datetime | None]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTry:
    """The result of a pair from the replies that batches brought. `paid` are their calls, each line of a batch once.

    `wanted` are the questions that a further batch is to answer. If there are none and the pair is not `whole`, its
    questions are to be asked at once.
    """

    result: PairResult
    paid: Sequence[Spend]
    wanted: tuple[WantedQuestion, ...]
    whole: bool


class PairsByBatch(PartsByBatch["ExperimentRecord"], Protocol):
    """Sends the questions of pairs of experiments through batches of providers."""

    async def tried(self, record: ExperimentRecord, pair: PairWork, task: PairTask) -> PairTry:
        """The result of a pair from the replies brought so far. Nothing is asked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentContext(StepContext):
    """One tenant's experiments and judges.

    `judge`, `several` and `thresholds` are for an experiment what they are in `MeasuringContext` for a measurement.
    `judges` gives the judges among which the models of variants' prompts are, `model` the model that the judge would
    ask, None without any key. `by_batch` gives what sends questions that can wait through batches, and is
    called only for these; None if there are no batches.
    """

    experiments: Experiments
    pairs: Pairs
    files: Callable[[str], ExperimentFiles]
    judge: Callable[[str | None], Judge]
    several: Callable[[str | None, JudgeCount], JudgePanel]
    judges: Callable[[str | None], Judges]
    model: Callable[[], Model | None]
    thresholds: Callable[[], JudgeThresholds] = dict
    by_batch: Callable[[], PairsByBatch] | None = None

    def record(self, experiment_id: str) -> ExperimentRecord:
        """The record of an experiment."""
        return self.experiments.get(self.ref("experiment", experiment_id))

    def fail(self, record: ExperimentRecord, why: str) -> ExperimentRecord:
        """Store that an experiment failed, and why."""
        progress = self.pairs.progress(record.ref)
        return self.experiments.change(record.ref, lambda one: failed(one, why, progress, now=self.clock()))
