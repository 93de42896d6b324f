"""DRAFT: the dimensions of a task."""

from functions.composition.tasks import desk
from functions.composition.work import run
from functions.oracle.step import References, step
from touchstone.operations.tasks.desk import Progress
from touchstone.operations.tasks.drafting import draft


@step
def handler(references: References) -> Progress:
    """Make and lock them, or say when to try again."""
    return run(draft(desk(references.tenant), references.task_id))
