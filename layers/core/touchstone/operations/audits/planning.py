"""The first steps of an audit: its target is installed and imported once, and its cases are listed.

What a step is stopped in, the next execution of the machine goes on with: the first bundle and the first plan stay.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.audits.bundles.archive import pack
from touchstone.audits.bundles.building import made_here
from touchstone.audits.case_work import CaseTask
from touchstone.audits.estimate import estimate_of
from touchstone.audits.record import AuditPlan, BundlePlace, KeptCase, placed, planned
from touchstone.errors import InputError
from touchstone.judges.questions import without_price
from touchstone.judges.registry import unpriced_allowed
from touchstone.operations.context import StepProgress

if TYPE_CHECKING:
    from touchstone.audits.bundles.building import Bundles
    from touchstone.audits.record import AuditRecord
    from touchstone.audits.report import AuditedCase, QualityReport
    from touchstone.operations.audits.context import AuditContext


def install(context: AuditContext, audit_id: str, *, builder: Callable[[Path], Bundles]) -> StepProgress:
    """Install the target of an audit: `installed`, or `done` and `failed` as it is.

    A target that was installed before, for this Python, is not resolved again, unless its terms say so: what the
    requirement admits may be newer then. `builder` gives what builds bundles in a folder. One that cannot be installed
    has `failed` with the reason.
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
    """Import the target once and list the cases that are not over for a run: `auditing`, or `done` and `failed`.

    One whose target cannot be imported, or whose cost cannot be bounded as it asks, has `failed` with the reason.
    """
    record = context.record(audit_id)
    if record.finished_at is not None or record.place is None:
        return StepProgress(state=record.state)
    files = context.files(audit_id)
    cases = files.cases(record.content_key).cases
    before = _before(context, record)
    if record.plan is None:
        try:
            plan = _plan(context, record, record.place, cases, before)
        except InputError as error:
            return StepProgress(state=context.fail(record, str(error)).state)
        record = context.audits.change(record.ref, lambda one: planned(one, plan))
    over = context.cases.over(record.ref)
    left = [case for case in cases if case.number not in over]
    known = {one.case.id: one for one in before.cases} if before is not None else {}
    files.put_tasks(_task(record, case, known.get(case.case.id)) for case in left)
    lines = "".join(
        f'{{"tenant":"{context.tenant}","audit_id":"{audit_id}","number":{case.number}}}\n' for case in left
    )
    return StepProgress(state=record.state, list_key=files.put_list(run, lines))


def _installed(context: AuditContext, record: AuditRecord, builder: Callable[[Path], Bundles]) -> BundlePlace:
    folder = Path(tempfile.mkdtemp(prefix="bundle-"))
    try:
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
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _before(context: AuditContext, record: AuditRecord) -> QualityReport | None:
    """The report of the audit whose proofs are run first, None where there is none."""
    previous = record.terms.previous
    return None if previous is None else context.files(previous).quality_report()


def _plan(
    context: AuditContext,
    record: AuditRecord,
    place: BundlePlace,
    cases: tuple[KeptCase, ...],
    before: QualityReport | None,
) -> AuditPlan:
    """Raises InputError for a target that cannot be imported, and for a bound of cost that nobody could keep."""
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
    """What the work on a case needs. The proofs of an earlier audit count where the case is asked as it was."""
    blind = kept.case.blind()
    if before is None or before.case.blind() != blind:
        return CaseTask(number=kept.number, case=blind)
    if record.terms.kind == "audit" and before.stopped is not None:
        return CaseTask(number=kept.number, case=blind)  # it was not worked on to its end: it is solved
    return CaseTask(number=kept.number, case=blind, before=before.proofs)
