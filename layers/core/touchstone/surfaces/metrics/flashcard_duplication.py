"""flashcard_duplication: which cards ask what an earlier card has asked? No judge is asked.

Score: the share of UNIQUE cards, as a percentage (0-100); every card has a score. The first of several cards that are
alike is UNIQUE, and each later one names an earlier one. DUPLICATE: both sides have the same words. NEAR_DUPLICATE:
both sides are the same but for articles, or a word or two. SAME_FRONT: the card asks the same and wants another answer,
so that nobody can tell which one is wanted. `touchstone.surfaces.likeness` says which texts are alike, and what is not
found. A card turned round is another card. Cards that can be mistaken for each other spoil learning: Wozniak 1999,
"Effective learning: twenty rules of formulating knowledge", rule 11 (interference).
"""

from collections.abc import Mapping
from typing import Literal

from touchstone.material import Deck
from touchstone.surfaces.catalogue import text_of
from touchstone.surfaces.likeness import ComparedText, alike, pairs, reading
from touchstone.surfaces.model import ItemLabel, MetricResult, result
from touchstone.text.language import Language, language_of

type DuplicationLabel = Literal["UNIQUE", "DUPLICATE", "NEAR_DUPLICATE", "SAME_FRONT"]
_SENTENCES: Mapping[Language, Mapping[DuplicationLabel, tuple[str, str | None]]] = {
    "en": {
        "UNIQUE": ("No earlier card is like it.", None),
        "DUPLICATE": ("It is the same as card {other}.", "Leave it out."),
        "NEAR_DUPLICATE": ("It differs from card {other} in a word or two.", "Keep the better one of the two."),
        "SAME_FRONT": (
            "Card {other} asks the same and has another answer.",
            "Say on both fronts which of the answers is wanted.",
        ),
    },
    "zh": {
        "UNIQUE": ("前面没有与它相似的卡片。", None),
        "DUPLICATE": ("与卡片 {other} 相同。", "删去这张卡片。"),
        "NEAR_DUPLICATE": ("与卡片 {other} 只差一两个词。", "两张中保留较好的一张。"),
        "SAME_FRONT": ("卡片 {other} 问的相同，答案却不同。", "在两张卡片的正面写明要的是哪个答案。"),
    },
}  # fmt: skip


def flashcard_duplication(deck: Deck, *, language: Language | None = None) -> MetricResult:
    """Measure a deck. `language` is the language of all reasons; None: that of the deck as a whole."""
    sentences = _SENTENCES[language or language_of(text_of(deck))]
    fronts = [reading(card.front) for card in deck.cards]
    backs = [reading(card.back) for card in deck.cards]
    found: dict[int, tuple[DuplicationLabel, str]] = {}
    for earlier, place in pairs(fronts):
        label = _label((fronts[earlier], backs[earlier]), (fronts[place], backs[place]))
        if label and place not in found:
            found[place] = (label, deck.cards[earlier].id)
    items = []
    for place, card in enumerate(deck.cards):
        label, other = found.get(place, ("UNIQUE", ""))
        reason, suggestion = sentences[label]
        items.append(
            ItemLabel(
                item=card.id,
                label=label,
                value=float(label == "UNIQUE"),
                reason=reason.format(other=other),
                suggestion=suggestion,
            )
        )
    return result("flashcard_duplication", tuple(items))


def _label(one: tuple[ComparedText, ComparedText], other: tuple[ComparedText, ComparedText]) -> DuplicationLabel | None:
    """The label of a card compared with an earlier one whose front is alike; None if it is no duplicate."""
    same_front = one[0].words == other[0].words
    if same_front and one[1].words == other[1].words:
        return "DUPLICATE"
    if alike(one[1], other[1]):
        return "NEAR_DUPLICATE"
    return "SAME_FRONT" if same_front else None
