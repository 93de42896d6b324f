"""CONCLUDE: what the pairs of an experiment come to."""

from functions.composition.surfaces import experiment_desk
from functions.surfaces.step import ExperimentReferences, step
from touchstone.operations.progress import StepProgress
from touchstone.operations.surfaces.experimenting import conclude


@step(ExperimentReferences)
def handler(references: ExperimentReferences) -> StepProgress:
    """Conclude and write the reports, or say that a pair is not over."""
    return conclude(experiment_desk(references.tenant), references.experiment_id)
