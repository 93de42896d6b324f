"""Decks: cards with two sides that say something, each with an id of its own."""

from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.material import Deck, Flashcard
from touchstone.material.items import MAX_CARDS


def card(number: int, **changes: Any) -> dict[str, Any]:
    return {"id": f"c{number}", "front": "What moves?", "back": "Water"} | changes


@pytest.mark.parametrize(
    "changes",
    [{"front": ""}, {"back": " "}, {"chunk": "\u200b"}, {"id": ""}, {"id": "x" * 129}, {"hint": "wet"}, {"back": None}],
)
def test_a_card_with_a_side_that_says_nothing_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Flashcard.model_validate(card(1, **changes))


def test_html_and_formulas_on_a_card_are_kept_as_they_are() -> None:
    front = "<b>What</b> is $\\frac{1}{2}$ of <script>alert(1)</script>?"
    assert Flashcard.model_validate(card(1, front=front)).front == front


def test_two_cards_of_one_id_are_refused() -> None:
    with pytest.raises(ValidationError, match="every card needs an id of its own; c1 is there twice"):
        Deck.model_validate({"cards": [card(1), card(1)]})


def test_a_deck_has_a_card_and_no_more_than_the_most() -> None:
    assert len(Deck.model_validate({"cards": [card(number) for number in range(MAX_CARDS)]}).cards) == MAX_CARDS
    for cards in ([], [card(number) for number in range(MAX_CARDS + 1)]):
        with pytest.raises(ValidationError):
            Deck.model_validate({"cards": cards})
