"""Judges: how far each can be trusted, by people's labels of its verdicts, and the quality of its calls."""

from dataclasses import replace

from functions.composition.labels import labels
from functions.composition.stores import statistics, thresholds
from functions.pages.charts import Chart, Series
from functions.pages.labelled import NOTHING, LabelledThing, name_of, things_of
from functions.pages.labelling import address_of
from functions.pages.rendering import share
from functions.pages.tables import AGREEMENT, UNIT, Column, PageTable, Row
from functions.pages.visit import Page, PageView, router, visit
from functions.pages.words import PageTexts
from touchstone.operations.labels.labelling import judge_card, judge_summaries
from touchstone.records.labels import Label
from touchstone.statistics.card_views import JudgeCardView, JudgeSummary
from touchstone.statistics.cards import Agreement, Calibration, Share

LABELS_SHOWN = 20
CARDS = (
    Column(name="kind", shown="word", words="kind", to="address"),
    Column(name="model", shown="code", words="decider", to="address"),
    Column(name="tier", shown="word", words="tier", detail=True),
    Column(name="prompt_version", shown="code", detail=True),
    Column(name="labels", shown="number", to="address"),
    Column(name="state", shown="word", words="card"),
    Column(name="kappa", shown="decimal", bounds=("kappa_lower", "kappa_upper"), scale=AGREEMENT),
    Column(name="kappa_lower", shown="decimal", scale=AGREEMENT, hidden=True),
    Column(name="kappa_upper", shown="decimal", scale=AGREEMENT, hidden=True),
    Column(name="people_agree", shown="share", detail=True),
    Column(name="alpha", shown="decimal", scale=AGREEMENT, detail=True),
    Column(name="threshold", shown="decimal", scale=UNIT),
    Column(name="threshold_state", shown="word", words="threshold", detail=True),
    Column(name="ece", shown="decimal", scale=UNIT, detail=True),
    Column(name="flip_rate", shown="share", detail=True),
    Column(name="calls", shown="number", detail=True, to="address"),
    Column(name="unreadable_share", shown="share", detail=True),
    Column(name="latency_ms", shown="number", detail=True),
    Column(name="verdict_cost_usd", shown="usd", unpriced="unpriced", detail=True),
    Column(name="id", shown="code", detail=True),
)
GIVEN = (
    Column(name="labelled_at", shown="moment"),
    Column(name="about", to="address"),
    Column(name="thing"),
    Column(name="label", shown="word", words="class"),
    Column(name="verdict", shown="word", words="class"),
    Column(name="confidence", shown="mark"),
    Column(name="kind", shown="word", words="kind", detail=True),
    Column(name="record_id", shown="code", to="address", detail=True),
    Column(name="item", shown="code", detail=True),
)


@router.get("/app/judges")
def list_judges() -> Page:
    """All cards, one row each, and the newest labels."""
    this_visit = visit()
    found = judge_summaries(statistics(), thresholds(), tenant=this_visit.tenant)
    given = labels().page(tenant=this_visit.tenant, limit=LABELS_SHOWN, cursor=this_visit.query.get("cursor"))
    lines: list[Row] = [{**each.model_dump(), "address": f"judges/{each.id}"} for each in found]
    things = things_of(this_visit.tenant, given.items)
    said = [_label(each, things.get(name_of(each), NOTHING)) for each in given.items]
    tables = (
        PageTable(name="cards", columns=CARDS, rows=lines),
        PageTable(name="labels_given", columns=GIVEN, rows=said, next=given.cursor),
    )
    return this_visit.show(PageView(title="judges.title", template="judges.html", tables=tables))


@router.get("/app/judges/<card_id>")
def read_judge(card_id: str) -> Page:
    """One card: agreement by class, calibration, flips, calls."""
    this_visit = visit()
    card = judge_card(statistics(), thresholds(), tenant=this_visit.tenant, card_id=card_id)
    charts = (_diagram(this_visit.words, card.calibration),) if isinstance(card.calibration, Calibration) else ()
    view = PageView(
        title="judge.title",
        about=f"{card.model} · {this_visit.words.known('kind', card.kind)}",
        template="judge.html",
        tables=(_card(card), _classes(card), _rates(card), _bins(card)),
        charts=charts,
        given={"card": card},
    )
    return this_visit.show(view)


