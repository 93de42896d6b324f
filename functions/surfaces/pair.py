"""PAIR: one try at one pair of an experiment."""

from functions.composition.surfaces import experiment_desk
from functions.composition.work import run
from functions.surfaces.step import ExperimentReferences, of_experiment
from touchstone.operations.progress import StepProgress
from touchstone.operations.surfaces.experimenting import compare


@of_experiment
def handler(references: ExperimentReferences) -> StepProgress:
    """Measure it, or say when to try again."""
    return run(compare(experiment_desk(references.tenant), references.experiment_id, references.number))
