"""Rates: how often models and providers were right, with intervals, and the providers that routing chose from that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from functions.composition.judging import judges, registry
from functions.composition.reports import routing_report
from functions.composition.stores import routing_pins, statistics
from functions.pages.finding import found_at
from functions.pages.rendering import MOST_ROWS
from functions.pages.tables import Column, PageTable, Row
from functions.pages.visit import Page, PageView, Visit, form, redirect, router, visit
from touchstone.errors import InputError, SettingsError
from touchstone.operations.reports.rates import RateView, Tallies, rates_page
from touchstone.operations.reports.routing import RoutingReport, SubjectRouting
from touchstone.records.keys import of_tenant
from touchstone.records.lists import is_cursor_of

SHOWN = 500
"""The most rows of a table at a time: four such tables stay below the limit of a function's reply, 6 MB, as JSON and as
a page, however long the names are. A tenant's own subjects are some hundred at most."""
DECIDED = {"verdict": "decided", "status": "ended"}
FOUND = {"decided": "decided", "correct": "right", "skipped": "none"}
"""The filter `verdict` of the attempts that each column counts."""
COUNTED = (
    *(Column(name=name, shown="number", to=f"found_{name}", detail=name == "skipped") for name in FOUND),
    Column(name="rate", shown="share", bounds=("lower", "upper"), to="found_decided"),
    Column(name="lower", shown="share", hidden=True),
    Column(name="upper", shown="share", hidden=True),
    Column(name="corrected", shown="share", bounds=("corrected_lower", "corrected_upper"), to="labels_given"),
    Column(name="corrected_lower", shown="share", hidden=True),
    Column(name="corrected_upper", shown="share", hidden=True),
    Column(name="labels", shown="number", detail=True, to="labels_given"),
    Column(name="to_halve", shown="number", detail=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One kind of rates: the name of its table, and its first two columns, for example model and subject."""

    table: str
    columns: tuple[Column, Column]

    def scope(self, tenant: str) -> str:
        """The scope in which the cursors of this table are valid."""
        return of_tenant(tenant, "RATES", self.table)

    def shown(self, tallies: Tallies, *, tenant: str, cursor: str | None) -> PageTable:
        """The table of the rates after the cursor; from the first on if it is None."""
        name, of = (column.name for column in self.columns)
        part = rates_page(tallies, scope=self.scope(tenant), limit=SHOWN, cursor=cursor)
        rows: list[Row] = [
            {
                name: rate.name,
                of: rate.of,
                **rate.model_dump(exclude={"name", "of", "corrected"}),
                **_corrected(rate),
                **_found({name: rate.name, of: rate.of}),
            }
            for rate in part.items
        ]
        columns = (*self.columns, *COUNTED)
        return PageTable(name=self.table, columns=columns, rows=rows, next=part.cursor, sorted_by="name")


def _found(of: Mapping[str, str]) -> Row:
    """The addresses of the lists of answers whose attempts the columns of a rate count."""
    return {
        f"found_{name}": found_at("answers", {**of, "verdict": verdict, "status": "ended"})
        for name, verdict in FOUND.items()
    }


def _corrected(rate: RateView) -> Row:
    """The columns of the corrected rate; empty if there are too few labels."""
    if (true := rate.corrected) is None:
        return {}
    lower, upper = true.interval
    bounds = {"corrected_lower": lower, "corrected_upper": upper}
    return {
        "corrected": true.rate,
        **bounds,
        "labels": true.labels,
        "to_halve": true.to_halve,
        "labels_given": "judges#table-labels_given",
    }


MODEL = Column(name="model", shown="code", words="model")
SUBJECT = Column(name="subject")
BY_MODEL_AND_SUBJECT = _Kind(table="model_subject", columns=(MODEL, SUBJECT))
BY_MODEL_AND_DIFFICULTY = _Kind(
    table="model_difficulty",
    columns=(MODEL, Column(name="difficulty", shown="word", words="difficulty")),
)
BY_PROVIDER_AND_SUBJECT = _Kind(
    table="provider_subject",
    columns=(Column(name="provider", shown="word", words="provider"), SUBJECT),
)


@router.get("/app/rates")
def rates() -> Page:
    """Correctness by model and subject, model and difficulty, provider and subject; routing with its reasons."""
    this_visit = visit()
    found, kept = statistics().rates(this_visit.tenant), routing_pins().read(this_visit.tenant)
    kinds = (
        (BY_MODEL_AND_SUBJECT, found.model_subject),
        (BY_MODEL_AND_DIFFICULTY, found.model_difficulty),
        (BY_PROVIDER_AND_SUBJECT, found.provider_subject),
    )
    scopes = [kind.scope(this_visit.tenant) for kind, _ in kinds]
    *cursors, cursor = _cursors(this_visit, [*scopes, of_tenant(this_visit.tenant, "ROUTING")])
    routing = routing_report(this_visit.tenant, rates=found, routing=kept, limit=SHOWN, cursor=cursor)
    tables = [
        kind.shown(each, tenant=this_visit.tenant, cursor=behind)
        for (kind, each), behind in zip(kinds, cursors, strict=True)
    ]
    return this_visit.show(
        PageView(
            title="rates.title",
            template="rates.html",
            tables=(*tables, _routing(routing)),
            given={
                "routing": routing,
                "may_pin": this_visit.may("admin"),
                "providers": _providers(this_visit),
                "pinned": sorted(kept.pins)[:MOST_ROWS],
            },
        )
    )


def _cursors(this_visit: Visit, scopes: Sequence[str]) -> list[str | None]:
    """The cursor of each table: the one that was asked for at its own table, None at the others, which start anew."""
    asked = this_visit.query.get("cursor")
    found = [asked if asked is not None and is_cursor_of(scope, asked) else None for scope in scopes]
    if asked is not None and not any(found):
        raise InputError("This cursor does not belong to this page; start again without one.", where="cursor")
    return found


@router.post("/app/rates/pin")
def pin() -> Page:
    """Have one provider solve a subject from now on."""
    this_visit, fields = _sent()
    try:
        provider = registry().provider(fields.get("provider", "")).name
    except SettingsError as error:
        raise InputError(str(error), where="provider") from None
    routing_pins().pin(tenant=this_visit.tenant, subject=fields.get("subject", "").strip(), provider=provider)
    return redirect(f"{this_visit.home}app/rates")


@router.post("/app/rates/unpin")
def unpin() -> Page:
    """Remove the pin of a subject, so that the data decides again which provider solves it."""
    this_visit, fields = _sent()
    routing_pins().unpin(tenant=this_visit.tenant, subject=fields.get("subject", ""))
    return redirect(f"{this_visit.home}app/rates")


def _sent() -> tuple[Visit, dict[str, str]]:
    """The visit of an admin, and the form that the admin sent."""
    this_visit = visit(at_least="admin")
    return this_visit, form(this_visit.form_mark)


def _providers(this_visit: Visit) -> list[tuple[str, bool]]:
    """The providers that can be pinned, and whether each has a key: without a key its pin has no effect."""
    available = judges(this_visit.tenant).available()
    return [(name, name in available) for name in registry().providers]


def _routing(report: RoutingReport) -> PageTable:
    columns = (
        SUBJECT,
        Column(name="provider", shown="code"),
        Column(name="why", shown="word", words="why"),
        Column(name="since", shown="moment"),
        Column(name="decided", shown="number", to="found"),
        Column(name="rate", shown="share", bounds=("lower", "upper"), to="found"),
        Column(name="lower", shown="share", hidden=True),
        Column(name="upper", shown="share", hidden=True),
        Column(name="candidate", shown="code", detail=True),
        Column(name="lacks", shown="number", detail=True),
        Column(name="pinned", shown="code", detail=True),
        Column(name="pinned_by", shown="word", words="pinned_by", detail=True),
        Column(name="without_pin", shown="code", detail=True),
        Column(name="before", shown="code", detail=True),
    )
    rows = [_choice(subject) for subject in report.subjects]
    return PageTable(name="routing", columns=columns, rows=rows, next=report.cursor, sorted_by="name")


def _choice(subject: SubjectRouting) -> Row:
    evidence = next((each for each in subject.evidence if each.provider == subject.provider), None)
    counted = {} if evidence is None else evidence.model_dump(include={"decided", "rate", "lower", "upper"})
    return {
        **subject.model_dump(include={"subject", "provider", "why", "since", "pinned", "pinned_by"}),
        **counted,
        "found": found_at("answers", {"subject": subject.subject, "provider": subject.provider, **DECIDED}),
        "before": None if subject.before is None else subject.before.provider,
        "without_pin": None if subject.pinned is None or subject.without_pin is None else subject.without_pin.provider,
        "candidate": None if subject.candidate is None else subject.candidate.provider,
        "lacks": None if subject.candidate is None else subject.candidate.lacks,
    }
