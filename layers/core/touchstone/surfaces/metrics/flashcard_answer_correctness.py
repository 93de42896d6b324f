"""flashcard_answer_correctness: does the source say what the back of each card says?

Score (the "good rate"): the share of CORRECT cards among the cards that were judged, as a percentage (0-100); None if
none was judged. A card is

- CORRECT: by the source, its back answers its front rightly;
- INCORRECT_ANSWER: the source says otherwise;
- UNSUPPORTED: the source does not say it, or not all of it, even if it is true;
- ERROR: front and back are no question and answer, so that nothing could be right.

CORRECT and INCORRECT_ANSWER quote the source word for word. Every label but CORRECT has a suggestion. A card that names
the passage it was made from is judged by that passage. Other cards are judged by the whole source, a long one section
by section: a card that one section supports is CORRECT. A card without a passage is unscored if there is no source.
Summaries are asked the same question about their source: see `summary_faithfulness`.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.material import Deck, Flashcard, Source
from touchstone.surfaces.grounding import Grounded, GroundedItem, Rule, ground
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import MetricResult, UnscoredItem, result
from touchstone.together import gather_all

CARDS_A_CALL = 10

type CardLabel = Literal["CORRECT", "INCORRECT_ANSWER", "ERROR", "UNSUPPORTED"]
VALUES: Mapping[str, float] = {"CORRECT": 1.0, "INCORRECT_ANSWER": 0.0, "ERROR": 0.0, "UNSUPPORTED": 0.0}


class CardVerdict(Grounded):
    """What a judge says of one card."""

    label: CardLabel
    suggestion: str | None


class CardsReply(JudgeReply):
    """What a judge says of all cards of a call."""

    cards: list[CardVerdict]


RULE = Rule(
    metric="flashcard_answer_correctness",
    reply_type=CardsReply,
    entries=lambda reply: reply.cards,
    noun="Card",
    values=VALUES,
    quoted=frozenset({"CORRECT", "INCORRECT_ANSWER"}),
    a_call=CARDS_A_CALL,
    suggestion=lambda one: one.suggestion,
    suggested=frozenset({"INCORRECT_ANSWER", "ERROR", "UNSUPPORTED"}),
)


async def flashcard_answer_correctness(deck: Deck, source: Source | None, measuring: Measuring) -> MetricResult:
    """Measure a deck against the passages that its cards name, and against a source. Failed cards are unscored."""
    sections = source.sections if source else ()
    groups: dict[Sequence[str], list[Flashcard]] = {}
    for card in deck.cards:
        groups.setdefault((card.chunk,) if card.chunk else sections, []).append(card)
    lost = tuple(UnscoredItem(item=card.id, reason="no_source") for card in groups.pop((), []))
    grounded = await gather_all(
        ground(RULE, [_item(card) for card in cards], passages, measuring) for passages, cards in groups.items()
    )
    found = Labelled.of([Labelled(unscored=lost), *grounded])
    order = {card.id: place for place, card in enumerate(deck.cards)}
    return result(
        "flashcard_answer_correctness",
        tuple(sorted(found.items, key=lambda item: order[item.item])),
        unscored=tuple(sorted(found.unscored, key=lambda item: order[item.item])),
        spends=found.spends,
    )


def _item(card: Flashcard) -> GroundedItem:
    return GroundedItem(id=card.id, values={"front": card.front, "back": card.back})
