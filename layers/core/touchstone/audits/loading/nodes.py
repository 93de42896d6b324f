"""The content of a file in any format: texts, lists and mappings, each with its place.

A value is the text as written, and not what a format makes of it: an option `No` is not a truth value, and a version
`1.20` is not a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.errors import InputError

MAX_NODES = 200_000
"""Most values of a file. The values that an alias of YAML stands for are counted each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Line and column in a file, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A single value as it is written, without quotes and escapes. `text` is None if nothing or `null` is written."""

    text: str | None
    place: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list."""

    items: tuple["Node", ...]
    place: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A mapping. `places` are the places of its keys."""

    fields: Mapping[str, "Node"]
    places: Mapping[str, Position]
    place: Position


type Node = Scalar | Listed | Mapped


class UnreadableFileError(InputError):
    """A file is no document of its format, or is refused: a sentence, and the `place` of the fault."""

    def __init__(self, sentence: str, place: Position) -> None:
        super().__init__(sentence)
        self.place = place
