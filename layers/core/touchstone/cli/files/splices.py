"""Changes inside the strings of a JSON text that leave the rest of the text unchanged."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from touchstone.json_places import CharSpan, Located, Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """A change of one string: `text` replaces the characters in `span`.

    `path` leads to the string in the document. `span` has offsets in the string's value, the end exclusive.
    """

    path: Path
    span: CharSpan
    text: str


type Edit = tuple[CharSpan, str]
"""A stretch of a text, and the text that replaces it."""


def edits_of(document: Located, splices: Iterable[Splice]) -> Iterator[Edit]:
    """The edits of the document's text that make these splices.

    Characters outside ASCII are written as escapes if the replaced characters were, or if the whole file is so written.
    """
    text = document.text
    escapes = text.isascii() and "\\u" in text
    for splice in splices:
        start, end = document.stretch(splice.path, splice.span)
        ascii_only = escapes or "\\u" in text[start:end]
        yield (start, end), json.dumps(splice.text, ensure_ascii=ascii_only)[1:-1]


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits. The edits must not overlap."""
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(edits):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))
