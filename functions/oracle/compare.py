"""COMPARE: one try at one dimension of a contest's finalists, for its ranking or for a challenge to it."""

from functions.composition.tasks import desk
from functions.composition.work import run
from functions.oracle.step import References, step
from touchstone.operations.tasks.challenging import compare_again
from touchstone.operations.tasks.comparing import compare_dimension
from touchstone.operations.tasks.desk import Progress


@step
def handler(references: References) -> Progress:
    """Compare them side by side, or say when to try again."""
    here, dimension = desk(references.tenant), references.dimension or ""
    if references.challenge_id is None:
        return run(compare_dimension(here, references.task_id, dimension=dimension))
    return run(compare_again(here, references.task_id, references.challenge_id, dimension=dimension))
