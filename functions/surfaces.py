"""The steps of measurements and experiments: one function for each state of the machines `measure` and `experiment`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from functions.composition.batching import metric_by_batch, pairs
from functions.composition.contexts import of_experiments, of_measurements
from functions.steps import StepReferences, Work, list_output, step_handler
from touchstone.surfaces.names import MetricName

if TYPE_CHECKING:
    from touchstone.operations.jobs.context import StepProgress
    from touchstone.operations.surfaces.context import ExperimentContext, MeasuringContext


class MetricReferences(StepReferences):
    """The measurement of a step, and one metric of it."""

    named_by = "measurement_id"

    measurement_id: str
    metric: MetricName


class ExperimentReferences(StepReferences):
    """The experiment of a step.

    `number` is the number of the pair if the step is about one pair. `run` names the execution of the state machine.
    """

    named_by = "experiment_id"

    experiment_id: str
    number: int = 0
    run: str = "1"


def _metric_by_batches(tenant: str) -> MeasuringContext:
    """As `of_measurements`, for the steps of its machine: work that can wait goes by providers' batches."""
    return replace(of_measurements(tenant), by_batch=metric_by_batch(tenant))


def _pairs_by_batches(tenant: str) -> ExperimentContext:
    """As `of_experiments`, with the providers' batches, which only an experiment that can wait uses."""
    return replace(of_experiments(tenant), by_batch=partial(pairs, tenant))


_of_metric = step_handler(MetricReferences, _metric_by_batches)
_of_experiment = step_handler(ExperimentReferences, _pairs_by_batches, more=list_output)


@_of_metric
def measure(context: MeasuringContext, about: MetricReferences) -> Work[StepProgress]:
    """MEASURE: one try at one metric of a measurement. If it fails, says when to try again."""
    from touchstone.operations.surfaces import measuring

    return measuring.measure(context, about.measurement_id, about.metric)


@_of_experiment
def plan(context: ExperimentContext, about: ExperimentReferences) -> Work[StepProgress]:
    """PLAN: reads an experiment, and writes the list of its unfinished pairs for this execution."""
    from touchstone.operations.surfaces import experimenting

    return experimenting.prepare(context, about.experiment_id, run=about.run)


@_of_experiment
def pair(context: ExperimentContext, about: ExperimentReferences) -> Work[StepProgress]:
    """PAIR: one try at one pair of an experiment. If it fails, says when to try again."""
    from touchstone.operations.surfaces import experimenting

    return experimenting.compare(context, about.experiment_id, about.number)


@_of_experiment
def conclude(context: ExperimentContext, about: ExperimentReferences) -> StepProgress:
    """CONCLUDE: computes the conclusion of an experiment and writes the reports, or says that a pair is unfinished."""
    from touchstone.operations.surfaces import experimenting

    return experimenting.conclude(context, about.experiment_id)
