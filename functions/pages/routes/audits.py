"""Audits: a list, and a page for each audit with its ratings, its drifts, and every case with its options' proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition.intakes import of_audits as intake
from functions.composition.stores import audits
from functions.pages.finding import Listing, show_found
from functions.pages.proofs import cases_of, drifts_of, options_of, totals_of
from functions.pages.tables import Column, PageTable, Row, fact, place_of
from functions.pages.visit import Page, PageView, Visit, router, visit
from touchstone.audits.report.model import RATINGS
from touchstone.errors import InputError
from touchstone.records import AuditSummary
from touchstone.records.audits import AuditQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from touchstone.audits.record import AuditView
    from touchstone.audits.report import AuditedCase

FOUND = {"incorrect": "?rating=Incorrect", "ambiguous": "?rating=Ambiguous", "drifted": "#table-drifts"}
"""The address, on an audit's page, of the cases that each column counts."""
CASES = 10
"""The most cases on a page: each has up to 26 options with a script."""

READABLE_BYTES = 50_000_000
"""The most bytes of a report that is read for a page: it takes about 150 MB of the function's memory. The report of a
thousand cases with long scripts has half as many bytes. A larger report is opened by its links."""


COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="requirement", to="address"),
    Column(name="state", shown="word", words="state"),
    *(Column(name=name, shown="number", to=f"found_{name}") for name in FOUND),
    Column(name="version", shown="code", detail=True),
    Column(name="audit_kind", shown="word", words="audit_kind", detail=True),
    Column(name="cases", shown="number", to="address", detail=True),
    Column(name="weekly", shown="word", words="passed", detail=True),
    Column(name="provider", shown="word", words="provider", detail=True),
    Column(name="cost_usd", shown="usd", to="address", detail=True),
    Column(name="unpriced_calls", shown="number", hidden=True),
    Column(name="finished_at", shown="moment", detail=True),
    Column(name="id", shown="code", to="address", detail=True),
)


@router.get("/app/audits")
def list_audits() -> Page:
    """The tenant's audits that the filters mean, newest first, and their results."""
    return show_found(visit(), LISTING, audits())


@router.get("/app/audits/<audit_id>")
def read_audit(audit_id: str) -> Page:
    """One audit: its progress, ratings and drifts, and its cases, those that need a maintainer first."""
    this_visit = visit()
    here = intake(this_visit.tenant)
    audit = here.view(audit_id)
    files = here.files(audit_id)
    over = audit.state == "done"
    readable = not over or files.report_bytes("json") <= READABLE_BYTES
    cases = files.quality_report().cases if over and readable else ()
    wanted = _wanted(this_visit, cases)
    start = place_of(this_visit.query.get("cursor"))
    shown = wanted[start : start + CASES]
    following = str(start + CASES) if len(wanted) > start + CASES else None
    options = options_of(shown)
    return this_visit.show(
        PageView(
            title="audit.title",
            about=audit.requirement,
            template="audit.html",
            tables=(totals_of(audit), drifts_of(audit.drifts), cases_of(shown, following), options),
            facts=(_fact(audit),),
            given={
                "audit": audit,
                "traced": bool(audit.turns) and this_visit.may("admin"),
                "readable": readable,
                "ratings": RATINGS,
                "rating": this_visit.query.get("rating") or None,
                "options": {one.case.id: [row for row in options.rows if row["case"] == one.case.id] for one in shown},
                "missing": {one.case.id: one.missing for one in shown},
                "found": (start + 1, start + len(shown), len(wanted)),
            },
        )
    )


def _fact(audit: AuditView) -> PageTable:
    shown = {"id", "requirement", "kind", "state", "because", "failure", "version", "bundle", "cases", "done", "turns"}
    linked = {"weekly", "previous", "followed_by", "cost_usd", "unpriced_calls", "created_at", "finished_at"}
    return fact("audit", audit.model_dump(include=shown | linked))


def _row(_visit: Visit, summary: AuditSummary) -> Row:
    row, address = summary.model_dump(), f"audits/{summary.id}"
    found = {f"found_{name}": f"{address}{place}" if row[name] else None for name, place in FOUND.items()}
    return {**row, **found, "audit_kind": summary.kind, "address": address}


LISTING = Listing(
    name="audits",
    query=AuditQuery,
    columns=COLUMNS,
    row=_row,
    words={"status": "state", "kind": "audit_kind", "weekly": "yes_no", "found": "audit_found"},
)


def _wanted(this_visit: Visit, cases: Sequence[AuditedCase]) -> list[AuditedCase]:
    """The cases of the rating asked for, or the one case asked for, else all; sorted by rating, then in their order."""
    rating, case = this_visit.query.get("rating") or None, this_visit.query.get("case") or None
    if rating is not None and rating not in RATINGS:
        raise InputError(f"Cases can be listed by the rating {', '.join(RATINGS)}.", where="rating")
    found = [one for one in cases if rating in {None, one.quality_rating} and case in {None, one.case.id}]
    return sorted(found, key=lambda one: RATINGS.index(one.quality_rating))
