"""CLOSE: a task at its deadline."""

from functions.composition.tasks import desk
from functions.composition.work import run
from functions.oracle.step import References, step
from touchstone.clock import system_clock
from touchstone.operations.tasks.closing import close
from touchstone.operations.tasks.desk import Progress


@step
def handler(references: References) -> Progress:
    """Close it, and say what is to be waited for or compared."""
    deadline = references.deadline or system_clock()
    return run(close(desk(references.tenant), references.task_id, deadline=deadline))
