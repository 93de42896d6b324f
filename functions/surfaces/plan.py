"""PLAN: an experiment is read, and its pairs are listed."""

from functions.composition.surfaces import experiment_desk
from functions.composition.work import run
from functions.surfaces.step import ExperimentReferences, of_experiment
from touchstone.operations.progress import StepProgress
from touchstone.operations.surfaces.experimenting import prepare


@of_experiment
def handler(references: ExperimentReferences) -> StepProgress:
    """Write the list of the pairs that are not over, for this execution."""
    return run(prepare(experiment_desk(references.tenant), references.experiment_id, run=references.run))
