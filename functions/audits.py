"""The steps of audits: a function a state of the machine `audit`, and what begins the audits of a week."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from functions.composition.contexts import of_audits
from functions.observability import measure, note, publishing
from functions.steps import StepReferences, Work, listed, stepping

if TYPE_CHECKING:
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.context import StepProgress


class AuditReferences(StepReferences):
    """Which audit, and which case of it where a step is about one; `run` names the execution."""

    audit_id: str
    number: int = 0
    run: str = "1"

    @property
    def about(self) -> str:
        """The audit."""
        return self.audit_id


_step = stepping(AuditReferences, of_audits, more=listed, counted_as="Audit")


@_step
def install(context: AuditContext, about: AuditReferences) -> StepProgress:
    """INSTALL: the target is resolved and installed by uv, and kept as one file, unless it is there.

    Only wheels are installed: nothing of the target is run here.
    """
    from touchstone.audits.bundles import Bundles
    from touchstone.operations.audits import planning

    return planning.install(context, about.audit_id, builder=Bundles)


@_step
def prepare(context: AuditContext, about: AuditReferences) -> StepProgress:
    """PREPARE: imports the target once in the sandbox, and lists the cases that are not over, for this execution."""
    from touchstone.operations.audits import planning

    return planning.prepare(context, about.audit_id, run=about.run)


@_step
def turn(context: AuditContext, about: AuditReferences) -> Work[StepProgress]:
    """TURN: one turn of the agent at one case, with the scripts that it runs, or the proofs of an earlier audit."""
    from touchstone.operations.audits import solving

    return solving.go_on(context, about.audit_id, about.number)


@_step
def conclude(context: AuditContext, about: AuditReferences) -> StepProgress:
    """CONCLUDE: rates the cases and writes the reports, or says that a case is not over."""
    from touchstone.operations.audits import concluding

    return concluding.conclude(context, about.audit_id)


@publishing
def weekly(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Begin the audits of a week that are due."""
    from functions.composition.intakes import weekly_audits

    begun = weekly_audits().run()
    note("weekly audits", begun=begun.restarted)
    measure("Stuck", begun.stuck)
    return {"begun": begun.restarted, "stuck": begun.stuck}
