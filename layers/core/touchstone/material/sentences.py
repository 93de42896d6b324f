"""A text taken apart into its sentences, in Chinese, English and other European languages alike, markdown or plain.

A full stop ends a sentence only where a reader would stop: not in a number (3.14), an address (example.com), after an
abbreviation (Dr. Li, Fig. 3, e.g., z. B.), an initial (J. K. Rowling) or a German ordinal (3. Oktober), and not before
a word in lower case, unless all words are. 。！？ end a sentence wherever they stand, together with the quotes and
brackets that close after them. Nothing within brackets ends a sentence. Each item of a list is apart from the next.
Headings, rules and the like are no sentences.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from string import ascii_letters

from touchstone.packaged import own_table

_HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_CLOSING = r"[」』”’）)】》〉\]\"'*_]|\[\d{1,3}\]"
_END = re.compile(rf"(?:[。！？｡]|[.!?．](?![\w.])|[.!?．](?=[{_HAN}]))[。！？｡.!?．…]*+((?:{_CLOSING})*+)")
"""A mark that may end a sentence, and what closes after it."""
_FOLLOWING = re.compile(r"\s*+(\S?)")
_FULL = "。！？｡"
_GOES_ON = "，,、；;：:—–"
"""Marks that continue a sentence: before one of them, closed quotes or brackets are only a part of it."""
_STRAIGHT_QUOTES = {'"': re.compile('"'), "'": re.compile("'")}
_BRACKETS = re.compile(r"[(（【［]|[)）】］]")
_NEXT_WORD = re.compile(r"[\s\"'“‘「『(（\[*_]*([A-Za-zÀ-ÿ]+|\d+)?")
_HYPHENED = re.compile(r"-[a-zß-öø-ÿ]")
"""What goes on with an abbreviation: c.-à-d."""
_ORDINAL = re.compile(r"(?:\b([A-Za-z]{1,5})\s)?(?<![\d.,])\d{1,2}\Z")
_ORDINAL_CHARS = 10
_NAME_CHARS = 40
"""How far before a title the name may begin: John Smith Sr."""

_WORDS = {name: frozenset[str](words) for name, words in own_table(__file__).items() if name != "notes"}
"""Abbreviations, and words behind a full stop: see the notes of the file."""

_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_NO_TEXT = re.compile(r"[-=*_~`]{3,}+\w*+|[|:\s-]++")
"""A line without text, apart from the white space around it."""
_ITEM = re.compile(
    r"\s*+(?:>\s*+)*+"
    r"(?:(?:[-*+•·‣◦–]|\d{1,3}[.)]|[(（]\d{1,3}[)）]|[a-z]\))\s++|\d{1,3}、|[（(]?[一二三四五六七八九十]{1,3}[)）、]\s*+)"
)
_QUOTED = re.compile(r"\s*+(?:>\s*+)++")
_JOINS = re.compile(f"[{_HAN}，。、；：！？」』”）]")
"""Characters between which no space is put if one line goes on in the next."""
WRAPPED_CHARS = 50
"""The least characters of a line that may have been wrapped. If it does not end a sentence, the next line goes on with
it."""


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text in their order, without the marks of lists. White space within a sentence is one space.

    If a text has nothing but headings, they are its sentences.
    """
    blocks = list(_blocks(text))
    found = tuple(sentence for block, heading in blocks if not heading for sentence in _sentences(block))
    return found or tuple(sentence for block, _ in blocks for sentence in _sentences(block))


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The stretches of text that no sentence crosses, each with whether it is a heading."""
    block: list[str] = []
    quoted = False
    for line in text.splitlines():
        heading, item, quote = _HEADING.match(line), _ITEM.match(line), _QUOTED.match(line)
        start = heading or item or quote
        words = " ".join(line[start.end() if start else 0 :].split())
        blank = not words or _NO_TEXT.fullmatch(line.strip()) is not None
        apart = blank or heading or item or quoted != bool(quote)
        if block and (apart or not _wrapped(block, words)):
            yield "".join(block), False
            block = []
        quoted = bool(quote)
        if heading and not blank:
            yield words.rstrip("# "), True
        elif not blank:
            block += [_gap(block[-1], words), words] if block else [words]
    if block:
        yield "".join(block), False


def _wrapped(block: Sequence[str], line: str) -> bool:
    """Whether a line continues the block before it, which is given in pieces."""
    if line[0].islower():
        return True
    is_long = len(block) >= 2 * WRAPPED_CHARS or sum(map(len, block)) >= WRAPPED_CHARS
    return is_long and block[-1][-1] not in "。！？｡.!?:：|"


def _gap(before: str, after: str) -> str:
    return "" if _JOINS.match(before[-1]) and _JOINS.match(after[0]) else " "


def _sentences(text: str) -> Iterator[str]:
    block = _Block(text)
    start = 0
    for mark in _END.finditer(text):
        end = block.after_quotes(start, mark)
        if not block.in_brackets(mark.start()) and block.ends(start, mark, end):
            yield from _said(text[start:end])
            start = end
    yield from _said(text[start:])


def _said(piece: str) -> Iterator[str]:
    """The piece, if it holds a letter or a digit."""
    if any(character.isalnum() for character in piece):
        yield piece.strip()


class _Block:
    """A block with its quotes and brackets, found once.

    If they were found for each mark anew, the time would be quadratic.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._is_lower = text.islower()
        self._quotes = {
            quote: [found.start() for found in pattern.finditer(text)] for quote, pattern in _STRAIGHT_QUOTES.items()
        }
        self._closed = _closed_brackets(text)

    def in_brackets(self, place: int) -> bool:
        """Whether a place is within brackets that are closed."""
        number = bisect_right(self._closed, (place, len(self.text))) - 1
        return number >= 0 and place < self._closed[number][1]

    def after_quotes(self, start: int, mark: re.Match[str]) -> int:
        """The end of a sentence, with what closes after its mark.

        A straight quote closes only what another one has opened.
        """
        end = mark.end()
        for quote, places in self._quotes.items():
            opened = bisect_left(places, mark.start(1)) - bisect_left(places, start)
            if quote in mark[1] and opened % 2 == 0:
                end = min(end, mark.start(1) + mark[1].index(quote))
        return end

    def ends(self, start: int, mark: re.Match[str], end: int) -> bool:
        """Whether a mark ends the sentence that begins at `start`."""
        found = _FOLLOWING.match(self.text, end)
        after = found[1] if found else ""
        if not after:
            return True
        if after in _GOES_ON:
            return False
        if mark[0][0] in _FULL:
            return True
        if _HYPHENED.match(self.text, end):
            return False
        follows = _NEXT_WORD.match(self.text, end)
        following = (follows[1] if follows else None) or ""
        if following.islower() and not self._is_lower:
            return False
        if following in _WORDS["counted"] and _is_ordinal(self.text, mark.start(), following):
            return False
        if mark[0][0] != ".":
            return True
        word = _last_word(self.text, start, mark.start())
        if follows and self.text.startswith(".", follows.end()) and word + following in _WORDS["halves"]:
            return False
        return self._behind_a_name(start, mark.start() - len(word), word) or not _abbreviated(word, following)

    def _behind_a_name(self, start: int, place: int, word: str) -> bool:
        """Whether a word is such that stands before names, and stands behind one that does not begin the sentence."""
        if word.lower() not in _WORDS["before_names"]:
            return False
        first = _FOLLOWING.match(self.text, start)
        begin = max(first.start(1) + 1 if first else start, place - _NAME_CHARS)
        words = self.text[begin:place].split()
        return bool(words) and words[-1][0].isupper()


