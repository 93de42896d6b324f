"""CONCLUDE: what the cases of an audit come to."""

from functions.audits.step import References, step
from functions.composition.audits import desk
from touchstone.operations.audits.concluding import conclude
from touchstone.operations.progress import StepProgress


@step
def handler(references: References) -> StepProgress:
    """Rate them and write the reports, or say that a case is not over."""
    return conclude(desk(references.tenant), references.audit_id)
