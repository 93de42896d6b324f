"""flashcard_atomicity: does each card ask for one fact?

Score: the share of ATOMIC cards among the cards that were judged, as a percentage (0-100); None if none was judged. A
judge lists the facts that a learner must recall to give the back. A card with one fact is ATOMIC, a card with several
COMPOUND (a list to be recited among them), a card without any ERROR. The reason of a COMPOUND card ends with its facts,
and the suggestion says how to split it. This is the minimum information principle: Wozniak 1999, "Effective learning:
twenty rules of formulating knowledge", rules 4, 9 and 10.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.judges.sureness import Confidence
from touchstone.material import Deck
from touchstone.surfaces.cards import label_cards
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import ItemLabel, MetricResult
from touchstone.surfaces.numbered import Numbered, is_blank

type AtomicityLabel = Literal["ATOMIC", "COMPOUND", "ERROR"]
VALUES: Mapping[AtomicityLabel, float] = {"ATOMIC": 1.0, "COMPOUND": 0.0, "ERROR": 0.0}


class CardAtomicity(Numbered):
    """What a judge says of one card. The order of the fields is the order of the work."""

    facts: list[str]
    reason: str
    label: AtomicityLabel
    confidence: Confidence
    suggestion: str | None


class AtomicityReply(JudgeReply):
    """What a judge says of all cards of a call."""

    cards: list[CardAtomicity]


async def flashcard_atomicity(deck: Deck, measuring: Measuring) -> MetricResult:
    """Measure a deck. Cards whose call failed are unscored; the other cards count."""
    return await label_cards(
        "flashcard_atomicity",
        deck,
        AtomicityReply,
        entries=lambda reply: reply.cards,
        faults_of=_faults,
        label=_label,
        measuring=measuring,
    )


def _label(card: str, entry: CardAtomicity) -> ItemLabel:
    compound = entry.label == "COMPOUND"
    facts = f" ({'; '.join(fact.strip() for fact in entry.facts)})" if compound else ""
    return ItemLabel(
        item=card,
        label=entry.label,
        value=VALUES[entry.label],
        reason=entry.reason.strip() + facts,
        confidence=entry.confidence,
        suggestion=entry.suggestion if entry.label != "ATOMIC" else None,
    )


def _label_of(facts: int) -> AtomicityLabel:
    return "ATOMIC" if facts == 1 else "COMPOUND" if facts else "ERROR"


def _faults(one: CardAtomicity) -> Iterator[str]:
    """What breaks the rules in one card's entry, each fault in one sentence."""
    if any(is_blank(fact) for fact in one.facts):
        yield f"A fact of card {one.number} is blank."
    if one.label != _label_of(len(one.facts)):
        yield f"Card {one.number} has {len(one.facts)} facts, so it is {_label_of(len(one.facts))}, not {one.label}."
    if is_blank(one.reason):
        yield f"The reason of card {one.number} is blank."
    if one.label != "ATOMIC" and is_blank(one.suggestion):
        yield f"The suggestion of card {one.number} is missing; say how to split or mend it."
