"""A text taken apart into its sentences, in Chinese and English alike, markdown or plain.

A full stop ends a sentence only where a reader would stop: not in a number (3.14), an address (example.com), after an
abbreviation (Dr. Li, Fig. 3, e.g.) or an initial (J. K. Rowling), and not before a word in lower case, unless all words
are. 。！？ end one wherever they stand, with the quotes and brackets that close after them. Nothing within brackets
ends one. Each item of a list is apart from the next; headings, rules and the like are no sentences.
"""

import re
from collections.abc import Iterator

_HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_CLOSING = r"[」』”’）)】》〉\]\"'*_]|\[\d{1,3}\]"
_END = re.compile(
    rf"(?:[。！？｡]|[.!?．](?![\w.])|[.!?．](?=[{_HAN}]))(?:[。！？｡.!?．…]*)((?:{_CLOSING})*)(?=(\s*)(\S?))"
)
"""A mark that may end a sentence, what closes after it, the white space, and what follows."""
_FULL = "。！？｡"
_GOES_ON = "，,、；;：:—–"
"""Before one of these, what was closed is a part of a longer sentence."""
_BRACKETS = re.compile(r"[(（【［]|[)）】］]")
_LAST_WORD = re.compile(r"(?<!\w)((?:[A-Za-z]\.)*[A-Za-z]+)$")
_NEXT_WORD = re.compile(r"[\s\"'“‘「『(（\[*_]*([A-Za-z]+|\d+)?")

_NEVER_LAST = frozenset(
    {"mr", "mrs", "ms", "dr", "prof", "st", "mt", "gen", "col", "sgt", "lt", "capt", "rev", "hon", "gov", "sen", "rep"}
    | {"fig", "figs", "eq", "eqs", "vol", "vols", "pp", "ch", "sec", "cf", "vs", "viz", "approx", "ca", "e.g", "i.e"}
)
"""Abbreviations that always stand before what they belong to."""
_BEFORE_NUMBERS = frozenset(
    {"no", "nos", "p", "art", "c", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"}
)
"""Abbreviations before a number, and otherwise words, or ends."""
_STARTERS = frozenset(
    {"the", "a", "an", "it", "its", "he", "she", "they", "we", "you", "i", "this", "that", "these", "those", "there"}
    | {"his", "her", "their", "our", "but", "and", "so", "however", "when", "while", "if", "as", "after", "before"}
    | {"although", "because", "since", "then", "thus", "what", "who", "how", "why", "where", "in", "on", "at", "by"}
    | {
        "for",
        "from",
        "to",
        "with",
        "most",
        "many",
        "some",
        "all",
        "both",
        "each",
        "no",
        "not",
        "only",
        "later",
        "today",
    }
)
"""Words that begin a sentence when they are capitalised, and no name."""

_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_NO_TEXT = re.compile(r"\s*(?:[-=*_~`]{3,}\w*|[|:\s-]+)\s*$")
_ITEM = re.compile(
    r"\s*(?:>\s*)*(?:(?:[-*+•·‣◦–]|\d{1,3}[.)]|[(（]\d{1,3}[)）]|[a-z]\))\s+|\d{1,3}、|[（(]?[一二三四五六七八九十]{1,3}[)）、]\s*)"
)
_QUOTED = re.compile(r"\s*(?:>\s*)+")
WRAPPED_CHARS = 50
"""A line at least this long that does not end a sentence may have been wrapped, so the next one goes on with it."""


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text in their order, without the marks of lists; white space within one is a single space.

    A text that has nothing but headings is made of those.
    """
    blocks = list(_blocks(text))
    found = tuple(sentence for block, heading in blocks if not heading for sentence in _sentences(block))
    return found or tuple(sentence for block, _ in blocks for sentence in _sentences(block))


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Stretches of text that no sentence crosses, and whether one is a heading."""
    block, quoted = "", False
    for line in text.splitlines():
        heading, item, quote = _HEADING.match(line), _ITEM.match(line), _QUOTED.match(line)
        start = heading or item or quote
        words = " ".join(line[start.end() if start else 0 :].split())
        blank = not words or _NO_TEXT.match(line) is not None
        apart = blank or heading or item or quoted != bool(quote)
        if block and (apart or not _wrapped(block, words)):
            yield block, False
            block = ""
        quoted = bool(quote)
        if heading and not blank:
            yield words.rstrip("# "), True
        elif not blank:
            block = f"{block}{_gap(block, words)}{words}" if block else words
    if block:
        yield block, False


def _wrapped(block: str, line: str) -> bool:
    """Whether a line goes on with what stands before it."""
    return line[0].islower() or (len(block) >= WRAPPED_CHARS and block[-1] not in "。！？｡.!?:：|")


def _gap(before: str, after: str) -> str:
    han = re.compile(f"[{_HAN}，。、；：！？」』”）]")
    return "" if han.match(before[-1]) and han.match(after[0]) else " "


def _sentences(block: str) -> Iterator[str]:
    inside = _in_brackets(block)
    start = 0
    for mark in _END.finditer(block):
        end = _after_quotes(block, start, mark)
        if mark.start() not in inside and _ends(block, start, mark, end):
            yield from _said(block[start:end])
            start = end
    yield from _said(block[start:])


def _said(piece: str) -> Iterator[str]:
    """The piece, where there is anything in it that could be read."""
    if any(character.isalnum() for character in piece):
        yield piece.strip()


def _in_brackets(block: str) -> frozenset[int]:
    """The places within brackets that are closed again."""
    opened: list[int] = []
    inside: set[int] = set()
    for bracket in _BRACKETS.finditer(block):
        if bracket[0] in "(（【［":
            opened.append(bracket.start())
        elif opened:
            inside.update(range(opened.pop(), bracket.start()))
    return frozenset(inside)


def _after_quotes(block: str, start: int, mark: re.Match[str]) -> int:
    """Where a sentence ends with what closes after its mark: a straight quote closes only what one has opened."""
    end = mark.end()
    for quote in "\"'":
        if quote in mark[1] and block.count(quote, start, mark.start(1)) % 2 == 0:
            end = min(end, mark.start(1) + mark[1].index(quote))
    return end


def _ends(block: str, start: int, mark: re.Match[str], end: int) -> bool:
    """Whether a mark ends the sentence that begins at `start`."""
    after = block[end:].lstrip()[:1]
    if not after:
        return True
    if after in _GOES_ON:
        return False
    if mark[0][0] in _FULL:
        return True
    follows = _NEXT_WORD.match(block, end)
    following = (follows[1] if follows else None) or ""
    if following.islower() and not block.islower():
        return False
    return mark[0][0] != "." or not _abbreviated(block[start : mark.start()], following)


def _abbreviated(before: str, following: str) -> bool:
    """Whether the full stop after `before` belongs to an abbreviation, and does not end the sentence as well."""
    found = _LAST_WORD.search(before)
    if found is None:
        return False
    word = found[1].lower()
    if word in _NEVER_LAST:
        return True
    if word in _BEFORE_NUMBERS and following.isdigit():
        return True
    initials = "." in word or (len(word) == 1 and found[1].isupper())
    return (initials or word == "al") and following.lower() not in _STARTERS
