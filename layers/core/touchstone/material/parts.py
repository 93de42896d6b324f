"""What all material is made of: texts that are not blank, and ids by which findings name a part."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

MAX_TEXT_CHARS = 20_000
"""The most characters of the text of one part: a question, a card, a concept."""


def not_blank(text: str) -> str:
    """The text unchanged. Raises a validation error if it shows nothing but white space and control characters."""
    if all(unicodedata.category(character)[0] in "CZ" for character in text):
        raise PydanticCustomError("blank", "it says nothing that a reader would see")
    return text


def all_different(ids: Iterable[str], *, of: str) -> None:
    """Raise a validation error if two parts share an id: a finding must name one part."""
    twice = [each for each, times in Counter(ids).items() if times > 1]
    if twice:
        raise PydanticCustomError(
            "duplicate_id", "every {of} needs an id of its own; {id} is there twice", {"of": of, "id": twice[0][:64]}
        )


type PartId = Annotated[str, StringConstraints(min_length=1, max_length=128)]
type Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS), AfterValidator(not_blank)]
"""A text that a reader sees."""


def numbered(parts: list[Any]) -> list[Any]:
    """The parts, each with an id: its own (a number becomes text), or its place counted from 1 if it has none."""

    def id_of(part: dict[str, Any], number: int) -> Any:
        own = number if part.get("id") is None else part["id"]
        return str(own) if type(own) in {int, float} else own

    return [
        {**part, "id": id_of(part, number)} if isinstance(part, dict) else part
        for number, part in enumerate(parts, start=1)
    ]
