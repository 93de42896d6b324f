"""DECIDE: a challenge, by what was found."""

from functions.composition.tasks import desk
from functions.oracle.step import References, step
from touchstone.operations.tasks.deciding import decide
from touchstone.operations.tasks.desk import Progress


@step
def handler(references: References) -> Progress:
    """Uphold or reject it, and bring that into the records."""
    return decide(desk(references.tenant), references.task_id, references.challenge_id or "")
