"""RANK: a contest whose finalists were compared on every dimension."""

from functions.composition.tasks import desk
from functions.oracle.step import References, step
from touchstone.operations.tasks.desk import Progress
from touchstone.operations.tasks.ranking import rank_contest


@step
def handler(references: References) -> Progress:
    """Rank it, and say until when it may be challenged."""
    return rank_contest(desk(references.tenant), references.task_id)
