"""The last step of an audit: rate the cases from the scripts that were run, and write the reports.

This is the first step that sees the key (the expected answers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.attempts import BATCHED
from touchstone.audits.agent import audited_of, solved
from touchstone.audits.drift import drift_of
from touchstone.audits.record import AuditFindings, concluded
from touchstone.audits.report import audited_case, quality_report, report_json, report_markdown
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.jobs.parted import batched_parts

if TYPE_CHECKING:
    from touchstone.audits.case_work import CaseWork
    from touchstone.audits.drift import Drift
    from touchstone.audits.record import KeptCase
    from touchstone.audits.report import AuditedCase
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.audits.files import AuditFiles

BROKE_OFF = "Each try was interrupted before there was a result."


def conclude(context: AuditContext, audit_id: str) -> StepProgress:
    """Rate all cases and write the reports: `done`, or `incomplete` if a case is not over.

    The state is `batched` if a case that is not over waits for a batch at a provider.
    """
    record = context.record(audit_id)
    if record.finished_at is not None or record.plan is None:
        return StepProgress(state=record.state)
    files = context.files(audit_id)
    kept = files.cases(record.content_key).cases
    over = context.cases.over(record.ref)
    if not over.keys() >= {one.number for one in kept}:
        return StepProgress(state=BATCHED if batched_parts(context.cases, record.ref) else "incomplete")
    earlier = context.earlier_report(record)
    before = {} if earlier is None else {one.case.id: one for one in earlier.cases}
    audited: list[AuditedCase] = []
    drifts: list[Drift] = []
    for one in kept:
        known = before.get(one.case.id)
        found = _audited(files, one, over[one.number], known, rechecked=record.terms.kind == "recheck")
        drift = None if known is None or known.case.blind() != one.case.blind() else drift_of(known, found)
        if drift is not None:
            drifts.append(drift)
            if record.terms.kind == "recheck":
                found = found.model_copy(update={"critique": None})  # the critique was about a result that has changed
        audited.append(found)
    report = quality_report(
        record.plan.place.manifest, audited, limits=record.terms.limits, trusted=False, made_at=context.clock()
    )
    files.put_report("json", report_json(report))
    files.put_report("md", report_markdown(report))
    progress = context.cases.progress(record.ref)
    found_all = AuditFindings(totals=report.totals, drifts=tuple(drifts))
    record = context.audits.change(record.ref, lambda one: concluded(one, found_all, progress, now=context.clock()))
    return StepProgress(state=record.state)


def _audited(
    files: AuditFiles, kept: KeptCase, work: CaseWork, known: AuditedCase | None, *, rechecked: bool
) -> AuditedCase:
    """A case with the rating that follows from its scripts."""
    again = files.again(kept.number)
    if again is not None and known is not None and (again.stands or rechecked):
        stopped = known.stopped if again.stands is not None else BROKE_OFF
        return audited_case(kept.case, again.proofs, source=kept.source, critique=known.critique, stopped=stopped)
    state = files.state(kept.number)
    if state is None:
        why = known.stopped if rechecked and known is not None else None
        return audited_case(kept.case, (), source=kept.source, stopped=why or BROKE_OFF)
    if state.ended is None:
        state = state.with_end("unanswered", f"{BROKE_OFF} ({work.failure})" if work.failure else BROKE_OFF)
    return audited_of(kept.case, solved(state), source=kept.source)
