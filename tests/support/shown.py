"""A prompt as a judge sees it, kept in a file, and what a judge that believes every fence takes for orders."""

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from touchstone.judges.base import Prompt
from touchstone.judges.fence import Fenced

_OTHER_BRACKET = r"[\[〚【〔〖<＜(（{｛](?=\s*\w+\W+[0-9a-f]{4})"
_FENCE = re.compile(rf"^\s*(?:⟦|{_OTHER_BRACKET})\s*(data|end)\b[^\n]*$", re.IGNORECASE | re.MULTILINE)


def assert_as_kept(rendered: Prompt, file: Path) -> None:
    """Compare a prompt with what a file holds; `UPDATE_SNAPSHOTS` in the environment writes it there instead."""
    shown = f"{rendered.system}\n\n=== user ===\n{rendered.user}\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")


def outside(prompt: str) -> str:
    """What a reader who believes every fence takes for the words of whoever asks.

    For the end of the data it takes whatever stands in the fence's own brackets, with any mark or none, and any word
    `end` with a mark in other brackets.
    """
    seen = "".join(character for character in prompt if unicodedata.category(character) != "Cf")
    seen = unicodedata.normalize("NFKC", seen.replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n"))
    words, inside, at = "", False, 0
    for fence in _FENCE.finditer(seen):
        if not inside:
            words += seen[at : fence.start()]
        inside = fence[1].lower() == "data"
        at = fence.end()
    return words if inside else words + seen[at:]


def fields_of_reply(schema: Any) -> Iterator[str]:
    """Every field of a reply, those of its parts included."""
    match schema:
        case {"properties": dict(properties), **rest}:
            yield from properties
            yield from fields_of_reply([properties, rest])
        case dict():
            yield from fields_of_reply(list(schema.values()))
        case list():
            for part in schema:
                yield from fields_of_reply(part)


def words_of_reply(schema: Any) -> Iterator[str]:
    """Every word of a closed list that a reply may hold."""
    match schema:
        case {"enum": list(words)}:
            yield from words
        case dict():
            for part in schema.values():
                yield from words_of_reply(part)
        case list():
            for part in schema:
                yield from words_of_reply(part)


def mark_of(system: str) -> str:
    found = re.search(r"⟦data (\w+)⟧", system)
    assert found is not None
    return found[1]


def poisoned(value: Any, text: str, *, own: Sequence[str] = ()) -> Any:
    """The values of a prompt with every text of strangers, and every fault, replaced.

    `own` are the names of values that are words of our own; a fence that was made, and what is empty, stay too.
    """
    match value:
        case Fenced() | int() | float() | "":
            return value
        case str():
            return text
        case list():
            return [poisoned(part, text, own=own) for part in value]
        case dict():
            return {name: part if name in own else poisoned(part, text, own=own) for name, part in value.items()}
        case _:
            raise AssertionError(f"no prompt takes a {type(value).__name__}")
