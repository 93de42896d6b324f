"""Changes inside the strings of a JSON text that leave everything else as it was written."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.cli.json_places import Located, Path, Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """What is to stand in place of some characters of a string: `span` are offsets in its value, the end exclusive."""

    path: Path
    span: Stretch
    text: str


def spliced(document: Located, splices: Iterable[Splice]) -> str:
    """The document's text with those characters replaced. Spans of one string must not overlap.

    New characters are written as escapes where the ones they replace were, or where the file escapes all that is not
    ASCII.
    """
    text = document.text
    escapes = text.isascii() and "\\u" in text
    parts: list[str] = []
    end = 0
    placed = [(document.stretch(splice.path, splice.span), splice.text) for splice in splices]
    for (start, after), new in sorted(placed):
        ascii_only = escapes or "\\u" in text[start:after]
        parts += (text[end:start], json.dumps(new, ensure_ascii=ascii_only)[1:-1])
        end = after
    return "".join((*parts, text[end:]))


def replaced(value: str, splices: Iterable[Splice]) -> str:
    """A string's value with those characters replaced, as it reads after `spliced`."""
    parts: list[str] = []
    end = 0
    for splice in sorted(splices, key=lambda each: each.span):
        parts += (value[end : splice.span[0]], splice.text)
        end = splice.span[1]
    return "".join((*parts, value[end:]))