def _closed_brackets(text: str) -> list[tuple[int, int]]:
    """The outermost closed brackets in their order, each as (place where it opens, place where it closes)."""
    opened: list[int] = []
    closed: list[tuple[int, int]] = []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] in "(（【［":
            opened.append(bracket.start())
        elif opened:
            start = opened.pop()
            while closed and closed[-1][0] > start:
                closed.pop()
            closed.append((start, bracket.start()))
    return closed


def _last_word(text: str, start: int, end: int) -> str:
    """The Latin word that ends at `end`, with the initials that are written together with it; empty if there is none.

    It does not begin before `start`, and is not the end of a longer word.
    """

    def begins(place: int) -> bool:
        return place == start or not (text[place - 1].isalnum() or text[place - 1] == "_")

    at = end
    while at > start and text[at - 1] in ascii_letters:
        at -= 1
    first = at if at < end and begins(at) else end
    while at < end and at - 2 >= start and text[at - 1] == "." and text[at - 2] in ascii_letters:
        at -= 2
        first = at if begins(at) else first
    return text[first:end]


def _is_ordinal(text: str, end: int, counted: str) -> bool:
    """Whether the number that ends at `end` is a German ordinal before what it counts."""
    ordinal = _ORDINAL.search(text, max(0, end - _ORDINAL_CHARS), end)
    if ordinal is None:
        return False
    return counted not in _WORDS["counted elsewhere"] or (ordinal[1] or "").lower() in _WORDS["before days"]


def _abbreviated(written: str, following: str) -> bool:
    """Whether the full stop after a word belongs to an abbreviation, and does not end the sentence as well."""
    word = written.lower()
    if word in _WORDS["never_last"]:
        return True
    if word in _WORDS["before_numbers"] and following.isdigit():
        return True
    initials = "." in word or (len(word) == 1 and written.isupper())
    return (initials or word in _WORDS["before_names"]) and following.lower() not in _WORDS["starters"]
