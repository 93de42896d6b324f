"""flashcard_clarity: is it clear what each card asks, and can it be understood by itself?

Score: the share of CLEAR cards among the cards that were judged, as a percentage (0-100); None if none was judged. The
labels are those of `quiz_clarity`. AMBIGUOUS: a learner who knows the matter could rightly give another answer than the
back, or cannot tell what kind of answer is wanted. CONTEXT_DEPENDENT: the card cannot be understood without something
that it does not show. ERROR: the card asks nothing. Learners meet cards one by one and out of order, so each card needs
its context on itself (Wozniak 1999, "Effective learning: twenty rules of formulating knowledge", rules 12 and 16:
optimize wording, context cues).
"""

from touchstone.judges.calls import JudgeReply
from touchstone.material import Deck
from touchstone.surfaces.cards import label_cards
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.metrics.quiz_clarity import INSTEAD, VALUES, ClarityLabel
from touchstone.surfaces.model import MetricResult
from touchstone.surfaces.numbered import ClassVerdict, verdict_faults, verdict_label


class CardClarity(ClassVerdict):
    """What a judge says of one card."""

    label: ClarityLabel


class CardClarityReply(JudgeReply):
    """What a judge says of all cards of a call."""

    cards: list[CardClarity]


async def flashcard_clarity(deck: Deck, measuring: Measuring) -> MetricResult:
    """Measure a deck. Cards whose call failed are unscored; the other cards count."""
    return await label_cards(
        "flashcard_clarity",
        deck,
        CardClarityReply,
        entries=lambda reply: reply.cards,
        faults_of=lambda verdict: verdict_faults(verdict, "card", VALUES, instead=INSTEAD),
        label=lambda card, verdict: verdict_label(card, verdict, VALUES),
        measuring=measuring,
    )
