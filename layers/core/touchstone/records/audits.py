"""Audits and their cases: what a step of a case adds to the audit's progress is counted with it, once."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from touchstone.attempts import TryEnd
from touchstone.audits import case_work as cases
from touchstone.audits import record as steps
from touchstone.audits.case_work import CaseProgress, CaseWork
from touchstone.audits.record import AuditKind, AuditRecord, AuditState, Found, Place, Plan
from touchstone.clock import Clock, system_clock
from touchstone.records.artifacts import Artifacts
from touchstone.records.audit_cases import CASE_KIND, progress_of
from touchstone.records.cursors import Page
from touchstone.records.keys import CASE, audit_key, case_key, case_progress_key, of_tenant, record_of, sortable
from touchstone.records.lists import due_until, newest
from touchstone.records.table import Item, query, read
from touchstone.records.versioned import Kind, Versioned
from touchstone.strict import Strict

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

UNFINISHED = "AUDIT#unfinished"
"""The partition of the `deferred` index where audits that are not over are, of all tenants."""
WEEKLY = "AUDIT#weekly"
"""And where those are that are over and to be made again each week, by when they were over."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedAudit:
    """An audit, and whose it is."""

    tenant: str
    audit_id: str


class Audits:
    """The records of audits.

    Every method raises `NotFoundError` for an id that this tenant does not have, and `StoreError` where the store
    fails; all are safe to repeat, and a repeat returns the record as it is stored by then.
    """

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._records = Versioned(AUDIT, table, artifacts, pause=pause)
        self._cases = Versioned(CASE_KIND, table, artifacts, pause=pause)
        self._clock = clock

    def create(
        self,
        *,
        tenant: str,
        audit_id: str,
        terms: steps.Terms,
        content_key: str,
        content_hash: str,
        weekly: bool,
    ) -> AuditRecord:
        """Store a new audit; a repeat returns the stored one, however far it has come.

        Raises `ConflictError` where the id belongs to another request.
        """
        return self._records.insert(
            AuditRecord(
                tenant=tenant,
                id=audit_id,
                created_at=self._clock(),
                terms=terms,
                content_key=content_key,
                content_hash=content_hash,
                weekly=weekly,
            )
        )

    def get(self, *, tenant: str, audit_id: str) -> AuditRecord:
        """The record of an audit."""
        return self._records.read(tenant, audit_key(tenant, audit_id)).record

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[AuditSummary]:
        """A tenant's audits, newest first.

        Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
        """
        scope = of_tenant(tenant, "AUDITS")
        items, after = newest(self._table, "the audits", scope=scope, limit=limit, cursor=cursor)
        return Page(items=tuple(AuditSummary.model_validate_json(str(item["summary"])) for item in items), cursor=after)

    def unfinished(self, *, older_than: timedelta, limit: int = 100) -> tuple[OwnedAudit, ...]:
        """Audits of all tenants that were begun longer ago than `older_than` and are not over, oldest first.

        Read from an index: one that ended a moment ago may still be among them.
        """
        return self._due(UNFINISHED, "unfinished audits", older_than, limit)

    def weekly(self, *, older_than: timedelta, limit: int = 100) -> tuple[OwnedAudit, ...]:
        """Audits of all tenants to be made again each week that were over longer ago than `older_than`, oldest first.

        Read from an index, as `unfinished` is.
        """
        return self._due(WEEKLY, "weekly audits", older_than, limit)

    def place(self, record: AuditRecord, place: Place) -> AuditRecord:
        """Keep where an audit's bundle lies; a repeat keeps the first."""
        return self._step(record, lambda one: steps.placed(one, place))

    def plan(self, record: AuditRecord, plan: Plan) -> AuditRecord:
        """Keep what an audit is about; a repeat keeps the first."""
        return self._step(record, lambda one: steps.planned(one, plan))

    def conclude(self, record: AuditRecord, found: Found) -> AuditRecord:
        """Keep what an audit came to; a repeat keeps the first."""
        return self._step(record, lambda one: steps.concluded(one, found, now=self._clock()))

    def fail(self, record: AuditRecord, why: str) -> AuditRecord:
        """Keep that an audit came to nothing, and why."""
        return self._step(record, lambda one: steps.failed(one, why, now=self._clock()))

    def follow(self, record: AuditRecord, audit_id: str) -> AuditRecord:
        """Keep which audit of the next week took over from it; a repeat keeps the first."""
        return self._step(record, lambda one: steps.followed(one, audit_id))

    def end_weekly(self, record: AuditRecord) -> AuditRecord:
        """Keep that an audit is not made again each week."""
        return self._step(record, steps.ended_weekly)

    def progress(self, *, tenant: str, audit_id: str) -> CaseProgress:
        """How far its cases are."""
        item = read(self._table, case_progress_key(tenant, audit_id), "the progress of the audit")
        return CaseProgress() if item is None else progress_of(item)

    def over(self, *, tenant: str, audit_id: str) -> dict[int, CaseWork]:
        """The cases that are over, by their number, strongly consistent."""
        return {one.number: one for one in self._of(tenant, audit_id) if one.over}

    def carried_until(self, *, tenant: str, audit_id: str) -> datetime | None:
        """When the last of its cases that are not over may be tried again; None where none has begun that is not."""
        moments = (one.attempts.not_before for one in self._of(tenant, audit_id) if not one.over)
        return max((each for each in moments if each is not None), default=None)

    def begin(self, *, tenant: str, audit_id: str, number: int) -> tuple[CaseWork, bool]:
        """Begin a step of a case, and whether it may be made: of many at once exactly one may."""
        key = case_key(tenant, audit_id, number)
        if self._cases.find(tenant, key) is None:
            self._cases.insert(CaseWork(tenant=tenant, audit_id=audit_id, number=number, at=self._clock()))
        return self._cases.begin(tenant, key, lambda one: cases.case_begun(one, now=self._clock()))

    def go_on(self, case: CaseWork, *, turns: int, cost_usd: float, unpriced_calls: int = 0) -> CaseWork:
        """Keep that a step brought something, and that the next may begin."""

        def step(one: CaseWork) -> CaseWork:
            now = self._clock()
            return cases.case_went_on(one, turns=turns, cost_usd=cost_usd, now=now, unpriced_calls=unpriced_calls)

        return self._case_step(case, step)

    def put_back(
        self, case: CaseWork, *, why: str, until: datetime, ended: TryEnd, cost_usd: float, unpriced_calls: int = 0
    ) -> CaseWork:
        """Keep that a try brought no turn, and why; `ended` is what it tells of the work."""

        def step(one: CaseWork) -> CaseWork:
            return cases.case_put_back(
                one,
                why,
                until=until,
                ended=ended,
                cost_usd=cost_usd,
                now=self._clock(),
                unpriced_calls=unpriced_calls,
            )

        return self._case_step(case, step)

    def end(self, case: CaseWork, *, why: str | None, turns: int, cost_usd: float, unpriced_calls: int = 0) -> CaseWork:
        """Keep that a case is over; `why` its last try brought nothing, None where it did."""

        def step(one: CaseWork) -> CaseWork:
            now = self._clock()
            return cases.case_over(one, why, turns=turns, cost_usd=cost_usd, now=now, unpriced_calls=unpriced_calls)

        return self._case_step(case, step)

    def _of(self, tenant: str, audit_id: str) -> Iterator[CaseWork]:
        """The cases of an audit that were begun, strongly consistent."""
        found = query(
            self._table,
            "the cases",
            KeyConditionExpression="pk = :pk AND begins_with(sk, :case)",
            ExpressionAttributeValues={":pk": audit_key(tenant, audit_id)["pk"], ":case": CASE},
            ConsistentRead=True,
        )
        return (self._cases.of_item(tenant, item).record for item in found)

    def _due(self, kind: str, what: str, older_than: timedelta, limit: int) -> tuple[OwnedAudit, ...]:
        found = due_until(self._table, what, kind=kind, moment=self._clock() - older_than, limit=limit)
        owners = (record_of(str(item["pk"])) for item in found)
        return tuple(OwnedAudit(tenant=tenant, audit_id=audit_id) for tenant, audit_id in owners)

    def _step(self, record: AuditRecord, step: Callable[[AuditRecord], AuditRecord]) -> AuditRecord:
        return self._records.change(record.tenant, AUDIT.key(record), step)

    def _case_step(self, case: CaseWork, step: Callable[[CaseWork], CaseWork]) -> CaseWork:
        return self._cases.change(case.tenant, CASE_KIND.key(case), step)


def _derived(record: AuditRecord) -> Item:
    found = record.found
    summary = AuditSummary(
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
    item: Item = {
        "gsi1pk": of_tenant(record.tenant, "AUDITS"),
        "gsi1sk": record.id,
        "summary": summary.model_dump_json(),
    }
    if record.finished_at is None:
        return item | {"gsi2pk": UNFINISHED, "gsi2sk": f"{sortable(record.created_at)}#{record.id}"}
    if record.weekly and record.followed_by is None:
        return item | {"gsi2pk": WEEKLY, "gsi2sk": f"{sortable(record.finished_at)}#{record.id}"}
    return item


AUDIT = Kind(
    name="audit",
    model=AuditRecord,
    key=lambda one: audit_key(one.tenant, one.id),
    asked=lambda one: f"{one.content_hash}\n{one.terms.model_dump_json()}",
    derived=_derived,
)
"""How audits are stored."""
