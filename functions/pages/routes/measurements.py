"""Measurements: a list with scores, and a page for each measurement on which every judged item can be labelled."""

from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlencode

from functions.composition.labels import labels
from functions.composition.stores import measurements
from functions.pages.finding import Listing, show_found
from functions.pages.labelling import keep_label
from functions.pages.measured import MOST_CHARS, items_of, metrics_of, votes_of
from functions.pages.tables import COST, Column, PageTable, Row, fact, place_of
from functions.pages.visit import Page, PageView, Visit, form, redirect, router, visit
from touchstone import figures
from touchstone.errors import InputError
from touchstone.material import Deck, Quiz, Summary
from touchstone.records import MeasurementSummary
from touchstone.records.judge_counts import calls_of
from touchstone.records.measurements import MeasurementQuery
from touchstone.references import Reference
from touchstone.statistics.card_views import card_id
from touchstone.surfaces.labelling import CARDS_OF_CALLS, CLASSES
from touchstone.surfaces.measured import MeasurementView
from touchstone.surfaces.measurement import Measurement, MetricWork

MOST_SHOWN_CHARS = 100_000
"""The most characters shown of a source or a summary: as much as anybody reads beside the items."""
COLUMNS = (
    Column(name="created_at", shown="moment", to="address"),
    Column(name="title", to="address"),
    Column(name="surface", shown="word", words="surface"),
    Column(name="state", shown="word", words="state"),
    Column(name="scores"),
    *COST,
    Column(name="language", shown="word", words="language", detail=True),
    Column(name="models", detail=True),
    Column(name="providers", shown="words", words="provider", detail=True),
    Column(name="finished_at", shown="moment", detail=True),
    Column(name="id", shown="code", to="address", detail=True),
)


@router.get("/app/measurements")
def list_measurements() -> Page:
    """The tenant's measurements that the filters mean, with their scores, newest first."""
    return show_found(visit(), LISTING, measurements())


@router.get("/app/measurements/<measurement_id>")
def read_measurement(measurement_id: str) -> Page:
    """One measurement: the score of each metric, or why it has none, and the verdict on each item."""
    this_visit = visit()
    found = measurements().get(Reference(this_visit.tenant, "measurement", measurement_id))
    shown, first = _wanted(this_visit, found)
    trace = this_visit.trace_at(found.id, asked=any(found.spends()))
    tables = [metrics_of(found, trace)]
    for work in shown:
        said = (
            labels().of_record(tenant=this_visit.tenant, kind=work.metric, record_id=found.id)
            if _labelled(work)
            else {}
        )
        tables.append(items_of(found, work, said, first=first, most_chars=MOST_CHARS // len(shown)))
    whole = _fact(found)
    given = {
        "measurement": whole.rows[0],
        "alone": this_visit.query.get("metric") or None,
        "first": first,
        "classes": CLASSES,
        "cards": {work.metric: tuple(_cards(work)) for work in shown},
        "votes": {work.metric: votes_of(work) for work in shown},
        "labelled": any(map(_labelled, shown)),
        "may_label": this_visit.may("member"),
        "traced": trace is not None,
    }
    view = PageView(
        title="measurement.title",
        about=found.id,
        template="measurement.html",
        tables=tables,
        facts=(whole,),
        given=given,
    )
    return this_visit.show(view)


@router.post("/app/measurements/<measurement_id>/label")
def label_item(measurement_id: str) -> Page:
    """Label an item, or take the label back. The judge's card changes at once."""
    this_visit = visit(at_least="member")
    fields = form(this_visit.form_mark)
    # A browser changes line breaks and some other characters of a field, so the form holds the item's name encoded.
    kind, item = fields.get("kind", ""), unquote(fields.get("item", ""))
    if kind not in CLASSES:
        raise InputError(f"Items of the metrics {', '.join(CLASSES)} can be labelled.", where="kind")
    keep_label(this_visit, fields, kind=kind, record_id=measurement_id, item=item)
    return redirect(f"../{measurement_id}{_back(kind, fields)}")


def _row(this_visit: Visit, summary: MeasurementSummary) -> Row:
    people = this_visit.format == "html"
    scores = (
        f"{this_visit.words.known('metric', metric) if people else metric} "
        f"{'–' if score is None else figures.score(score, 1)}"
        for metric, score in summary.scores.items()
    )
    return {
        **summary.model_dump(exclude={"scores", "models", "providers"}),
        "scores": "; ".join(scores),
        "models": ", ".join(summary.models) or None,
        "providers": ", ".join(summary.providers) or None,
        "address": f"measurements/{summary.id}",
    }


LISTING = Listing(
    name="measurements", query=MeasurementQuery, columns=COLUMNS, row=_row, words={"status": "state", "label": "class"}
)


def _wanted(this_visit: Visit, measurement: Measurement) -> tuple[Sequence[MetricWork], int]:
    """The metrics whose items are shown, and the place of the first item: the chosen metric, else all from place 0."""
    chosen, cursor = this_visit.query.get("metric"), this_visit.query.get("cursor")
    if chosen:
        return (measurement.work(chosen),), place_of(cursor)
    if cursor:
        raise InputError("Say with `metric` of which metric the items after these are wanted.", where="cursor")
    return [work for work in measurement.metrics if work.result and (work.result.items or work.result.unscored)], 0


def _labelled(work: MetricWork) -> bool:
    """Whether items of a metric may have labels."""
    return work.over and work.metric in CLASSES


def _cards(work: MetricWork) -> Iterator[tuple[str, str]]:
    """The cards that a metric's calls count for: the model and the card's id of each."""
    calls = calls_of(work.result.spends if work.result else (), CARDS_OF_CALLS)
    return ((key.model, card_id(key)) for key in calls)


def _fact(measurement: Measurement) -> PageTable:
    """What was measured, and its progress. `size` counts the questions, the cards, or the characters of a summary."""
    view = MeasurementView.of(measurement)
    source, material = measurement.request.source, measurement.request.material
    match material:
        case Quiz(questions=questions):
            size = len(questions)
        case Deck(cards=cards):
            size = len(cards)
        case Summary(text=text):
            size = len(text)
    texts = {"summary": material.text if isinstance(material, Summary) else None, "source": source and source.text}
    row = {
        **view.model_dump(include={"id", "surface", "state", "language", "created_at", "finished_at"}),
        "judges": view.judges,
        "cost_usd": view.outlay.cost_usd,
        "unpriced_calls": view.outlay.unpriced,
        "size": size,
        **{name: text and text[:MOST_SHOWN_CHARS] for name, text in texts.items()},
        **{f"{name}_characters": text and len(text) for name, text in texts.items()},
    }
    return fact("measurement", row)


def _back(kind: str, fields: dict[str, str]) -> str:
    """The address of the page that the form was sent from: the same items, at the labelled one."""
    alone = {"metric": kind} | ({"cursor": fields["first"]} if fields.get("first") else {})
    query = urlencode(alone) if fields.get("alone") else ""
    place = fields.get("place", "")
    return (f"?{query}" if query else "") + (f"#{kind}-{place}" if place.isdigit() and place.isascii() else "")
