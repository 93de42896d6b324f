"""INSTALL: the target of an audit is resolved and installed by uv, and kept as one file."""

from functions.audits.step import References, step
from functions.composition.audits import builder, desk
from touchstone.operations.audits.planning import install
from touchstone.operations.progress import StepProgress


@step
def handler(references: References) -> StepProgress:
    """Install it, unless it is there. Only wheels are: nothing of the target is run here."""
    return install(desk(references.tenant), references.audit_id, builder=builder)
