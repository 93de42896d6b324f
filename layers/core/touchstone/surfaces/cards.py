"""Metrics that ask a judge about cards as they stand: ten cards a call, each with its own label or failure."""

from collections.abc import Callable, Iterable, Sequence

from touchstone.judges.calls import JudgeReply, grouped
from touchstone.material import Deck, Flashcard
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import ItemLabel, MetricResult
from touchstone.surfaces.names import MetricName
from touchstone.surfaces.numbered import Numbered, Numbers, ask_each, labelled
from touchstone.together import gather_all

CARDS_A_CALL = 10
CARD_CHARS = 50_000
"""Most characters of cards in one call. The call has nothing else to show."""
TOKENS_A_CARD = 250


async def label_cards[R: JudgeReply, E: Numbered](
    metric: MetricName,
    deck: Deck,
    reply_type: type[R],
    *,
    entries: Callable[[R], Sequence[E]],
    faults_of: Callable[[E], Iterable[str]],
    label: Callable[[str, E], ItemLabel],
    measuring: Measuring,
) -> MetricResult:
    """Label all cards of a deck. `label` makes the label of a card from its id and the judge's entry for it."""

    async def of_group(group: Sequence[Flashcard]) -> Labelled:
        reply = await ask_each(
            measuring,
            metric,
            reply_type,
            things=Numbers(ids=tuple(card.id for card in group), noun="Card"),
            entries=entries,
            faults_of=faults_of,
            tokens_each=TOKENS_A_CARD,
            values={"cards": [{"front": card.front, "back": card.back} for card in group]},
        )
        return labelled(reply, label)

    groups = grouped(deck.cards, lambda card: len(card.front) + len(card.back), most=CARD_CHARS, count=CARDS_A_CALL)
    return Labelled.of(await gather_all(of_group(group) for group in groups)).result(metric)
