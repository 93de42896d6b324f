"""MEASURE: one try at one metric of a measurement."""

from functions.composition.surfaces import desk
from functions.composition.work import run
from functions.surfaces.step import MetricReferences, of_metric
from touchstone.operations.progress import StepProgress
from touchstone.operations.surfaces.measuring import measure


@of_metric
def handler(references: MetricReferences) -> StepProgress:
    """Measure it, or say when to try again."""
    return run(measure(desk(references.tenant), references.measurement_id, references.metric))
