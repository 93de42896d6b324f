"""flashcard_clarity: is it clear what each card asks, and does it stand by itself?

Score: the share of CLEAR cards among those that were judged, as a percentage (0-100); None where none was. The labels
are those of `quiz_clarity`: AMBIGUOUS where a learner who knows the matter could rightly give another answer than the
back, or cannot tell what kind of answer is wanted; CONTEXT_DEPENDENT where the card cannot be understood without
something that it does not show; ERROR where it asks nothing. Cards are met one by one and out of order, so each needs
its context on itself (Wozniak 1999, "Effective learning: twenty rules of formulating knowledge", rules 12 and 16:
optimize wording, context cues).
"""

from collections.abc import Iterator

from touchstone.judges.calls import JudgeReply
from touchstone.material import Deck
from touchstone.surfaces.cards import label_cards
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.quiz_clarity import VALUES, ClarityLabel
from touchstone.surfaces.model import ItemLabel, MetricResult
from touchstone.surfaces.numbered import Numbered, is_blank


class CardClarity(Numbered):
    """What a judge says of one card."""

    reason: str
    label: ClarityLabel
    suggestion: str | None


class CardClarityReply(JudgeReply):
    """What a judge says of all cards of a call."""

    cards: list[CardClarity]


async def flashcard_clarity(deck: Deck, measuring: Measuring) -> MetricResult:
    """Measure a deck. Cards whose call failed are unscored, and the others count."""
    return await label_cards(
        "flashcard_clarity",
        deck,
        CardClarityReply,
        entries=lambda reply: reply.cards,
        faults_of=_faults,
        label=_label,
        measuring=measuring,
    )


def _label(card: str, said: CardClarity) -> ItemLabel:
    return ItemLabel(
        item=card,
        label=said.label,
        value=VALUES[said.label],
        reason=said.reason.strip(),
        suggestion=said.suggestion if said.label != "CLEAR" else None,
    )


def _faults(one: CardClarity) -> Iterator[str]:
    """What breaks the rules in what was said of one card, each fault in one sentence."""
    if is_blank(one.reason):
        yield f"The reason of card {one.number} is blank."
    if one.label != "CLEAR" and is_blank(one.suggestion):
        yield f"The suggestion of card {one.number} is missing; say how to make it clear."
