"""The first steps of an audit: its target is installed and imported once, and its cases are listed.

If a step is interrupted, the next execution of the machine continues it: the first bundle and the first plan are kept.

An audit that can wait repeats these steps: its cases store the questions of their first turns, these are gathered into
batches at providers, and the cases whose batches are over continue.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.attempts import BATCHED
from touchstone.audits.bundles.archive import pack
from touchstone.audits.bundles.building import made_here
from touchstone.audits.case_work import CaseTask
from touchstone.audits.estimate import estimate_of
from touchstone.audits.record import AuditPlan, BundlePlace, KeptCase, placed, planned
from touchstone.errors import InputError
from touchstone.judges.questions import without_price
from touchstone.judges.registry import unpriced_allowed
from touchstone.locking import own_folder
from touchstone.operations.jobs.context import StepProgress
from touchstone.operations.jobs.parted import batched_parts, gathered
from touchstone.parts import waiting_for_batches

if TYPE_CHECKING:
    from datetime import datetime

    from touchstone.audits.bundles.building import Bundles
    from touchstone.audits.record import AuditRecord
    from touchstone.audits.report import AuditedCase, QualityReport
    from touchstone.operations.audits.context import AuditContext


def install(context: AuditContext, audit_id: str, *, builder: Callable[[Path], Bundles]) -> StepProgress:
    """Install the target of an audit: `installed`, or the state of an audit that is over (`done` or `failed`).

    A target that was installed before, for this Python, is not resolved again, unless the audit's terms say so
    (`anew`): the requirement may admit newer versions by then. `builder` gives the object that builds bundles in a
    folder. If the target cannot be installed, the audit has `failed` with the reason.
    """
    record = context.record(audit_id)
    if record.finished_at is not None:
        return StepProgress(state=record.state)
    if record.place is None:
        target = record.terms.target
        known = None if record.terms.anew else context.bundles.known(target)
        usable = known if known is not None and made_here(known.manifest) else None
        try:
            place = usable or _installed(context, record, builder)
        except InputError as error:
            return StepProgress(state=context.fail(record, str(error)).state)
        context.audits.change(record.ref, lambda one: placed(one, place))
    return StepProgress(state="installed")


def prepare(context: AuditContext, audit_id: str, *, run: str) -> StepProgress:
    """Import the target once, and list the unfinished cases for a run: `auditing`, or the state of an ended audit.

    The audit has `failed` with the reason if its target cannot be imported, or its cost cannot be limited as requested.
    The state is `waiting` as long as all unfinished cases are in batches at providers.
    """
    record = context.record(audit_id)
    if record.finished_at is not None or record.place is None:
        return StepProgress(state=record.state)
    held, until = _in_batches(context, record)
    all_wait_for_batches = (
        record.plan is not None and len(held) + len(context.cases.over(record.ref)) >= record.plan.cases
    )
    if until is not None and all_wait_for_batches:
        context.audits.change(record.ref, lambda one: waiting_for_batches(one, (), until=until))
        return StepProgress(state="waiting", until=until, reason=BATCHED)
    files = context.files(audit_id)
    cases = files.cases(record.content_key).cases
    before = context.earlier_report(record)
    if record.plan is None:
        try:
            plan = _plan(context, record, record.place, cases, before)
        except InputError as error:
            return StepProgress(state=context.fail(record, str(error)).state)
        record = context.audits.change(record.ref, lambda one: planned(one, plan))
    over = context.cases.over(record.ref)
    left = [case for case in cases if case.number not in over and case.number not in held]
    known = {one.case.id: one for one in before.cases} if before is not None else {}
    files.put_tasks(_task(record, case, known.get(case.case.id)) for case in left)
    lines = "".join(
        f'{{"tenant":"{context.tenant}","audit_id":"{audit_id}","number":{case.number}}}\n' for case in left
    )
    return StepProgress(state=record.state, list_key=files.put_list(run, lines))


def _in_batches(context: AuditContext, record: AuditRecord) -> tuple[frozenset[int], datetime | None]:
    """The numbers of the cases that wait for batches, and until when they wait; their open questions are gathered.

    Cases whose batches are over are released to be worked on.
    """
    waiting = {} if record.plan is None else batched_parts(context.cases, record.ref)
    standing = None
    if waiting and context.by_batch is not None and record.when == "cheap":
        lines = context.files(record.id).all_wanted(waiting)
        standing = gathered(context.audits, context.by_batch(), record, lines, now=context.clock())
    held = frozenset[int]() if standing is None else standing.held
    for number in waiting.keys() - held:
        context.cases.change(waiting[number], lambda one: one.released(now=context.clock(), again=True))
    return held, None if standing is None else standing.until


def _installed(context: AuditContext, record: AuditRecord, builder: Callable[[Path], Bundles]) -> BundlePlace:
    with own_folder("touchstone-installed-") as folder:
        target = record.terms.target
        bundle = builder(folder).build(target)
        file = folder / "bundle.tar.gz"
        sha256 = pack(bundle, file)
        known = context.bundles.known(target)
        if known is not None and known.manifest.digest == bundle.manifest.digest:
            return known
        key = context.bundles.key_of(bundle.manifest.digest, sha256)
        place = BundlePlace(manifest=bundle.manifest, key=key, sha256=sha256)
        context.bundles.keep(target, place, file)
        return place


def _plan(
    context: AuditContext,
    record: AuditRecord,
    place: BundlePlace,
    cases: tuple[KeptCase, ...],
    before: QualityReport | None,
) -> AuditPlan:
    """The plan of an audit.

    Raises `InputError` if the target cannot be imported, or if a limit of cost is set that nobody could keep.
    """
    terms = record.terms
    model = context.model(terms.provider) if terms.kind == "audit" else None
    if terms.max_cost_usd is not None and model is not None and not model.priced and not unpriced_allowed():
        raise InputError(
            f"Ask without max_cost_usd, or have the operator help: {without_price(model.provider, model.name)}",
            where="max_cost_usd",
        )
    context.sandbox().import_target(context.order(record, place, None))
    now = (place.manifest.digest, terms.limits)
    unchanged = before is not None and (before.target.digest, before.limits) == now
    estimate = None
    if terms.kind == "audit" and not unchanged:
        estimate = estimate_of((one.case for one in cases), model, bounds=terms.bounds)
    return AuditPlan(place=place, cases=len(cases), estimate=estimate, unchanged=unchanged)


def _task(record: AuditRecord, kept: KeptCase, before: AuditedCase | None) -> CaseTask:
    """The task of a case. The proofs of an earlier audit are part of it if the case asks the same as then."""
    blind = kept.case.blind()
    if before is None or before.case.blind() != blind:
        return CaseTask(number=kept.number, case=blind)
    if record.terms.kind == "audit" and before.stopped is not None:
        return CaseTask(number=kept.number, case=blind)  # the earlier audit did not finish it, so it is solved now
    return CaseTask(number=kept.number, case=blind, before=before.proofs)
