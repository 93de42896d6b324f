"""Audits and their cases."""

from datetime import datetime

from touchstone.audits.case_work import CaseWork
from touchstone.audits.record import AuditKind, AuditRecord, AuditState
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import CASE, sortable
from touchstone.records.parts import PartKind, Parts
from touchstone.records.table import Item
from touchstone.strict import Strict

WEEKLY = "AUDIT#weekly"
"""The partition of the `deferred` index where those are that are over and to be made again each week, by when they were
over; of all tenants."""


class AuditSummary(Strict):
    """One line of a list. `version` is null until the target was installed, what was found until it is done."""

    id: str
    kind: AuditKind
    state: AuditState
    requirement: str
    version: str | None
    cases: int | None
    incorrect: int | None
    ambiguous: int | None
    drifted: int | None
    weekly: bool
    created_at: datetime
    finished_at: datetime | None


def _summary(record: AuditRecord) -> AuditSummary:
    found = record.found
    return AuditSummary(
        id=record.id,
        kind=record.terms.kind,
        state=record.state,
        requirement=record.terms.target.requirement,
        version=record.place.manifest.version if record.place else None,
        cases=record.plan.cases if record.plan else None,
        incorrect=found.totals["Incorrect"] if found else None,
        ambiguous=found.totals["Ambiguous"] if found else None,
        drifted=len(found.drifts) if found else None,
        weekly=record.weekly and record.followed_by is None,
        created_at=record.created_at,
        finished_at=record.finished_at,
    )


def _due(record: AuditRecord) -> datetime | None:
    # When its cases go on is in its progress, which they count without writing the record.
    return record.created_at if record.finished_at is None else None


def _weekly(record: AuditRecord) -> Item:
    if record.finished_at is None or not record.weekly or record.followed_by is not None:
        return {}
    return {"gsi2pk": WEEKLY, "gsi2sk": f"{sortable(record.finished_at)}#{record.id}"}


type Audits = JobStore[AuditRecord, AuditSummary]
AUDIT = Job(
    kind="audit",
    plural="audits",
    model=AuditRecord,
    asked=lambda one: f"{one.content_hash}\n{one.terms.model_dump_json()}",
    line=AuditSummary,
    summary=_summary,
    due=_due,
    also=_weekly,
)
"""How audits are stored."""
type Cases = Parts[CaseWork]
CASES = PartKind(
    name="case",
    model=CaseWork,
    prefix=CASE,
    new=lambda whole, number, at: CaseWork(tenant=whole.tenant, audit_id=whole.id, number=number, at=at),
    sums=lambda case: {"turns": case.turns},
)
"""How cases are stored. What a step of a case adds to the audit's progress is counted with it, once."""
