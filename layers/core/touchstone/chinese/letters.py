"""Pinyin as letters: the base of each letter without its marks, its tone, and how the tone was written."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from touchstone.text import normalised

type Span = tuple[int, int]

_MARKS = {"\u0304": 1, "\u0301": 2, "\u030c": 3, "\u0300": 4}
_MARK_OF = {tone: mark for mark, tone in _MARKS.items()}
_BREVE = "\u0306"
"""The breve. Writers whose keyboard offers it use it for the caron of the third tone: xĭ for xǐ."""
_LOOKALIKES = str.maketrans(dict.fromkeys("’‘ʼ´`ʹ′", "'") | dict.fromkeys("‐‑", "-") | {"ɑ": "a", "ɡ": "g"})
"""Look-alike characters and what they stand for: textbooks print ɑ and ɡ; apostrophe and hyphen have many shapes."""

_CLUSTER = re.compile(r"[\s\S][\u0300-\u036f]*")
_LATIN = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\u0300-\u036f"
_WRITTEN = re.compile(rf"[{_LATIN}](?:[{_LATIN}]|[0-9]|(?<=[nlNL][uU]):(?=[0-9eE]))*")
_COMBINING = frozenset(map(chr, range(0x300, 0x370)))
_DIGITS = re.compile(r"[0-9]+")
_CODA = re.compile(r"[aeiouü]?(?:n|ng|r)?")
"""The letters that may follow the marked vowel within its syllable. A digit behind them is a numeral (nián1yuè,
dì3kè)."""
_SYLLABIC = ("n", "m", "ng", "hm", "hng")

KEPT_LENGTH = 40
"""The length in characters up to which a piece is cached: words come again, sentences without spaces do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A letter of pinyin in lower case; ü and ê are letters of their own.

    `span` is the letter's place in its piece. `tone` is 1 to 4, 0 for a stated neutral tone, None if no tone is stated.
    `is_number`: the tone is written as a digit. `fault` is the rule that its way of writing breaks, None if none.
    """

    base: str
    span: Span
    is_capital: bool = False
    tone: int | None = None
    is_number: bool = False
    fault: str | None = None


class Piece:
    """Letters that are written together, apart from their place in a text.

    The same word is the same object, so that it is split once.
    """

    __slots__ = ("bases", "letters")

    def __init__(self, letters: Sequence[Letter]) -> None:
        self.letters = tuple(letters)
        self.bases = "".join(letter.base[:1] for letter in letters)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece at its place in a text.

    `starts` has the offset in the text for each offset in the piece. `is_joined`: an apostrophe or hyphen ties this
    chunk to the chunk before it. `is_neutral`: a dot before the chunk says that its first syllable has the neutral tone
    (·zi).
    """

    piece: Piece
    starts: Sequence[int]
    is_joined: bool
    is_neutral: bool

    def span(self, start: int = 0, end: int = -1) -> Span:
        """The place in the text of the letters from `start` up to `end`; by default of the whole chunk."""
        letters = self.piece.letters
        return self.starts[letters[start].span[0]], self.starts[letters[end - 1 if end > 0 else -1].span[1]]


def chunks(text: str) -> Iterator[Chunk]:
    """The chunks of a text that are written in Latin letters; everything else is left out, numerals too."""
    plain, starts = _folded(text)
    end = -1
    for found in _WRITTEN.finditer(plain):
        begin = found.start()
        before = plain[begin - 1] if begin else ""
        is_joined = begin - 1 == end and before in ("'", "-")
        end = found.end()
        pieces = _kept_pieces(found[0]) if len(found[0]) <= KEPT_LENGTH else _pieces(found[0])
        for number, piece in enumerate(pieces):
            yield Chunk(piece, starts[begin : end + 1], is_joined and number == 0, before == "·")


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """The text in composed characters, and the offset in `text` of each of them; the last offset is the text's end."""
    plain = text.translate(_LOOKALIKES)
    if normalised(plain, "NFKC") == plain:
        return plain, range(len(text) + 1)
    folded: list[str] = []
    starts: list[int] = []
    for cluster in _CLUSTER.finditer(plain):
        shown = normalised(cluster[0], "NFKC")
        folded.append(shown)
        starts.extend([cluster.start()] * len(shown))
    return "".join(folded), [*starts, len(text)]


