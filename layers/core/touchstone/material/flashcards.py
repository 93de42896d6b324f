"""Flashcards: something asked on one side, its answer on the other."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from touchstone.material.parts import PartId, Text, all_different
from touchstone.strict import Strict

MAX_CARDS = 1_000


class Flashcard(Strict):
    """One card. `chunk` is the passage of the source that it was made from, None where that is not known."""

    id: PartId
    front: Text
    back: Text
    chunk: Text | None = None


class Deck(Strict):
    """Cards in their order, each with an id of its own."""

    cards: Annotated[tuple[Flashcard, ...], Field(min_length=1, max_length=MAX_CARDS)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        all_different((card.id for card in self.cards), of="card")
        return self
