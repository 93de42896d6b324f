"""TURN: one turn of the agent at one case, with the scripts that it runs, or the proofs of an earlier audit."""

from functions.audits.step import References, step
from functions.composition.audits import desk
from functions.composition.work import run
from touchstone.operations.audits.solving import go_on
from touchstone.operations.progress import StepProgress


@step
def handler(references: References) -> StepProgress:
    """Take it, or say when to try again."""
    return run(go_on(desk(references.tenant), references.audit_id, references.number))
