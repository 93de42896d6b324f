"""CONCLUDE: what the pairs of an experiment come to."""

from functions.composition.surfaces import experiment_desk
from functions.surfaces.step import ExperimentReferences, of_experiment
from touchstone.operations.progress import StepProgress
from touchstone.operations.surfaces.experimenting import conclude


@of_experiment
def handler(references: ExperimentReferences) -> StepProgress:
    """Conclude and write the reports, or say that a pair is not over."""
    return conclude(experiment_desk(references.tenant), references.experiment_id)
