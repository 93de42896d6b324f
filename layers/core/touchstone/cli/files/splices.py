"""Changes inside the strings of a JSON text that leave everything else as it was written."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from touchstone.json_places import Located, Path, Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """What is to stand in place of some characters of a string: `span` are offsets in its value, the end exclusive."""

    path: Path
    span: Stretch
    text: str


type Edit = tuple[Stretch, str]
"""A stretch of a text, and what is to stand there."""


def edits_of(document: Located, splices: Iterable[Splice]) -> Iterator[Edit]:
    """Where splices stand in the document's text, and how their characters are written there.

    As escapes where those they replace were, or where the file escapes all that is not ASCII.
    """
    text = document.text
    escapes = text.isascii() and "\\u" in text
    for splice in splices:
        start, end = document.stretch(splice.path, splice.span)
        ascii_only = escapes or "\\u" in text[start:end]
        yield (start, end), json.dumps(splice.text, ensure_ascii=ascii_only)[1:-1]


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit made; they must not overlap."""
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(edits):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))
