"""A prompt as a judge sees it, kept in a file, and what a judge that believes every fence takes for orders."""

import os
import re
import unicodedata
from pathlib import Path

from touchstone.judges.rendered import Prompt

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
