"""SCORE: one try at scoring a submission by itself."""

from functions.composition.tasks import desk
from functions.composition.work import run
from functions.oracle.step import References, step
from touchstone.operations.tasks.desk import Progress
from touchstone.operations.tasks.judging import score


@step
def handler(references: References) -> Progress:
    """Score it and close a task by it where it is the first that passes, or say when to try again."""
    return run(score(desk(references.tenant), references.submission))
