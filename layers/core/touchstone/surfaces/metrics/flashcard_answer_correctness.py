"""flashcard_answer_correctness: does the source say what the back of each card says?

Score (the "good rate"): the share of CORRECT cards among those that were judged, as a percentage (0-100); None where
none was. A card is

- CORRECT: by the source its back answers its front rightly;
- INCORRECT_ANSWER: the source says otherwise;
- UNSUPPORTED: the source does not say, or not all of it, however true it may be;
- ERROR: front and back make no question and answer, so that nothing could be right.

CORRECT and INCORRECT_ANSWER quote the source word for word, and what is not CORRECT comes with a suggestion. A card
that names the passage it was made from is judged by it, others by the whole source, a long one section by section; what
one section bears out is CORRECT. Without a passage and a source a card is unscored. Whether generated cards are true to
what they were made from is asked as it is of summaries: see `summary_faithfulness`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.material import Deck, Flashcard, Source
from touchstone.surfaces.grounding import Grounded, GroundedItem, Rule, ground, sections_shown
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import MetricResult, UnscoredItem, result

CARDS_A_CALL = 10

type CardLabel = Literal["CORRECT", "INCORRECT_ANSWER", "ERROR", "UNSUPPORTED"]
VALUES: Mapping[str, float] = MappingProxyType(
    {"CORRECT": 1.0, "INCORRECT_ANSWER": 0.0, "ERROR": 0.0, "UNSUPPORTED": 0.0}
)


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
    label=lambda one: one.label,
    noun="Card",
    values=VALUES,
    quoted=frozenset({"CORRECT", "INCORRECT_ANSWER"}),
    a_call=CARDS_A_CALL,
    suggestion=lambda one: one.suggestion,
    suggested=frozenset({"INCORRECT_ANSWER", "ERROR", "UNSUPPORTED"}),
)


async def flashcard_answer_correctness(deck: Deck, source: Source | None, measuring: Measuring) -> MetricResult:
    """Measure a deck against the passages that its cards name, and against a source. Failed cards are unscored."""
    sections = sections_shown(source) if source else ()
    together: dict[Sequence[str], list[Flashcard]] = {}
    for card in deck.cards:
        together.setdefault((card.chunk,) if card.chunk else sections, []).append(card)
    lost = tuple(UnscoredItem(item=card.id, reason="no_source") for card in together.pop((), []))
    found = [
        Labelled(unscored=lost),
        *await asyncio.gather(
            *(
                ground(RULE, [_item(card) for card in cards], passages, measuring)
                for passages, cards in together.items()
            )
        ),
    ]
    order = {card.id: place for place, card in enumerate(deck.cards)}
    return result(
        "flashcard_answer_correctness",
        tuple(sorted((item for one in found for item in one.items), key=lambda item: order[item.item])),
        unscored=tuple(sorted((item for one in found for item in one.unscored), key=lambda item: order[item.item])),
        spends=tuple(spend for one in found for spend in one.spends),
    )


def _item(card: Flashcard) -> GroundedItem:
    return GroundedItem(id=card.id, values={"front": card.front, "back": card.back})
