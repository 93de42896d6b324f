"""Cards for tools that have only questions: the front is asked, and the back is what is typed."""

from touchstone.errors import InputError
from touchstone.material.items import MAX_QUESTIONS, Deck, Question, Quiz


def quiz_of_cards(deck: Deck) -> Quiz:
    """A question for each card, answered by typing. Raises `InputError` if a quiz cannot have so many questions.

    `touchstone.material.exchange.anki.cards_of_quiz` makes the same cards of the quiz again, without their passages.
    """
    if len(deck.cards) > MAX_QUESTIONS:
        raise InputError(
            f"There are {len(deck.cards):,} cards, and a quiz has {MAX_QUESTIONS:,} questions at most: take the cards "
            "in parts, or write them for Anki."
        )
    return Quiz(
        questions=tuple(
            Question(id=card.id, kind="fill_in_the_blank", question_text=card.front, answers=(card.back,))
            for card in deck.cards
        )
    )
