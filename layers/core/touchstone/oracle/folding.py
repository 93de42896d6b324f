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
from functools import cached_property, lru_cache

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
        "戶們讓現開變項報譯種員發題優連處權嚴傳師懲罰業",
        "评视说标准规则无请给满级档应当为获该这个记会过绕别关统讯结论终总综绩经对选竞争袭窃伪虚违资错误将设输审阅参赛维项务须检测确认纳奖内数据"
        "户们让现开变项报译种员发题优连处权严传师惩罚业",
        strict=True,
    )
)
"""The traditional forms of the characters that the phrases use."""
_QUOTES = frozenset("\"'`´′″「」『』〝〞")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


_OTHER, _MARK = "\x00", "\x01"
"""What stands for a character that becomes none or several, and for a combining mark; visible text has neither."""
_APART = re.compile(f"([^{_MARK}]?{_MARK}+)|{_OTHER}+(?!{_MARK})")
"""A letter with the marks behind it, as a group, or a run of other characters."""
_WHITE = re.compile(r"[ \n](?:[ \n]+|(?<=[\u3400-\u4dbf\u4e00-\u9fff] )(?=[\u3400-\u4dbf\u4e00-\u9fff]))")
MAX_EXPANSION = 3
"""Characters that one becomes at most. What is longer is a word or unit in one sign, and of no phrase a part."""
_KEPT_CHARS = 30_000
_CACHED_CHARS = 32
"""Clusters up to this length are kept in memory: letters with their accents come again, long ones are no letters."""


class Folded:
    """`text` is the folded form of a source, and `place` leads back from it."""

    def __init__(self, source: str) -> None:
        self._source = source
        letters = _APART.sub(self._apart, source.translate(_FORMS))
        self.text = _WHITE.sub(_white, letters)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the folded characters from `start` up to `end` stand in the source; `end` is past `start`."""
        letters, spaced = self._moved
        first, last = spaced.origin(start)[0], spaced.origin(end - 1)[0]
        return letters.origin(first)[0], letters.origin(last)[1]

    def _apart(self, found: re.Match[str]) -> str:
        """The form of a letter with its marks, or of characters that become none or several."""
        cluster = self._source[found.start() : found.end()]
        return _plain(cluster) if found.lastindex or len(cluster) == 1 else "".join(map(_kept_plain, cluster))

    @cached_property
    def _moved(self) -> "tuple[_Moved, _Moved]":
        """How the letters came from the source, and the text from the letters: asked of few texts, and slow to tell."""
        forms = self._source.translate(_FORMS)
        letters = _Moved()
        for found in _APART.finditer(forms):
            start, end = found.span()
            letters.keep_up_to(start)
            if found.lastindex:
                letters.put(len(_plain(self._source[start:end])), end)
            else:
                for at in range(start, end):
                    letters.put(len(_kept_plain(self._source[at])), at + 1)
        spaced = _Moved()
        for found in _WHITE.finditer(_APART.sub(self._apart, forms)):
            spaced.keep_up_to(found.start())
            spaced.put(len(_white(found)), found.start() + 1)
            spaced.skip_to(found.end())
        return letters, spaced


class _Moved:
    """Where the characters of a text came from that was written from another one, from its beginning on.

    What is left behind the last piece was kept as it is.
    """

    __slots__ = ("_ends", "_place", "_places", "_source", "_sources")

    def __init__(self) -> None:
        self._place = self._source = 0
        self._places = array("Q", [0])
        self._sources = array("Q", [0])
        self._ends = array("Q", [0])
        """0 where each character of a piece came from one of its own; else where the one stretch ends that all are."""

    def keep_up_to(self, source: int) -> None:
        """All characters of the source up to here have been kept."""
        self._place += source - self._source
        self._source = source

    def put(self, count: int, source: int) -> None:
        """As many characters stand for the stretch of the source that ends here."""
        self._begin(source)
        self._place += count
        self._source = source
        self._begin(0)

    def skip_to(self, source: int) -> None:
        """The source up to here was left out."""
        self._source = source
        self._begin(0)

    def _begin(self, end: int) -> None:
        if self._places[-1] == self._place:  # the last piece is empty
            self._sources[-1], self._ends[-1] = self._source, end
        else:
            self._places.append(self._place)
            self._sources.append(self._source)
            self._ends.append(end)

    def origin(self, place: int) -> tuple[int, int]:
        """The stretch of the source for which the character at `place` stands."""
        piece = bisect_right(self._places, place) - 1
        source, end = self._sources[piece], self._ends[piece]
        if end:
            return source, end
        at = source + place - self._places[piece]
        return at, at + 1


def fold(source: str) -> Folded:
    """The folded form of a text. Runs of white space become one space, or one line end where they hold any."""
    return Folded(source)


def _white(found: re.Match[str]) -> str:
    """White space as one character, and none between Han characters but a line's end."""
    white = found[0]
    if len(white) == 1:  # `_WHITE` finds such a one between Han characters only
        return ""
    return "\n" if "\n" in white else "" if _between_han(found.string, *found.span()) else " "


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


class _Ones(dict[int, str]):
    """The same of a character that is normalised already."""

    def __missing__(self, code: int) -> str:
        one = _one(chr(code))
        if len(self) < _KEPT_CHARS:
            self[code] = one
        return one


_ONES = _Ones()
_FORMS = _Forms()


def _plain(cluster: str) -> str:
    return _kept_plain(cluster) if len(cluster) <= _CACHED_CHARS else _made_plain(cluster)


@lru_cache(maxsize=20_000)
def _kept_plain(cluster: str) -> str:
    return _made_plain(cluster)


def _made_plain(cluster: str) -> str:
    plain = normalised(visible(cluster), "NFKC")
    shown = cluster if len(cluster) == 1 and len(plain) > MAX_EXPANSION else plain
    return shown.translate(_ONES)


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
