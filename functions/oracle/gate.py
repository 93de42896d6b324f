"""GATE: one try at the acceptance criteria of a submission."""

from functions.composition.tasks import desk
from functions.composition.work import run
from functions.oracle.step import References, step
from touchstone.operations.tasks.desk import Progress
from touchstone.operations.tasks.judging import check


@step
def handler(references: References) -> Progress:
    """Check them, or say when to try again."""
    return run(check(desk(references.tenant), references.submission))