def _label(given: Label, thing: LabelledThing) -> Row:
    shown = given.model_dump(include={"kind", "record_id", "item", "label", "verdict", "confidence", "labelled_at"})
    return {**shown, "about": thing.about, "thing": thing.words, "address": address_of(given)}


def _card(card: JudgeCardView) -> PageTable:
    columns = [replace(column, to="") for column in CARDS if column.name not in {"kind", "model"}]
    return PageTable(name="card", columns=columns, rows=[JudgeSummary.of(card).model_dump()])


def _classes(card: JudgeCardView) -> PageTable:
    found = card.agreement.classes if isinstance(card.agreement, Agreement) else ()
    rows: list[Row] = [
        {"label": each.label, **_shares("precision", each.precision), **_shares("recall", each.recall)}
        for each in found
    ]
    columns = [Column(name="label", shown="word", words="class")]
    for name in ("precision", "recall"):
        columns += [*_interval(name), Column(name=f"{name}_of", shown="number")]
    return PageTable(name="classes", columns=columns, rows=rows)


def _interval(name: str) -> tuple[Column, ...]:
    """The column of a share with its interval drawn beside it, and the interval's ends for the exports."""
    ends = (f"{name}_lower", f"{name}_upper")
    return (
        Column(name=name, shown="share", bounds=ends),
        *(Column(name=end, shown="share", hidden=True) for end in ends),
    )


def _shares(name: str, share: Share) -> dict[str, float | int | None]:
    lower, upper = share.interval or (None, None)
    return {name: share.value, f"{name}_lower": lower, f"{name}_upper": upper, f"{name}_of": share.of}


def _rates(card: JudgeCardView) -> PageTable:
    rows: list[Row] = []
    for each in card.rates:
        row: dict[str, str | float | int | None] = {"label": each.label, **_shares("judge_says", each.said)}
        if (true := each.corrected) is not None:
            row |= {"corrected": true.rate, "corrected_lower": true.interval[0], "corrected_upper": true.interval[1]}
            row |= {"correction": true.method, "labels": true.labels, "to_halve": true.to_halve}
        rows.append(row)
    columns = [
        Column(name="label", shown="word", words="class"),
        *_interval("judge_says"),
        Column(name="judge_says_of", shown="number"),
        *_interval("corrected"),
        Column(name="labels", shown="number"),
        Column(name="correction", shown="word", words="correction", detail=True),
        Column(name="to_halve", shown="number", detail=True),
    ]
    return PageTable(name="class_rates", columns=columns, rows=rows)


def _bins(card: JudgeCardView) -> PageTable:
    found = card.calibration.diagram.bins if isinstance(card.calibration, Calibration) else ()
    rows: list[Row] = [
        {
            "confidence_from": each.lower,
            "confidence_to": each.upper,
            "verdicts": each.count,
            "confidence": each.confidence,
            "right": each.accuracy,
            "right_lower": each.interval and each.interval[0],
            "right_upper": each.interval and each.interval[1],
        }
        for each in found
        if each.count
    ]
    columns = (
        Column(name="confidence_from", shown="decimal", scale=UNIT),
        Column(name="confidence_to", shown="decimal", scale=UNIT),
        Column(name="verdicts", shown="number"),
        Column(name="confidence", shown="decimal", scale=UNIT),
        *_interval("right"),
    )
    return PageTable(name="bins", columns=columns, rows=rows)


def _diagram(words: PageTexts, calibration: Calibration) -> Chart:
    filled = [each for each in calibration.diagram.bins if each.count]
    series = Series(
        name=words("column.right"),
        values=[each.accuracy for each in filled],
        texts=[share(each.accuracy) for each in filled],
        lower=[each.interval and each.interval[0] for each in filled],
        upper=[each.interval and each.interval[1] for each in filled],
    )
    labels_ = [str(each.confidence) for each in filled]
    return Chart(kind="reliability", title=words("judge.diagram"), labels=labels_, series=(series,))
