"""Texts from elsewhere in Markdown, shown as they are: nothing in them is read as markup, as a link or as a name."""

import re

from touchstone.judges.fence import visible

MARKUP = re.compile(r"[\\`*\[\]<>&|~$!^{}]|(?<!\w)_|_(?!\w)")
"""What Markdown reads within a line as anything but itself; an underscore only at the edge of a word."""
LINKS = re.compile(r"(?i)(?<=www)\.|:(?=//)")
"""What makes a link of a bare address."""
STARTS = re.compile(r"^(\d{0,9})([#+.)-])(?=[#\s]|$)")
"""What begins a heading or an item of a list, where a text stands at the start of a line."""
CALLS = re.compile(r"@(?=\w)|#(?=\d)")
"""What GitHub reads as somebody's name, who is told of it, or as the number of an issue."""
CODE = re.compile(r"(?<![`\\])(`{1,3})(?!`)(.{1,500}?)(?<!`)\1(?!`)")
"""A part of a text that its author wrote as code."""
TICKS = re.compile("`+")
LEAST_TICKS = 3


def tidy(text: str) -> str:
    """A text on one line, without characters that nobody sees and some programs obey."""
    return " ".join(visible(text).split())


def as_markdown(value: object) -> str:
    """A value on one line of Markdown that shows it as it is, in a cell of a table too."""
    return _plain(tidy(str(value)))


def prose(text: str) -> str:
    """A text on one line of Markdown that shows it as it is, but for code between backticks, which stays code.

    Good for a cell of a table too.
    """
    line, shown, at = tidy(text), "", 0
    for found in CODE.finditer(line):
        shown += _plain(line[at : found.start()]) + code(found[2])
        at = found.end()
    return shown + _plain(line[at:])


def code(text: str) -> str:
    """A text on one line as code; good for a cell of a table too."""
    line = tidy(text)
    if not line:
        return ""
    if "|" in line:  # inside code Markdown knows no escape, but in a table it ends the cell
        return "<code>" + _plain(line) + "</code>"
    ticks = "`" * (max(map(len, TICKS.findall(line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def block(text: str, language: str = "") -> str:
    """A text of any number of lines as a block of code, which nothing in it can close."""
    shown = visible(text).rstrip("\n")
    fence = "`" * max(LEAST_TICKS, max(map(len, TICKS.findall(shown)), default=0) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def _plain(line: str) -> str:
    escaped = STARTS.sub(r"\1\\\2", LINKS.sub(r"\\\g<0>", MARKUP.sub(r"\\\g<0>", line)))
    return CALLS.sub(r"`\g<0>`", escaped)
