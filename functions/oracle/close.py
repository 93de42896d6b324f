"""CLOSE: a task at its deadline."""

from functions.composition.tasks import desk
from functions.composition.work import run
from functions.oracle.step import References, step
from touchstone.errors import InputError
from touchstone.operations.tasks.closing import close
from touchstone.operations.tasks.desk import Progress


@step
def handler(references: References) -> Progress:
    """Close it, and say what is to be waited for or compared."""
    if references.deadline is None:
        raise InputError("The deadline that was waited for is missing.", where="deadline")
    return run(close(desk(references.tenant), references.task_id, deadline=references.deadline))
