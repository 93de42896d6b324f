"""Audits and their cases."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from touchstone.audits.case_work import CaseWork
from touchstone.audits.record import AuditKind, AuditRecord, AuditState
from touchstone.judges.spends import told_cost
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import CASE, sortable
from touchstone.records.list_query import (
    CostFrom,
    CostTo,
    Findable,
    LineFilter,
    ListQuery,
    SearchText,
    ShortText,
    standing,
)
from touchstone.records.parts import PartKind, Parts
from touchstone.records.table import Item
from touchstone.strict import Strict

WEEKLY = "AUDIT#weekly"
"""The partition of the `deferred` index where those are that are over and to be made again each week, by when they were
over; of all tenants."""


_NAME = re.compile(r"^[A-Za-z0-9._-]+")
"""The distribution at the beginning of a requirement."""


class AuditSummary(Strict):
    """One line of a list. `version` is null until the target was installed, what was found until it is done.

    `provider` is who was to solve, null where none was named. `cost_usd` is what its calls cost, all but the
    `unpriced_calls`, once it is over; null before, where no call had a known price, and where it ended before that was
    kept.
    """

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
    provider: str | None = None
    cost_usd: float | None = None
    unpriced_calls: int = 0


def _found(line: AuditSummary) -> Iterator[str]:
    """The words for what an audit found."""
    if line.incorrect is not None:
        counted = {"incorrect": line.incorrect, "ambiguous": line.ambiguous, "drifted": line.drifted}
        named = [name for name, count in counted.items() if count]
        yield from named or ["nothing"]


FINDABLE = Findable[AuditRecord, AuditSummary](
    filters={
        "status": LineFilter(of=lambda line: standing(line.state, over=line.finished_at is not None)),
        "kind": LineFilter(of=lambda line: (line.kind,)),
        "target": LineFilter(of=lambda line: (line.requirement, *_NAME.findall(line.requirement))),
        "found": LineFilter(of=lambda line: tuple(_found(line))),
        "weekly": LineFilter(of=lambda line: ("yes" if line.weekly else "no",)),
        "provider": LineFilter(of=lambda line: (line.provider,), field="provider"),
    },
    said=lambda line: (line.requirement, line.version),
)
"""By what audits are found."""


class AuditQuery(ListQuery):
    """Which audits a list shows. What is left out (null) leaves out nothing; all that is given must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["waiting", "auditing", "done", "failed", "unfinished", "ended"] | None,
        Field(description="How far they are; `unfinished`: the first two, `ended`: the others."),
    ] = None
    kind: Annotated[AuditKind | None, Field(description="`recheck`: stored proofs were run again.")] = None
    target: Annotated[
        ShortText | None, Field(description="The distribution (`google-adk`), or the whole requirement.")
    ] = None
    found: Annotated[
        Literal["incorrect", "ambiguous", "drifted", "nothing"] | None,
        Field(description="What is among what they found; `nothing`: none of these."),
    ] = None
    weekly: Annotated[Literal["yes", "no"] | None, Field(description="Whether they are made again each week.")] = None
    provider: Annotated[ShortText | None, Field(description="Who was to solve, where one was named.")] = None
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None, Field(description="Words of which each stands in the requirement or in its version.")
    ] = None


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
        provider=record.terms.provider,
        cost_usd=None if record.cost_usd is None else told_cost(record.cost_usd, record.unpriced_calls),
        unpriced_calls=record.unpriced_calls,
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
