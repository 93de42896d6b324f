"""FINALISE: a contest whose challenges are over."""

from functions.composition.tasks import desk
from functions.oracle.step import References, step
from touchstone.operations.tasks.desk import Progress
from touchstone.operations.tasks.finalising import finalise


@step
def handler(references: References) -> Progress:
    """Make its result final, or say what is to be waited for."""
    return finalise(desk(references.tenant), references.task_id)
