"""Labels on pages: storing what a form says of a judged thing, the thing's page, and the judges' verdicts on it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from functions.composition.labels import labelling
from functions.composition.stores import tokens
from functions.pages.visit import Visit
from touchstone.answers.labelling import KIND as ANSWER
from touchstone.oracle.labelling import KIND as GATE
from touchstone.records.labels import Label
from touchstone.statistics.card_views import card_id
from touchstone.statistics.tallies import Sample
from touchstone.surfaces.labelling import CLASSES

PAGE_OF: Mapping[str, str] = {
    ANSWER: "answers/{}",
    **{metric: f"measurements/{{}}?metric={metric}" for metric in CLASSES},
    GATE: "tasks/{}/submissions/{}",
}
"""The address of a labelled thing's page, by the kind of verdict. The parts of the record's id fill it."""


def cards_of(label: Label) -> list[tuple[str, str]]:
    """The model of each judge whose card a label counts for, and the id of the card."""
    judges = (*([label.judge] if label.judge else []), *(vote.judge for vote in label.votes))
    return [(judge.model, card_id(judge)) for judge in judges]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesWord:
    """A judge's verdict on a labelled thing; None if the judge gave none.

    `confidence` is how sure the judge was (0-1); None if it did not say. `model` and `card` are None if several judges
    decided together.
    """

    model: str | None
    card: str | None
    verdict: str | None
    confidence: float | None


def keep_label(
    this_visit: Visit,
    fields: Mapping[str, str],
    *,
    kind: str,
    record_id: str,
    item: str,
    sample: Sample = "chosen",
) -> None:
    """Label a thing as the form's `label` says, or take the label back if that field is empty.

    Raises as `Labelling.label` and `Labelling.remove` do.
    """
    found, label = labelling(this_visit.tenant), fields.get("label", "")
    if label:
        found.label(kind=kind, record_id=record_id, item=item, label=label, by=this_visit.token_id, sample=sample)
    else:
        found.remove(kind=kind, record_id=record_id, item=item)


def names_for(this_visit: Visit, tokens_of: Iterable[str]) -> dict[str, str]:
    """The names of the tokens with which people gave labels, by their ids, as far as this visitor may know them.

    An admin may know all names, any other visitor only their own. A token that no longer exists has no name.
    """
    known = {each for each in tokens_of if this_visit.may("admin") or each == this_visit.token_id}
    return tokens().names_of(tenant=this_visit.tenant, ids=known) if known else {}


def address_of(label: Label) -> str | None:
    """The address of a labelled thing's page, relative to a page one step below the first; None if it has no page."""
    page = PAGE_OF.get(label.kind)
    return page and page.format(*label.record_id.split(".")) + (f"#attempt-{label.item}" * (label.kind == ANSWER))


def judges_of(label: Label) -> tuple[JudgesWord, ...]:
    """The judges' verdicts on a labelled thing: first the one that stands, then those of judges not sure enough."""
    stands = JudgesWord(
        model=None if label.judge is None else label.judge.model,
        card=None if label.judge is None else card_id(label.judge),
        verdict=label.verdict,
        confidence=label.confidence,
    )
    votes = (
        JudgesWord(model=vote.judge.model, card=card_id(vote.judge), verdict=vote.verdict, confidence=vote.confidence)
        for vote in label.votes
    )
    return (stands, *votes)
