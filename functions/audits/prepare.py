"""PREPARE: the target is imported once in the sandbox, and the cases that are not over are listed."""

from functions.audits.step import References, step
from functions.composition.audits import desk
from touchstone.operations.audits.planning import prepare
from touchstone.operations.progress import StepProgress


@step
def handler(references: References) -> StepProgress:
    """Write the list of cases for this execution."""
    return prepare(desk(references.tenant), references.audit_id, run=references.run)
