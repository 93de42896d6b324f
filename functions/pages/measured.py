"""The results of a measurement, as the tables of its page: its metrics, and the verdict on each item."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

from functions.pages.tables import SCORES, UNBOUNDED, UNIT, Column, PageTable, Row, cut, row_of
from touchstone.material import Deck, Quiz
from touchstone.records.labels import Label
from touchstone.statistics.card_views import card_id
from touchstone.surfaces.labelling import CLASSES
from touchstone.surfaces.measured import MetricView
from touchstone.surfaces.measurement import Measurement, MetricWork
from touchstone.surfaces.model import ItemLabel, ItemVote, UnscoredItem, words_of_votes

type MetricState = Literal["waiting", "measuring", "done", "partly", "nothing", "unscored", "left_out"]
"""The progress of a metric. `partly`: its score covers only some of its items. `nothing`: it found nothing to score.
`unscored`: no judge could measure it. `left_out`: it was wanted, but needs a source, and there is none."""

MOST_ITEMS = 200
"""The most items of a metric that a page shows at once: as many as a person labels in one go."""
MOST_CHARS = 300_000
"""The most characters of the texts of all items on a page. Even if each takes six bytes, a page stays well below 6 MB,
the limit of a function's reply."""
MOST_PART_CHARS = 2_000
"""The most characters shown of a question or a card: the sender of a longer one recognises it by its beginning."""
_cut = partial(cut, most=MOST_PART_CHARS)
METRICS = (
    Column(name="metric", shown="word", words="metric", to="address"),
    Column(name="score", shown="decimal", scale=SCORES, to="address"),
    Column(name="metric_state", shown="word", words="metric_state"),
    # A question may have several flaws, each with a line of its own, but counts once; a trivial claim does not count.
    Column(name="items", of=lambda view: len(_items_of(view)), shown="number", detail=True, to="address"),
    Column(name="below_full", of=lambda view: len(_below_full(view)), shown="number", detail=True, to="address"),
    Column(name="unscored", of=lambda view: len(view.unscored), shown="number", to="address"),
    Column(name="split", shown="number", hidden=True),
    Column(name="because", shown="word", words="skip"),
    Column(name="model", of=lambda view: ", ".join(view.outlay.models) or None, shown="code", detail=True),
    Column(name="cost_usd", of=lambda view: view.outlay.cost_usd, shown="usd", unpriced="unpriced", to="trace"),
    Column(name="saved_usd", of=lambda view: view.outlay.saved_usd, shown="usd", detail=True),
    Column(name="next_try_at", shown="moment", detail=True),
    Column(name="details", of=lambda view: "\n".join(view.details) or None, shown="kept", detail=True),
    Column(name="input_tokens", of=lambda view: view.outlay.input_tokens, shown="number", detail=True, to="trace"),
    Column(name="output_tokens", of=lambda view: view.outlay.output_tokens, shown="number", detail=True, to="trace"),
    Column(name="from_cache", of=lambda view: view.outlay.cached, shown="number", detail=True, to="trace"),
    Column(name="unpriced", of=lambda view: view.outlay.unpriced, shown="number", detail=True),
)
ITEMS = (
    Column(name="item"),
    Column(name="text", shown="sent"),
    Column(name="answer", shown="sent"),
    Column(name="label", shown="word", words="class"),
    Column(name="value", shown="decimal", scale=UNIT),
    Column(name="weight", shown="decimal", scale=UNBOUNDED),
    Column(name="confidence", shown="decimal", scale=UNIT),
    Column(name="reason", shown="sent"),
    Column(name="evidence", shown="sent"),
    Column(name="suggestion", shown="sent"),
    Column(name="skipped", shown="word", words="skip"),
    Column(name="details", shown="sent"),
    Column(name="model", shown="code"),
    Column(name="votes", hidden=True),
    Column(name="label_given", shown="word", words="class"),
)


def metrics_of(measurement: Measurement, trace: str | None = None) -> PageTable:
    """Every metric that was wanted: its score, or why it has none, and its cost.

    `trace` is the address of the measurement's trace, to which the cost leads; None if there is none for this visitor.
    """
    rows = [_metric(work, trace) for work in measurement.metrics]
    rows += [{"metric": name, "metric_state": "left_out", "because": why} for name, why in measurement.left_out.items()]
    return PageTable(name="metrics", columns=METRICS, rows=rows)


