"""RESCORE: a challenged submission scored again, by another provider."""

from functions.composition.tasks import desk
from functions.composition.work import run
from functions.oracle.step import References, step
from touchstone.operations.tasks.challenging import rescore
from touchstone.operations.tasks.desk import Progress


@step
def handler(references: References) -> Progress:
    """Score it again, and say whether finalists must be compared again because of it."""
    return run(rescore(desk(references.tenant), references.task_id, references.challenge_id or ""))
