"""A text as someone reads it who looks past disguises, with the way back to where each character stood.

Full-width letters, look-alikes of other scripts, traditional characters, quotes and dashes of all kinds become one
form; what is not seen is gone, and so are spaces between Chinese characters. Phrases are looked for in this form only.

A million characters are folded in a fraction of a second, whatever they are: what takes the place of one character is
written at once by `str.translate`, and Python looks only at the places where that is none or several.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from functools import lru_cache

from touchstone.judges.fence import visible
from touchstone.text import normalised

_LOOKALIKES = dict(
    zip(
        "аеорсухіѕԁԛјӏАВЕКМНОРСТУХІЅЈ" + "αονικρτυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxisdqjlABEKMHOPCTYXISJ" + "aovikptuABEZHIKMNOPTYX",
        strict=True,
    )
)
"""Cyrillic and Greek letters that look like Latin ones."""
_SIMPLIFIED = dict(
    zip(
        "評視說標準規則無請給滿級檔應當為獲該這個記會過繞別關統訊結論終總綜績經對選競爭襲竊偽虛違資錯誤將設輸審閱參賽維項務須檢測確認納獎內數據"
        "戶們讓現開變項報譯種員發題優連處權嚴",
        "评视说标准规则无请给满级档应当为获该这个记会过绕别关统讯结论终总综绩经对选竞争袭窃伪虚违资错误将设输审阅参赛维项务须检测确认纳奖内数据"
        "户们让现开变项报译种员发题优连处权严",
        strict=True,
    )
)
"""The traditional forms of the characters that the phrases use."""
_QUOTES = frozenset("\"'`´′″「」『』〝〞")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


_OTHER, _MARK = "\x00", "\x01"
"""What stands for a character that becomes none or several, and for a combining mark; visible text has neither."""
_APART = re.compile(f"[^{_MARK}]?{_MARK}+|{_OTHER}+(?!{_MARK})")
_WHITE = re.compile(r"[ \n](?:[ \n]+|(?<=[\u3400-\u4dbf\u4e00-\u9fff] )(?=[\u3400-\u4dbf\u4e00-\u9fff]))")
_KEPT_CHARS = 30_000
_CACHED_CHARS = 32
"""Clusters up to this length are kept in memory: letters with their accents come again, long ones are no letters."""


class _Moved:
    """Where the characters of a text came from that was written together from another one, piece by piece."""

    __slots__ = ("_ends", "_places", "_sources", "_text")

    def __init__(self) -> None:
        self._text: list[str] = []
        self._places = array("Q")
        self._sources = array("Q")
        self._ends = array("Q")
        """0 where each character of a piece came from one of its own; else where the one stretch ends that all are."""

    def copy(self, text: str, place: int, source: int) -> int:
        """Add a piece at `place` whose characters came from as many, from `source` on; the next one's place."""
        return self._add(text, place, source, 0)

    def put(self, text: str, place: int, source: int, end: int) -> int:
        """Add a piece at `place`, each character of which stands for `source` up to `end`; the next one's place."""
        return self._add(text, place, source, end)

    def _add(self, text: str, place: int, source: int, end: int) -> int:
        if text:
            self._text.append(text)
            self._places.append(place)
            self._sources.append(source)
            self._ends.append(end)
        return place + len(text)

    def text(self) -> str:
        return "".join(self._text)

    def origin(self, place: int) -> tuple[int, int]:
        """The stretch of the source for which the character at `place` stands."""
        piece = bisect_right(self._places, place) - 1
        source, end = self._sources[piece], self._ends[piece]
        if end:
            return source, end
        at = source + place - self._places[piece]
        return at, at + 1


class Folded:
    """`text` is the folded form of a source, and `place` leads back from it."""

    __slots__ = ("_letters", "_spaced", "text")

    def __init__(self, letters: _Moved, spaced: _Moved) -> None:
        self.text = spaced.text()
        self._letters = letters
        self._spaced = spaced

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the folded characters from `start` up to `end` stand in the source; `end` is past `start`."""
        first, last = self._spaced.origin(start)[0], self._spaced.origin(end - 1)[0]
        return self._letters.origin(first)[0], self._letters.origin(last)[1]


def fold(source: str) -> Folded:
    """The folded form of a text. Runs of white space become one space, or one line end where they hold any."""
    letters = _letters(source)
    return Folded(letters, _spaced(letters.text()))


def _letters(source: str) -> _Moved:
    """Each character in its one form, together with the combining marks behind it, since they may compose."""
    forms = source.translate(_FORMS)
    letters = _Moved()
    place = done = 0
    for apart in _APART.finditer(forms):
        start, end = apart.span()
        place = letters.copy(forms[done:start], place, done)
        if forms[end - 1] == _MARK:
            place = letters.put(_plain(source[start:end]), place, start, end)
        else:
            for at in range(start, end):
                if shown := _kept_plain(source[at]):
                    place = letters.put(shown, place, at, at + 1)
        done = end
    letters.copy(forms[done:], place, done)
    return letters


def _spaced(text: str) -> _Moved:
    """White space runs as one character, and none between Han characters but a line's end."""
    spaced = _Moved()
    place = done = 0
    for white in _WHITE.finditer(text):
        start, end = white.span()
        kept = "\n" if "\n" in white[0] else "" if _between_han(text, start, end) else " "
        place = spaced.copy(text[done:start], place, done)
        place = spaced.put(kept, place, start, start + 1)
        done = end
    spaced.copy(text[done:], place, done)
    return spaced


def _between_han(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return _HAN.match(before) is not None and _HAN.match(after) is not None


class _Forms(dict[int, str]):
    """What `str.translate` puts for each character, found out when it first occurs."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        plain = _MARK if unicodedata.combining(letter) else _plain(letter)
        form = plain if len(plain) == 1 else _OTHER
        if len(self) < _KEPT_CHARS:
            self[code] = form
        return form


_FORMS = _Forms()


def _plain(cluster: str) -> str:
    return _kept_plain(cluster) if len(cluster) <= _CACHED_CHARS else _made_plain(cluster)


@lru_cache(maxsize=20_000)
def _kept_plain(cluster: str) -> str:
    return _made_plain(cluster)


def _made_plain(cluster: str) -> str:
    return "".join(_one(letter) for letter in normalised(visible(cluster), "NFKC"))


def _one(letter: str) -> str:
    if letter == "\n":
        return letter
    if letter.isspace():
        return " "
    match unicodedata.category(letter):
        case "Pi" | "Pf":
            return "'"
        case "Pd":
            return "-"
        case _ if letter in _QUOTES:
            return "'"
        case _:
            letter = _SIMPLIFIED.get(letter, letter)
            return "-" if letter == "−" else _LOOKALIKES.get(letter, letter)
