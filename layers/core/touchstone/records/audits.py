"""How audits and their cases are stored, listed and found."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from touchstone.audits.case_work import CaseWork
from touchstone.audits.record import AuditKind, AuditRecord, AuditState, KeptCases
from touchstone.errors import NotFoundError
from touchstone.judges.spends import cost_to_show
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
from touchstone.records.looking import OBJECT_READS
from touchstone.records.parts import PartKind, Parts
from touchstone.records.table import Item
from touchstone.strict import Strict

WEEKLY = "AUDIT#weekly"
"""The partition of the `deferred` index, for all tenants, with the audits that are over and are repeated each week.
They are sorted by when they ended."""


_NAME = re.compile(r"^[A-Za-z0-9._-]+")
"""The distribution at the beginning of a requirement."""


class AuditSummary(Strict):
    """One line of a list of audits.

    `version` is null until the target was installed. `incorrect`, `ambiguous` and `drifted` are null until the audit is
    done. `provider` is who solves, null if the request named none. `cost_usd` is what the calls cost in US dollars,
    without the `unpriced_calls`. It is known once the audit is over; it is null before, if no call had a known price,
    and for audits that ended before this was kept.
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
    """The words for the result of an audit: the kinds of faults that it found, or "nothing"."""
    if line.incorrect is not None:
        counted = {"incorrect": line.incorrect, "ambiguous": line.ambiguous, "drifted": line.drifted}
        named = [name for name, count in counted.items() if count]
        yield from named or ["nothing"]


def _texts(cases: KeptCases) -> Iterator[str]:
    for kept in cases.cases:
        yield kept.case.question
        yield from (option.text for option in kept.case.options)


FINDABLE = Findable[KeptCases, AuditSummary](
    filters={
        "status": LineFilter(of=lambda line: standing(line.state, over=line.finished_at is not None)),
        "kind": LineFilter(of=lambda line: (line.kind,)),
        "target": LineFilter(of=lambda line: (line.requirement, *_NAME.findall(line.requirement))),
        "found": LineFilter(of=lambda line: tuple(_found(line))),
        "weekly": LineFilter(of=lambda line: ("yes" if line.weekly else "no",)),
        "provider": LineFilter(of=lambda line: (line.provider,), field="provider"),
    },
    said=lambda line: (line.requirement, line.version),
    texts=_texts,
)
"""The filters and texts by which audits are found. The cases of an audit lie in the bucket, in one object."""


class AuditQuery(ListQuery):
    """The filters of a list of audits. A filter that is null excludes nothing; all given filters must hold."""

    findable = FINDABLE

    status: Annotated[
        Literal["waiting", "auditing", "done", "failed", "unfinished", "ended"] | None,
        Field(description="The state. `unfinished`: `waiting` or `auditing`. `ended`: `done` or `failed`."),
    ] = None
    kind: Annotated[
        AuditKind | None, Field(description="The kind of audit. `recheck`: stored proofs were run again.")
    ] = None
    target: Annotated[
        ShortText | None, Field(description="The distribution under audit (`google-adk`), or the whole requirement.")
    ] = None
    found: Annotated[
        Literal["incorrect", "ambiguous", "drifted", "nothing"] | None,
        Field(description="A kind of finding that the audit has. `nothing`: it has none of these."),
    ] = None
    weekly: Annotated[Literal["yes", "no"] | None, Field(description="Whether the audit is repeated each week.")] = None
    provider: Annotated[ShortText | None, Field(description="The provider that solves, if the request named one.")] = (
        None
    )
    cost_from: CostFrom = None
    cost_to: CostTo = None
    search: Annotated[
        SearchText | None,
        Field(
            description="Words. Each must be in the requirement, in its version, or in a question or an option of "
            "the cases."
        ),
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
        cost_usd=None if record.cost_usd is None else cost_to_show(record.cost_usd, record.unpriced_calls),
        unpriced_calls=record.unpriced_calls,
    )


def _weekly(record: AuditRecord) -> Item:
    if record.finished_at is None or not record.weekly or record.followed_by is not None:
        return {}
    return {"gsi2pk": WEEKLY, "gsi2sk": f"{sortable(record.finished_at)}#{record.id}"}


AUDIT = Job(
    kind="audit",
    plural="audits",
    model=AuditRecord,
    asked=lambda one: f"{one.content_hash}\n{one.terms.model_dump_json()}",
    line=AuditSummary,
    summary=_summary,
    due=lambda one: one.due,
    more_attributes=_weekly,
)
"""How audits are stored."""


class AuditStore(JobStore[AuditRecord, AuditSummary]):
    """The audits of all tenants."""

    def reads_of(self, query: ListQuery, line: AuditSummary) -> int:
        """One read of the record, and the reads of its cases if the query looks for words."""
        return super().reads_of(query, line) + (OBJECT_READS if _search(query) else 0)

    def searched(self, query: ListQuery, record: AuditRecord) -> KeptCases:
        """The cases of an audit; none if the query looks for no words, or if the audit is being deleted."""
        if _search(query):
            with suppress(NotFoundError):
                text = self._artifacts.get_text(tenant=record.tenant, key=record.content_key)
                return KeptCases.model_validate_json(text)
        return KeptCases(cases=())


def _search(query: ListQuery) -> str | None:
    return query.search if isinstance(query, AuditQuery) else None


type Audits = AuditStore
type Cases = Parts[CaseWork]
CASES = PartKind(
    name="case",
    model=CaseWork,
    prefix=CASE,
    new=lambda whole, number, at: CaseWork(tenant=whole.tenant, audit_id=whole.id, number=number, at=at),
    sums=lambda case: {"turns": case.turns},
)
"""How cases are stored. A step of a case adds to the audit's progress in the same transaction, once."""