def _pieces(written: str) -> tuple[Piece, ...]:
    """The letters of one run, cut at each numeral: digits that cannot be the number of a tone."""
    pieces: list[Piece] = []
    letters: list[Letter] = []
    ends_in_digit = written[-1] in "0123456789"
    at = 0
    while at < len(written):
        digits = _DIGITS.match(written, at) if written[at] in "0123456789" else None
        end = digits.end() if digits else at + 1
        while end < len(written) and written[end] in _COMBINING:
            end += 1
        if digits is None:
            _add(letters, written[at:end], (at, end))
        elif letters and digits[0] in ("0", "1", "2", "3", "4", "5") and _closing(letters) is None:
            tone = int(digits[0]) % 5
            letters[-1] = replace(letters[-1], tone=tone, is_number=True, span=(letters[-1].span[0], end))
        elif letters and ends_in_digit and _is_doubled(letters, digits[0]):
            letters[-1] = replace(letters[-1], fault="tone_number", span=(letters[-1].span[0], end))
        elif letters:
            pieces.append(Piece(letters))
            letters = []
        at = end
    return (*pieces, Piece(letters)) if letters else tuple(pieces)


_kept_pieces = lru_cache(maxsize=4096)(_pieces)


def _closing(letters: list[Letter]) -> Letter | None:
    """The letter with the tone of the last syllable, so that a digit after it does not state a tone. None if it has
    none."""
    for back in range(1, min(len(letters), 4) + 1):
        if letters[-back].tone is not None:
            coda = "".join(letter.base for letter in letters[len(letters) - back + 1 :])
            is_closed = back == 1 or (not letters[-back].is_number and _CODA.fullmatch(coda) is not None)
            return letters[-back] if is_closed else None
    return None


def _is_doubled(letters: list[Letter], digits: str) -> bool:
    """Whether digits repeat the tone mark of the last syllable (guǐ3). Behind 第 they are the numeral (dì4)."""
    closing = _closing(letters)
    is_ordinal = [letter.base for letter in letters] == ["d", "i"]
    return closing is not None and not closing.is_number and digits == str(closing.tone) and not is_ordinal


def _add(letters: list[Letter], written: str, span: Span) -> None:
    """Add a character to the letters: a letter, or the colon that makes the last letter an ü."""
    if written == ":":
        letters[-1] = replace(letters[-1], base="ü", fault="umlaut", span=(letters[-1].span[0], span[1]))
        return
    base, tone, fault = _decomposed(written.lower())
    if base in ("v", "ü") and letters:
        before = letters[-1].base
        if before in ("j", "q", "x", "y"):
            base, fault = "u", "umlaut"
        elif base == "v" and before in ("n", "l"):
            base, fault = "ü", "umlaut"
    letters.append(Letter(base=base, span=span, is_capital=written.isupper(), tone=tone, fault=fault))


@lru_cache(maxsize=4096)
def _decomposed(letter: str) -> tuple[str, int | None, str | None]:
    """A letter's base, tone and fault.

    A letter with marks that pinyin does not know becomes U+FFFD, a base that no syllable has.
    """
    plain = normalised(letter, "NFD")
    base, marks = plain[:1], plain[1:]
    if base == "u" and "\u0308" in marks:
        base, marks = "ü", marks.replace("\u0308", "", 1)
    elif base == "e" and "\u0302" in marks:
        base, marks = "ê", marks.replace("\u0302", "", 1)
    if not marks:
        return base, None, None
    if marks in _MARKS:
        return base, _MARKS[marks], None
    return (base, 3, "wrong_mark") if marks == _BREVE else ("\ufffd", None, None)


def spelled(base: str, tone: int | None, capitals: Sequence[bool] = ()) -> str:
    """A syllable with its tone mark on the vowel that carries it; `capitals` says which letters are capitals."""
    place = carrier(base) if tone else -1
    shown = [letter + (_MARK_OF[tone or 1] if at == place else "") for at, letter in enumerate(base)]
    for at, is_capital in enumerate(capitals):
        shown[at] = shown[at].upper() if is_capital else shown[at]
    return normalised("".join(shown), "NFC")


@lru_cache(maxsize=1024)
def carrier(base: str) -> int:
    """The index of the letter of a syllable that carries the tone mark; -1 if no letter does.

    That is a, else e, else the o of ou, else the last vowel. A syllable without a vowel (n, m, ng …) carries it on n or
    m.
    """
    for vowel in ("a", "e", "ê"):
        if vowel in base:
            return base.index(vowel)
    if "ou" in base:
        return base.index("o")
    last = max(base.rfind(vowel) for vowel in "iouü")
    if last < 0 and base in _SYLLABIC:
        last = max(base.find("n"), base.find("m"))
    return last
