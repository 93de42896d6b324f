"""What a form says of a thing that was judged, where its page is, and what judges said of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.composition.labels import labelling
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
"""Where the page is of what was labelled, by the kind of verdict and the parts of its record's id."""


def cards_of(label: Label) -> list[tuple[str, str]]:
    """The judges whose cards a label counts for, each with its card."""
    judges = (*([label.judge] if label.judge else []), *(vote.judge for vote in label.votes))
    return [(judge.model, card_id(judge)) for judge in judges]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesWord:
    """What a judge said of a labelled thing, None where it gave no verdict, and how sure it was (0-1, None: it did not
    say); `model` and `card` None where several judges decided together.
    """

    model: str | None
    card: str | None
    verdict: str | None
    confidence: float | None


def keep_label(
    met: Visit,
    fields: Mapping[str, str],
    *,
    kind: str,
    record_id: str,
    item: str,
    sample: Sample = "chosen",
) -> None:
    """Label a thing as the form's `label` says, or take back what was said where it is empty.

    Raises as `Labelling.label` and `Labelling.remove` do.
    """
    found, label = labelling(met.tenant), fields.get("label", "")
    if label:
        found.label(kind=kind, record_id=record_id, item=item, label=label, by=met.token_id, sample=sample)
    else:
        found.remove(kind=kind, record_id=record_id, item=item)


def address_of(label: Label) -> str | None:
    """Where the page is of what was labelled, from a page one step below the first; None where there is none."""
    page = PAGE_OF.get(label.kind)
    return page and page.format(*label.record_id.split(".")) + (f"#attempt-{label.item}" * (label.kind == ANSWER))


def judges_of(label: Label) -> tuple[JudgesWord, ...]:
    """What judges said of a labelled thing: the verdict that stands first, then those who were not sure enough."""
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