def items_of(
    measurement: Measurement, work: MetricWork, given: Mapping[str, Label], *, first: int, most_chars: int
) -> PageTable:
    """A metric's verdicts on its items from place `first` on, with people's labels.

    There are at most `MOST_ITEMS` rows, and `most_chars` characters in them; the first row is always there. `given`
    holds people's labels by item. Items that nobody could judge come last. A row also has its `place`, whether it `may`
    have a label, and the id of the `card` that its label counts for (None: it counts for no card).
    """
    items = work.all_items
    rows: list[Row] = []
    left = most_chars
    for place, row in enumerate(_items(measurement, work, items[first : first + MOST_ITEMS]), start=first):
        left -= sum(len(value) for value in row.values() if isinstance(value, str))
        if rows and left < 0:
            break
        said = given.get(str(row["item"]))
        rows.append(
            {
                **row,
                "place": place,
                "label_given": said.label if said else None,
                "card": card_id(said.judge) if said and said.judge else None,
            }
        )
    after = first + len(rows)
    return PageTable(name=work.metric, columns=ITEMS, rows=rows, next=str(after) if after < len(items) else None)


def votes_of(work: MetricWork) -> Mapping[str, tuple[ItemVote, ...]]:
    """The votes of several judges, by item; empty if one judge measured."""
    return {one.item: one.votes for one in work.all_items if one.votes}


def words_of_item(measurement: Measurement, work: MetricWork, item: str) -> str | None:
    """The words of a metric's item as its page shows them: its text, else its question or card; None if it has none."""
    found = next((one for one in work.all_items if one.item == item), None)
    return None if found is None else _shown(found, _parts(measurement))[0]


def _metric(work: MetricWork, trace: str | None) -> Row:
    view = MetricView.of(work)
    return row_of(
        METRICS,
        view,
        metric_state=_state(work),
        address=f"?metric={view.metric}" if view.items or view.unscored else None,
        trace=trace if work.result and work.result.spends else None,
    )


def _items_of(view: MetricView) -> set[str]:
    return {one.item for one in view.items if one.weight > 0}


def _below_full(view: MetricView) -> set[str]:
    return {one.item for one in view.items if one.value < 1 and one.weight > 0}


def _state(work: MetricWork) -> MetricState:
    if not work.over:
        return "measuring" if work.attempts.tries or work.failure else "waiting"
    if not work.measured:
        return "unscored"
    if work.result is None or work.result.score is None:
        return "nothing"
    return "partly" if work.result.unscored else "done"


def _items(
    measurement: Measurement, work: MetricWork, items: tuple[ItemLabel | UnscoredItem, ...]
) -> Iterator[dict[str, str | float | bool | None]]:
    parts = _parts(measurement)
    classes = CLASSES.get(work.metric, ())
    for one in items:
        text, answer = _shown(one, parts)
        judge = one.judge.model if one.judge else None
        row: dict[str, str | float | bool | None] = {"item": one.item, "text": text, "answer": answer, "model": judge}
        row |= {"votes": words_of_votes(one.votes) or None}
        match one:
            case ItemLabel():
                row |= one.model_dump(
                    include={"label", "value", "weight", "reason", "evidence", "suggestion", "confidence"}
                )
                if one.sure_from is not None:
                    row |= {"sure_from": one.sure_from.confidence, "sure_by": one.sure_from.labels}
                yield row | {"may": work.over and one.label in classes}
            case UnscoredItem():
                row |= {"skipped": one.reason, "details": "\n".join(one.details) or None}
                yield row | {"may": work.over and bool(classes)}


def _parts(measurement: Measurement) -> Mapping[str, tuple[str, str, str]]:
    """The texts of the parts of the material, by the part's id: the question, the choices, the answer.

    Empty if the material has no parts with ids, as a summary.
    """
    match measurement.request.material:
        case Quiz(questions=questions):
            return {
                one.id: (one.question_text, "".join(f"\n• {choice}" for choice in one.choices), "\n".join(one.answers))
                for one in questions
            }
        case Deck(cards=cards):
            return {one.id: (one.front, "", one.back) for one in cards}
        case _:
            return {}


def _shown(one: ItemLabel | UnscoredItem, parts: Mapping[str, tuple[str, str, str]]) -> tuple[str | None, str | None]:
    """The text of an item, and its answer; None for a missing one. A distractor's text follows that of its question."""
    if one.text is not None:
        part = parts.get(one.item.rpartition("#")[0])
        return (one.text if part is None else f"{_cut(part[0])}\n• {_cut(one.text)}"), None
    asks, choices, answer = parts.get(one.item, ("", "", ""))
    return _cut(asks + choices) or None, _cut(answer) or None
