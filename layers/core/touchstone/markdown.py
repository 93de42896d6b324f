"""Show texts of strangers in Markdown literally: nothing in them is read as markup, as a link or as a name."""

import re

from touchstone.judges.fence import visible

MARKUP = re.compile(r"[\\`*\[\]<>&|~$!^{}]|(?<!\w)_|_(?!\w)")
"""Characters that Markdown reads as markup within a line; an underscore only at the edge of a word."""
LINKS = re.compile(r"(?i)(?<=www)\.|:(?=//)")
"""Characters that make a link of a bare address."""
STARTS = re.compile(r"^(\d{0,9})([#+.)-])(?=[#\s]|$)")
"""Characters that begin a heading or a list item if a text stands at the start of a line."""
CALLS = re.compile(r"@(?=\w)|#(?=\d)")
"""Characters that GitHub reads as the name of a person, who is then notified, or as the number of an issue."""
CODE = re.compile(r"(?<![`\\])(`{1,3})(?!`)(.{1,500}?)(?<!`)\1(?!`)")
"""A part of a text that its author wrote as code."""
TICKS = re.compile("`+")
LEAST_TICKS = 3


def tidy(text: str) -> str:
    """A text on one line, without the invisible characters that some programs obey."""
    return " ".join(visible(text).split())


def as_markdown(value: object) -> str:
    """A value on one line of Markdown that shows it literally, also in a table cell."""
    return _plain(tidy(str(value)))


def prose(text: str) -> str:
    """A text on one line of Markdown that shows it literally; only code between backticks is shown as code.

    The line also fits into a table cell.
    """
    line, shown, at = tidy(text), "", 0
    for found in CODE.finditer(line):
        shown += _plain(line[at : found.start()]) + code(found[2])
        at = found.end()
    return shown + _plain(line[at:])


def code(text: str) -> str:
    """A text as code on one line, which also fits into a table cell. Empty if the text is empty."""
    line = tidy(text)
    if not line:
        return ""
    if "|" in line:  # a bar ends the cell of a table, and Markdown has no escape inside code
        return "<code>" + _plain(line) + "</code>"
    ticks = "`" * (max(map(len, TICKS.findall(line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def block(text: str, language: str = "") -> str:
    """A text of any number of lines as a code block; nothing in the text can close the block."""
    shown = visible(text).rstrip("\n")
    fence = "`" * max(LEAST_TICKS, max(map(len, TICKS.findall(shown)), default=0) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def _plain(line: str) -> str:
    escaped = STARTS.sub(r"\1\\\2", LINKS.sub(r"\\\g<0>", MARKUP.sub(r"\\\g<0>", line)))
    return CALLS.sub(r"`\g<0>`", escaped)
