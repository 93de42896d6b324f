"""The steps of audits: one function for each state of the machine `audit`, and the start of the weekly audits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from functions.composition.batching import cases
from functions.composition.contexts import of_audits
from functions.observability import measure, note, publishing
from functions.steps import StepReferences, Work, list_output, step_handler

if TYPE_CHECKING:
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.jobs.context import StepProgress


BUILD_SECONDS = 660.0
"""The time for building a bundle. The function has a quarter of an hour; the rest is for packing and storing 3 GB."""


class AuditReferences(StepReferences):
    """The audit of a step.

    `number` is the number of the case if the step is about one case. `run` names the execution of the state machine.
    """

    named_by = "audit_id"

    audit_id: str
    number: int = 0
    run: str = "1"


def _by_batches(tenant: str) -> AuditContext:
    """As `of_audits`, with the providers' batches, which only an audit that can wait uses. Other steps load none."""
    return replace(of_audits(tenant), by_batch=partial(cases, tenant))


_step = step_handler(AuditReferences, of_audits, more=list_output, counted_as="Audit")
_batching = step_handler(AuditReferences, _by_batches, more=list_output, counted_as="Audit")


@_step
def install(context: AuditContext, about: AuditReferences) -> StepProgress:
    """INSTALL: uv resolves and installs the target, which is stored as one file, unless that file exists already.

    Only wheels are installed, so no code of the target runs here.
    """
    from touchstone.audits.bundles import Bundles
    from touchstone.operations.audits import planning

    return planning.install(context, about.audit_id, builder=partial(Bundles, seconds=BUILD_SECONDS))


@_batching
def prepare(context: AuditContext, about: AuditReferences) -> StepProgress:
    """PREPARE: imports the target once in the sandbox, and lists the unfinished cases for this execution."""
    from touchstone.operations.audits import planning

    return planning.prepare(context, about.audit_id, run=about.run)


@_batching
def turn(context: AuditContext, about: AuditReferences) -> Work[StepProgress]:
    """TURN: one turn of the agent at one case, with the scripts that it runs; or a run of an earlier audit's proofs."""
    from touchstone.operations.audits import solving

    return solving.take_step(context, about.audit_id, about.number)


@_step
def conclude(context: AuditContext, about: AuditReferences) -> StepProgress:
    """CONCLUDE: rates the cases and writes the reports, or says that a case is unfinished."""
    from touchstone.operations.audits import concluding

    return concluding.conclude(context, about.audit_id)


@publishing
def weekly(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Begin the weekly audits that are due."""
    from functions.composition.intakes import weekly_audits

    begun = weekly_audits().run()
    note("weekly audits", begun=begun.restarted)
    measure("Stuck", begun.stuck)
    return {"begun": begun.restarted, "stuck": begun.stuck}
