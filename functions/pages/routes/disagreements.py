"""Disagreements of people and judges: each label beside the verdict that it contradicts."""

from collections.abc import Sequence

from functions.composition.labels import labels
from functions.pages.labelled import NOTHING, LabelledThing, name_of, things_of
from functions.pages.labelling import JudgesWord, address_of, judges_of
from functions.pages.tables import Column, PageTable, Row
from functions.pages.visit import Page, PageView, router, visit
from touchstone.answers.labelling import KIND
from touchstone.records.labels import Label

COLUMNS = (
    Column(name="labelled_at", shown="moment"),
    Column(name="about", to="address"),
    Column(name="thing"),
    Column(name="label", shown="word", words="class"),
    Column(name="verdict", shown="word", words="class"),
    Column(name="model", shown="code", words="decider", to="card_address"),
    Column(name="problem", hidden=True),
    Column(name="answer", hidden=True),
    Column(name="confidence", shown="mark", detail=True),
    Column(name="kind", shown="word", words="kind", detail=True),
    Column(name="record_id", shown="code", to="address", detail=True),
    Column(name="item", shown="code", detail=True),
    Column(name="sample", hidden=True),
    Column(name="people", shown="number", hidden=True),
    Column(name="labelled_by", shown="code", hidden=True),
)


@router.get("/app/disagreements")
def list_disagreements() -> Page:
    """The labels that contradict a judge, newest first. If a card is named, only labels that contradict its judge."""
    this_visit = visit()
    card = this_visit.query.get("card") or None
    page, looked_at = labels().disagreements(
        tenant=this_visit.tenant,
        cursor=this_visit.query.get("cursor"),
        of=lambda label: _disputed(label, card) is not None,
    )
    things = things_of(this_visit.tenant, page.items)
    table = PageTable(
        name="disagreements",
        columns=COLUMNS,
        rows=[row for label in page.items if (row := _row(label, card, things.get(name_of(label), NOTHING)))],
        next=page.cursor,
    )
    given = {"card": card, "looked_at": looked_at, "newest": "cursor" not in this_visit.query}
    return this_visit.show(
        PageView(title="disagreements.title", template="disagreements.html", tables=(table,), given=given)
    )


def _disputed(label: Label, card: str | None) -> JudgesWord | None:
    """The first judge that a label contradicts; if a card is named, only its judge counts. None if there is none."""
    against: Sequence[JudgesWord] = [each for each in judges_of(label) if each.verdict not in (None, label.label)]
    return next((each for each in against if card is None or each.card == card), None)


def _row(label: Label, card: str | None, thing: LabelledThing) -> Row | None:
    judged = _disputed(label, card)
    if judged is None:
        return None
    told = {"labelled_at", "kind", "record_id", "item", "label", "sample", "labelled_by"}
    answered = {"problem": thing.about, "answer": thing.words} if label.kind == KIND else {}
    return {
        **label.model_dump(include=told),
        **answered,
        "about": thing.about,
        "thing": thing.words,
        "verdict": judged.verdict,
        "confidence": judged.confidence,
        "model": judged.model,
        "people": len(label.words),
        "address": address_of(label),
        "card_address": None if judged.card is None else f"judges/{judged.card}",
    }
