"""What a file holds, whatever it is written in: texts, lists and mappings, each with its place.

A value is the text that stands there, never what a format makes of it: an option `No` is no truth value, a version
`1.20` no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.errors import InputError

MAX_NODES = 200_000
"""Values of a file, with those that aliases of YAML stand for counted each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Line and column in a file, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A single value as it is written, without quotes and escapes. None: nothing, or the word `null`."""

    text: str | None
    place: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list."""

    items: tuple["Node", ...]
    place: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A mapping. `places` are those of its keys."""

    fields: Mapping[str, "Node"]
    places: Mapping[str, Position]
    place: Position


type Node = Scalar | Listed | Mapped


class UnreadableFileError(InputError):
    """What is no document at all, or one that is refused: a sentence, and the `place` at which it stands."""

    def __init__(self, sentence: str, place: Position) -> None:
        super().__init__(sentence)
        self.place = place
