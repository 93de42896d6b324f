"""Labelling: the next answer for a person to label, without the judge's verdict, and how many labels are wanted.

The judge's verdict on an answer is shown only after the person has labelled it, above the next answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, get_args
from urllib.parse import urlencode

from functions.composition.labels import labels, next_to_label
from functions.composition.stores import statistics
from functions.pages.labelling import judges_of, keep_label, names_for
from functions.pages.tables import Column, PageTable, fact, row_of
from functions.pages.visit import Page, PageView, Visit, form, redirect, router, visit
from touchstone.answers.labelling import KIND
from touchstone.errors import InputError
from touchstone.operations.labels.drawing import Drawn, DrawnVerdict, Labeller, name_of
from touchstone.records.labels import Label
from touchstone.statistics.label_progress import label_progress
from touchstone.statistics.sampling import pool_of
from touchstone.statistics.thresholds import wanted_agreement

SAMPLES: tuple[Drawn, ...] = get_args(Drawn.__value__)
NEXT = "#next"
"""Where the page goes on: without it, somebody with a keyboard passes all links of the header before each answer."""
MOST_SKIPPED = 100
"""The most skipped verdicts that the page's address remembers. If a person skips more, the first ones come again."""
SKIP = "skip"
_PLACE = re.compile(r"([0-9A-Z]{26})\.([1-9]\d?)")
PROGRESS = (
    Column(name="model", of=lambda each: each.judge.model, shown="code", words="decider", to="address"),
    Column(name="aim", shown="word", words="aim"),
    Column(name="labels", shown="number", to="address"),
    Column(name="needed", shown="number"),
    Column(name="still_needed", of=lambda each: None if each.needed is None else each.missing, shown="number"),
    Column(name="prompt_version", of=lambda each: each.judge.prompt_version, shown="code", hidden=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPlace:
    """A verdict as an address names it: by the answer's id (`record_id`) and the attempt's number (`item`)."""

    record_id: str
    item: str

    @classmethod
    def of(cls, text: str) -> Self | None:
        """The place that a text names; None for any other text."""
        found = _PLACE.fullmatch(text)
        return None if found is None else cls(record_id=found[1], item=found[2])

    def __str__(self) -> str:
        return f"{self.record_id}.{self.item}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelQueue:
    """What a person labels: the sample, whether as a second labeller, the skipped verdicts; and whether keys are on."""

    sample: Drawn
    second: bool
    skipped: tuple[str, ...]
    keys: bool

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> Self:
        """The queue of an address or a form. Raises `InputError` for another sample."""
        asked = fields.get("sample") or "random"
        sample = next((each for each in SAMPLES if each == asked), None)
        if sample is None:
            raise InputError(f"A sample is one of {', '.join(SAMPLES)}.", where="sample")
        skipped = tuple(each for each in fields.get("skipped", "").split("_") if VerdictPlace.of(each))
        return cls(
            sample=sample,
            second=fields.get("second") == "1",
            skipped=skipped[-MOST_SKIPPED:],
            keys=fields.get("keys") != "off",
        )

    def asked(self, **changed: str) -> dict[str, str]:
        """The fields that describe the queue in an address or a form, with these changes; empty ones are left out."""
        said = {"second": "1" if self.second else "", "skipped": "_".join(self.skipped)}
        said |= {"keys": "" if self.keys else "off"}
        return {"sample": self.sample} | {name: text for name, text in (said | changed).items() if text}

    def address(self, **changed: str) -> str:
        """The relative address of the queue, with these changes."""
        return f"labelling?{urlencode(self.asked(**changed))}"


@router.get("/app/labelling")
def read_queue() -> Page:
    """The next verdict to label, the one that was labelled before it, and the progress towards the wanted labels."""
    this_visit = visit()
    return this_visit.show(queue_page(this_visit, LabelQueue.of(this_visit.query)))


@router.post("/app/labelling")
def label_next() -> Page:
    """Store the label of the verdict that was shown, or skip it, and go on to the next verdict.

    A label counts only for the sample that its verdict was drawn for.
    """
    this_visit = visit(at_least="member")
    fields = form(this_visit.form_mark)
    queue, place = LabelQueue.of(fields), VerdictPlace.of(fields.get("place", ""))
    if place is None:
        raise InputError("This form names nothing that can be labelled; open the page again.", where="place")
    if fields.get("label") == SKIP:
        skipped = (*(each for each in queue.skipped if each != str(place)), str(place))[-MOST_SKIPPED:]
        return redirect(queue.address(skipped="_".join(skipped)) + NEXT)
    if pool_of(name_of(place.record_id, place.item)) != queue.sample:
        raise InputError("This was not drawn for this sample; open the page again.", where="sample")
    if not fields.get("label"):
        raise InputError("Say right, wrong or skip.", where="label")
    keep_label(this_visit, fields, kind=KIND, record_id=place.record_id, item=place.item, sample=queue.sample)
    return redirect(queue.address(done=str(place)) + NEXT)


def queue_page(this_visit: Visit, queue: LabelQueue) -> PageView:
    """The page of a queue, as this visitor may see it."""
    skipped = frozenset(name_of(*each.split(".")) for each in queue.skipped)
    asks = Labeller(by=this_visit.token_id, second=queue.second, skipped=skipped)
    shown, drawn = next_to_label(this_visit.tenant, sample=queue.sample, asks=asks)
    tallies = statistics().judges(this_visit.tenant)
    progress = label_progress(tallies, kind=KIND, sample=queue.sample, wanted=wanted_agreement())
    rows = [row_of(PROGRESS, each, address=f"judges/{each.card}") for each in progress]
    given: dict[str, Any] = {
        "queue": queue,
        "samples": SAMPLES,
        "shown": shown,
        "place": None if shown is None else str(VerdictPlace(record_id=shown.record.id, item=str(shown.number))),
        "drawn": drawn,
        "nearest": next((each for each in progress if each.missing), None),
        "done": _done(this_visit),
        "who": names_for(this_visit, [this_visit.token_id]).get(this_visit.token_id),
        "may_label": this_visit.may("member"),
    }
    facts = () if shown is None else (_task(shown),)
    table = PageTable(name="label_progress", columns=PROGRESS, rows=rows)
    return PageView(title="labelling.title", template="labelling.html", tables=(table,), facts=facts, given=given)


def _done(this_visit: Visit) -> dict[str, Any] | None:
    """This visitor's label of the answer before, and the judge's verdict on it.

    None if the visitor has not labelled it: an address must not show anybody a verdict before they are asked about it.
    """
    place = VerdictPlace.of(this_visit.query.get("done", ""))
    if place is None:
        return None
    label = labels().of_record(tenant=this_visit.tenant, kind=KIND, record_id=place.record_id).get(place.item)
    mine = next((word for word in label.words if word.by == this_visit.token_id), None) if label else None
    if label is None or mine is None:
        return None
    return {"place": str(place), "said": mine.label, "address": _address(place), **_verdict(label, mine.label)}


def _verdict(label: Label, said: str) -> dict[str, Any]:
    judged = [each for each in judges_of(label) if each.verdict is not None]
    return {
        "judged": judged,
        "agreed": all(each.verdict == said for each in judged) if judged else None,
        "people": len(label.words),
        "same": sum(word.label == said for word in label.words),
    }


def _address(place: VerdictPlace) -> str:
    return f"answers/{place.record_id}#attempt-{place.item}"


def _task(shown: DrawnVerdict) -> PageTable:
    """The values that the page shows of the verdict to label, as a table for CSV and JSON."""
    record, solution = shown.record, shown.attempt.solution
    key = record.answer_key
    return fact(
        "label_task",
        {
            "kind": KIND,
            "record_id": record.id,
            "item": str(shown.number),
            "problem": record.problem,
            "answer": solution.answer,
            "steps": solution.steps or None,
            "expected": None if key is None else "\n".join(key.expected),
        },
    )
