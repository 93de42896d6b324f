"""Rates: how often models and providers were right, with intervals, and what routing chose because of that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.composition.judging import judges, registry, routing_report
from functions.composition.stores import routing_pins, statistics
from functions.pages.charts import Chart, Series
from functions.pages.finding import found_at
from functions.pages.rendering import MOST_ROWS
from functions.pages.tables import Column, PageTable, Row
from functions.pages.visit import PageView, Visit, form, redirect, visit
from functions.pages.words import PageTexts
from touchstone.errors import InputError, SettingsError
from touchstone.operations.rates import RateView, Tallies, most_decided, rates_page
from touchstone.operations.routing import RoutingReport, SubjectRouting
from touchstone.records.cursors import leads_on
from touchstone.records.keys import of_tenant

router = Router()

SHOWN = 500
"""Rows of each table at a time: four tables of so many stay below what a function may answer, 6 MB, as JSON and as a
page, whatever names were sent. A tenant's own subjects are some hundred at most."""
DRAWN = 15
"""Rates on one chart: those with the most verdicts. More could not be told apart; the table has all."""
DECIDED = {"verdict": "decided", "status": "ended"}
FOUND = {"decided": "decided", "correct": "right", "skipped": "none"}
"""The verdicts of the attempts that a column counts."""
COUNTED = (
    *(Column(name=name, shown="number", to=f"found_{name}") for name in FOUND),
    Column(name="rate", shown="share", bounds=("lower", "upper"), to="found_decided"),
    Column(name="lower", shown="share", hidden=True),
    Column(name="upper", shown="share", hidden=True),
    Column(name="corrected", shown="share", bounds=("corrected_lower", "corrected_upper")),
    Column(name="corrected_lower", shown="share", hidden=True),
    Column(name="corrected_upper", shown="share", hidden=True),
    Column(name="labels", shown="number", detail=True, to="labels_given"),
    Column(name="to_halve", shown="number", detail=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One kind of rates: the name of its table, and the columns of the two things that each is of."""

    table: str
    columns: tuple[Column, Column]
    label: Callable[[PageTexts, RateView], str]

    def scope(self, tenant: str) -> str:
        """What cursors of this table are good in."""
        return of_tenant(tenant, "RATES", self.table)

    def shown(self, tallies: Tallies, *, tenant: str, cursor: str | None) -> PageTable:
        """The table of those behind the cursor, or of the first."""
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

    def drawn(self, words: PageTexts, tallies: Tallies) -> Chart | None:
        """The chart of those with the most verdicts; None where there is no verdict."""
        most = most_decided(tallies, DRAWN)
        if not most:
            return None
        title, decided = words(f"table.{self.table}"), sum(tally.decided > 0 for tally in tallies.values())
        if len(most) < decided:
            title = words("rates.most", title=title, drawn=len(most), count=decided)
        series = Series(
            name=words("column.rate"),
            values=[rate.rate for rate in most],
            lower=[rate.lower for rate in most],
            upper=[rate.upper for rate in most],
        )
        labels = [self.label(words, rate) for rate in most]
        return Chart(kind="intervals", title=title, labels=labels, series=(series,), share=True)


def _found(of: Mapping[str, str]) -> Row:
    """Where the answers are whose attempts the columns of a rate count."""
    return {
        f"found_{name}": found_at("answers", {**of, "verdict": verdict, "status": "ended"})
        for name, verdict in FOUND.items()
    }


def _corrected(rate: RateView) -> Row:
    """The columns of the corrected rate; none where there are too few labels."""
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


MODEL = Column(name="model", shown="code")
SUBJECT = Column(name="subject")
BY_MODEL_AND_SUBJECT = _Kind(
    table="model_subject", columns=(MODEL, SUBJECT), label=lambda _, rate: f"{rate.name} · {rate.of}"
)
BY_MODEL_AND_DIFFICULTY = _Kind(
    table="model_difficulty",
    columns=(MODEL, Column(name="difficulty", shown="word", words="difficulty")),
    label=lambda words, rate: f"{rate.name} · {words.known('difficulty', rate.of)}",
)
BY_PROVIDER_AND_SUBJECT = _Kind(
    table="provider_subject",
    columns=(Column(name="provider", shown="word", words="provider"), SUBJECT),
    label=lambda words, rate: f"{words.known('provider', rate.name)} · {rate.of}",
)


@router.get("/app/rates")
def rates() -> Response[str]:
    """Correctness by model and subject, model and difficulty, provider and subject; who solves what, and why."""
    met = visit(router)
    found, kept = statistics().rates(met.tenant), routing_pins().read(met.tenant)
    kinds = (
        (BY_MODEL_AND_SUBJECT, found.model_subject),
        (BY_MODEL_AND_DIFFICULTY, found.model_difficulty),
        (BY_PROVIDER_AND_SUBJECT, found.provider_subject),
    )
    scopes = [kind.scope(met.tenant) for kind, _ in kinds]
    *cursors, cursor = _cursors(met, [*scopes, of_tenant(met.tenant, "ROUTING")])
    routing = routing_report(met.tenant, rates=found, routing=kept, limit=SHOWN, cursor=cursor)
    drawn = {kind.table: kind.drawn(met.words, each) for kind, each in kinds}
    charts = {name: chart for name, chart in drawn.items() if chart is not None}
    tables = [
        kind.shown(each, tenant=met.tenant, cursor=behind) for (kind, each), behind in zip(kinds, cursors, strict=True)
    ]
    return met.show(
        PageView(
            title="rates.title",
            template="rates.html",
            tables=(*tables, _routing(routing)),
            charts=tuple(charts.values()),
            given={
                "drawn": {name: chart.data for name, chart in charts.items()},
                "routing": routing,
                "may_pin": met.may("admin"),
                "providers": _providers(met),
                "pinned": sorted(kept.pins)[:MOST_ROWS],
            },
        )
    )


def _cursors(met: Visit, scopes: Sequence[str]) -> list[str | None]:
    """The cursor that was asked for at the table it is of; the others begin at the beginning."""
    asked = met.query.get("cursor")
    found = [asked if asked is not None and leads_on(scope, asked) else None for scope in scopes]
    if asked is not None and not any(found):
        raise InputError("This cursor does not belong to this page; start again without one.", where="cursor")
    return found


@router.post("/app/rates/pin")
def pin() -> Response[str]:
    """Have one provider solve a subject from now on."""
    met, fields = _sent()
    try:
        provider = registry().provider(fields.get("provider", "")).name
    except SettingsError as error:
        raise InputError(str(error), where="provider") from None
    routing_pins().pin(tenant=met.tenant, subject=fields.get("subject", "").strip(), provider=provider)
    return redirect(f"{met.home}app/rates")


@router.post("/app/rates/unpin")
def unpin() -> Response[str]:
    """Leave a subject to the data again."""
    met, fields = _sent()
    routing_pins().unpin(tenant=met.tenant, subject=fields.get("subject", ""))
    return redirect(f"{met.home}app/rates")


def _sent() -> tuple[Visit, dict[str, str]]:
    """The visit of an admin, and the form they sent."""
    met = visit(router, at_least="admin")
    return met, form(router, met.form_mark)


def _providers(met: Visit) -> list[tuple[str, bool]]:
    """The providers that can be pinned, and whether each has a key: without one a pin has no effect."""
    available = judges(met.tenant).available()
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
