"""A text in HTML, as other tools export it, in the characters that a reader sees."""

import html
import re
from dataclasses import dataclass

MEDIA = frozenset({"img", "picture", "audio", "video", "iframe", "object", "embed", "svg", "canvas"})
"""Elements that show what no text says."""
FORMULA = "math"
"""MathML, whose text without its tags would be another formula: a fraction as two numbers in a row."""
BLOCKS = frozenset({
    "p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "dt", "dd", "table",
    "blockquote", "pre", "hr", "section", "article", "figure", "figcaption",
})  # fmt: skip
CELLS = frozenset({"td", "th"})
PRE = "pre"
"""Text in which spaces count: of a program, the indents."""
_HELD = "\0"
"""Stands for a space that counts, until the others are single. HTML has no such character."""
RAISED, LOWERED = "sup", "sub"
SIGNS = {
    RAISED: ("^", dict(zip("0123456789+-−()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿⁱ", strict=True))),
    LOWERED: ("_", dict(zip("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎", strict=True))),
}
"""What a raised and a lowered text begin with, and the characters that Unicode has raised and lowered."""
ORDINALS = frozenset({"st", "nd", "rd", "th"})
"""Raised behind a number in English, they are no power."""
MOST_DEEP = 4
"""How many raised and lowered texts within each other are told apart. It bounds the work on hostile texts."""

_MARKED = re.compile(
    r"<!--[\s\S]*?(?:-->|\Z)|<(?i:script|style)(?=[\s/>])(?![^<>]*?math/)[\s\S]*?(?:</(?i:script|style)\s*+>|\Z)"
    r"|<[!?][^<>]*+>|<(/?)([a-zA-Z][^\s<>/\"']*+)(?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+')*+>"
)
"""A comment, a program or a style (but not a formula, of the type math/tex), a declaration, or a tag with its name.
Only the first three reach past a "<", so a text that opens many tags and closes none is read in linear time. What
nothing closes of them reaches to the end."""
_ENDLESS = re.compile(r"&#[0-9]{10,}+;?")
"""A character reference whose number is beyond all characters, and may have more digits than Python converts."""


@dataclass(frozen=True, slots=True)
class HtmlText:
    """What a text in HTML shows: its `text`, and the names of those `MEDIA` and `FORMULA` that are not in it."""

    text: str
    unsaid: frozenset[str]


def shown(text: str, *, keep_media: bool = False) -> HtmlText:
    """A text in HTML without its tags, each block on lines of its own.

    A raised or lowered text stays one: 10<sup>2</sup> is 10², not 102. `keep_media`: tags of media stay in the text.
    """
    parts: list[str] = []
    moved: list[tuple[str, int]] = []
    unsaid: set[str] = set()
    at, spaces_count = 0, False
    for found in _MARKED.finditer(text):
        parts.append(_read(text[at : found.start()], spaces_count=spaces_count))
        at = found.end()
        closes, tag = found[1], (found[2] or "").lower()
        spaces_count = not closes if tag == PRE else spaces_count
        if tag in BLOCKS or tag in CELLS:
            parts.append("\n" if tag in BLOCKS else " ")
        elif tag in SIGNS and not closes:
            moved.append((tag, len(parts)))
        elif tag in SIGNS and moved and moved[-1][0] == tag:
            _move(parts, *moved.pop(), deep=len(moved))
        elif tag == FORMULA or tag in MEDIA:
            unsaid.add(tag)
            if keep_media and tag in MEDIA:
                parts.append(found[0])
    parts.append(_read(text[at:], spaces_count=spaces_count))
    lines = (" ".join(line.split()).replace(_HELD, " ").rstrip() for line in "".join(parts).split("\n"))
    return HtmlText("\n".join(line for line in lines if line), frozenset(unsaid))


def _move(parts: list[str], tag: str, begin: int, *, deep: int) -> None:
    """Write the parts from `begin` on as a raised or lowered text."""
    if deep >= MOST_DEEP:
        return
    inside = "".join(parts[begin:]).strip()
    sign, characters = SIGNS[tag]
    before = parts[begin - 1][-1:] if begin else ""
    if inside and not (inside in ORDINALS and before.isdigit()):
        if all(one in characters for one in inside):
            inside = "".join(characters[one] for one in inside)
        else:
            inside = f"{sign}{inside}" if len(inside) == 1 else f"{sign}({inside})"
    parts[begin:] = [inside]


def _read(text: str, *, spaces_count: bool) -> str:
    """A text between tags, unescaped."""
    read = html.unescape(_ENDLESS.sub("\ufffd", text)) if "&" in text else text
    return read.replace(" ", _HELD).replace("\xa0", _HELD).replace("\t", _HELD * 4) if spaces_count else read
