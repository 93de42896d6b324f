"""A submission as Markdown shows it: words without the marks of emphasis, links and code, on one line if they wrap.

A phrase that is set in bold in its middle reads to a judge as one that is not, and so does a phrase that goes on in the
next line. Each character of the rendered text is at the place that it has in the source.
"""

import re
from html import unescape

from touchstone.material.sentences import WRAPPED_CHARS

_UNSEEN = "\u00ad"
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,500})\]\([^()\n]{0,500}\)")
_MARKS = re.compile(r"[*`~]+|(?<![^\W_])_+|_+(?![^\W_])|</?[A-Za-z]{1,8}(?:\s[^<>\n]{0,200})?>")
"""Emphasis, code and the tags of a line. An underscore is a mark only at the edge of a word."""
_REMARK = re.compile(r"(?<![^\n])[ \t]*+(?:%+|//+|--+|;+|/\*+)")
"""What begins a line that a compiler or a typesetter passes over."""
_WRAPPED = re.compile(r"(?<=\S)[ \t]*+\r?\n[ \t]*+(?:>[ \t]*+)*+(?![\s>*+#|=-]|\d{1,9}[.)])")
"""A line end within a paragraph or a quote. What follows a blank line, or begins a list item, a heading or a row of a
table, stands by itself."""
_LINE_END = re.compile(r"\n")
_CODE = re.compile(r"[=;{}\\]|\w[(\[]|\w,\w|\)\s*:?\Z")
"""What stands in a line of code or of values, and hardly in prose."""
_HASH = re.compile(r"[ \t]*+#+")
_LABEL = re.compile(r"[\w-]{1,40}:(?:\s|\Z)|\d{1,4}[:,.-]\d")
"""What begins a line of settings, of talk, or of records with their times or numbers."""
_QUOTED = re.compile(r"(?:[ \t>]|\r)*")
_LINE_CHARS = 200
"""How much of a line is read to see whether it is prose."""
_ENDS = (".", "!", "?", "。", "！", "？")
_MOST_MARKS = 8
"""The most marks that are skipped to see whether a line ends with its sentence."""
_APART = re.compile(r"<!--|-->|\|")
"""The ends of comments and of cells: what is in them stands by itself, too."""
_OPENING = re.compile(
    r"(?:(?<![^\n])[ \t>]{0,16}(?:#{1,6}|[-*+]|\d{1,9}[.)])?[ \t]{0,8}"
    r"|<!--\s{0,8}|[*_~`\[]{1,6}|<[A-Za-z]{1,8}[^<>\n]{0,200}>)\Z"
)
_CLOSING = re.compile(r"[*_~`]{1,6}|\]\([^()\n]{0,500}\)|</[A-Za-z]{1,8}>|\s{0,8}-->")
"""The marks right before and behind a sentence: those of its line, of emphasis, of a link and of a comment."""
_LONGEST_OPENING = 240
"""How many characters before a sentence its marks may begin."""
_MOST_NESTED = 4
"""How many kinds of marks may stand around one another, as in a list item in bold with a link."""


def rendered(text: str) -> str:
    """The text as its reader sees it, with blanks and unseen characters in the places of marks."""
    text = _ENTITY.sub(_decoded, text)
    text = _LINK.sub(_without_address, text)
    for marks in (_REMARK, _MARKS):
        text = marks.sub(lambda found: _UNSEEN * len(found[0]), text)
    text = _WRAPPED.sub(_joined, text)
    return _APART.sub(lambda found: "\n" + _UNSEEN * (len(found[0]) - 1), text)


def with_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """A sentence with the marks around it. Without the sentence they would be left over, and look like content."""
    for _ in range(_MOST_NESTED):
        opening = _OPENING.search(text, max(0, start - _LONGEST_OPENING), start)
        closing = _CLOSING.match(text, end)
        around = (start if opening is None else opening.start(), end if closing is None else closing.end())
        if around == (start, end):
            break
        start, end = around
    return start, end


def in_prose(text: str, match: tuple[int, int], sentence: tuple[int, int]) -> tuple[int, int]:
    """The part of the sentence of a match that is in one paragraph of prose with it.

    In code, in data and in talk each line stands by itself, though Markdown shows it behind the last one.
    """
    start, end = sentence
    if text.find("\n", start, end - 1) < 0:
        return sentence
    before = [found.start() for found in _LINE_END.finditer(text, start, match[0])]
    start = next((place + 1 for place in reversed(before) if not _goes_on(text, place)), start)
    behind = (found.start() for found in _LINE_END.finditer(text, match[1], end))
    return start, next((place + 1 for place in behind if not _goes_on(text, place)), end)


def _goes_on(text: str, place: int) -> bool:
    """Whether the line that ends at a place is prose that goes on in the next line."""
    begin = max(text.rfind("\n", 0, place) + 1, place - _LINE_CHARS)
    end = text.find("\n", place + 1, place + 1 + _LINE_CHARS)
    lines = [text[begin:place], text[place + 1 : end if end >= 0 else place + 1 + _LINE_CHARS]]
    remarks = [_REMARK.match(line) or _HASH.match(line) for line in lines]
    if (remarks[0] is None) != (remarks[1] is None):
        return False
    line, following = (
        _QUOTED.sub("", each[remark.end() if remark else 0 :], count=1)
        for each, remark in zip(lines, remarks, strict=True)
    )
    if _CODE.search(line) or _CODE.search(following) or _LABEL.match(following):
        return False
    return following[:1].islower() or len(line) >= WRAPPED_CHARS


def _decoded(entity: re.Match[str]) -> str:
    """The character of an entity, made as long as the entity. An entity that is no single character stays as it is."""
    letter = unescape(entity[0])
    return letter + _UNSEEN * (len(entity[0]) - 1) if len(letter) == 1 else entity[0]


def _joined(end: re.Match[str]) -> str:
    """Blanks for a line end within a sentence. One behind a sentence stays: no phrase goes on there."""
    before = end.string[max(0, end.start() - _MOST_MARKS) : end.start()].rstrip(_UNSEEN)
    return end[0] if before.endswith(_ENDS) else " " * len(end[0])


def _without_address(link: re.Match[str]) -> str:
    """The words of a link, made as long as the link."""
    before, after = link.start(1) - link.start(), link.end() - link.end(1)
    return _UNSEEN * before + link[1] + _UNSEEN * after
