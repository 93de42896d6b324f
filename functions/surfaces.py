"""The steps of measurements and experiments: a function a state of the machines `measure` and `experiment`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from functions.composition.batching import carried, pairs
from functions.composition.contexts import of_experiments, of_measurements
from functions.environment import environment
from functions.steps import StepReferences, Work, listed, stepping
from touchstone.surfaces.model import MetricName

if TYPE_CHECKING:
    from touchstone.operations.context import StepProgress
    from touchstone.operations.surfaces.context import ExperimentContext, MeasuringContext


class MetricReferences(StepReferences):
    """Which measurement, and which metric of it."""

    measurement_id: str
    metric: MetricName

    @property
    def about(self) -> str:
        """The measurement."""
        return self.measurement_id


class ExperimentReferences(StepReferences):
    """Which experiment, and which pair of it where a step is about one; `run` names the execution."""

    experiment_id: str
    number: int = 0
    run: str = "1"

    @property
    def about(self) -> str:
        """The experiment."""
        return self.experiment_id


def _of_its_machine(tenant: str) -> MeasuringContext:
    """As `of_measurements`, for what nobody but its machine carries: what can wait goes by a provider's batches."""
    here = of_measurements(tenant)
    return replace(here, by_batch=carried(tenant)) if environment().batches == "on" else here


def _by_batches(tenant: str) -> ExperimentContext:
    """As `of_experiments`, with the batches of providers, which nobody loads for an experiment that goes by none."""
    return replace(of_experiments(tenant), by_batch=pairs(tenant))


_of_metric = stepping(MetricReferences, _of_its_machine)
_of_experiment = stepping(ExperimentReferences, _by_batches, more=listed)


@_of_metric
def measure(context: MeasuringContext, about: MetricReferences) -> Work[StepProgress]:
    """MEASURE: one try at one metric of a measurement, or when to try again."""
    from touchstone.operations.surfaces import measuring

    return measuring.measure(context, about.measurement_id, about.metric)


@_of_experiment
def plan(context: ExperimentContext, about: ExperimentReferences) -> Work[StepProgress]:
    """PLAN: reads an experiment, and writes the list of the pairs that are not over, for this execution."""
    from touchstone.operations.surfaces import experimenting

    return experimenting.prepare(context, about.experiment_id, run=about.run)


@_of_experiment
def pair(context: ExperimentContext, about: ExperimentReferences) -> Work[StepProgress]:
    """PAIR: one try at one pair of an experiment, or when to try again."""
    from touchstone.operations.surfaces import experimenting

    return experimenting.compare(context, about.experiment_id, about.number)


@_of_experiment
def conclude(context: ExperimentContext, about: ExperimentReferences) -> StepProgress:
    """CONCLUDE: what the pairs of an experiment come to, with the reports; or that a pair is not over."""
    from touchstone.operations.surfaces import experimenting

    return experimenting.conclude(context, about.experiment_id)
