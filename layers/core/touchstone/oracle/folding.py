"""A text folded as a reader reads it who sees through disguises, with the way back to the place of each character.

Full-width letters, look-alikes of other scripts, traditional characters, and quotes and dashes of all kinds become one
form. Characters that are not seen are removed, and so are spaces between Chinese characters. Phrases are looked for in
the folded form only.

A million characters are folded in a fraction of a second, whatever they are. `str.translate` writes each character that
becomes exactly one. Python looks only at the places where a character becomes none or several.
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
        "評視說標準規則無請給滿級檔應當為獲該這個記會過繞別關統訊結論終總綜績經對選競爭襲竊偽虛違資錯誤將設輸審閱參賽"
        "維項務須檢測確認納獎內數據戶們讓現開變報譯種員發題優連處權嚴傳師懲罰業佈來係傷僞價兩動勝區卽單噹執奬學實寫幾"
        "彆後從復徹拋捲敎於査條棄機檻決煩爲產産畢眞穫箇細組絕絶編緻繫繼續聲與蓋蔘薦衕製複覈見託許註詞話語説議賞質輪辦"
        "迴達遶還釦錶門閉閤閲際隻順類餘驗體髮鬚麪麫麵齣纔沒",
        "评视说标准规则无请给满级档应当为获该这个记会过绕别关统讯结论终总综绩经对选竞争袭窃伪虚违资错误将设输审阅参赛"
        "维项务须检测确认纳奖内数据户们让现开变报译种员发题优连处权严传师惩罚业布来系伤伪价两动胜区即单当执奖学实写几"
        "别后从复彻抛卷教于查条弃机槛决烦为产产毕真获个细组绝绝编致系继续声与盖参荐同制复核见托许注词话语说议赏质轮办"
        "回达绕还扣表门闭合阅际只顺类余验体发须面面面出才没",
        strict=True,
    )
)
"""The traditional forms of the characters that the phrases use, each with its simplified form."""
_QUOTES = frozenset("\"'`´′″「」『』〝〞")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


_OTHER, _MARK = "\x00", "\x01"
"""Placeholders: `_OTHER` for a character that becomes none or several, `_MARK` for a combining mark. Visible text
contains neither."""
_APART = re.compile(f"([^{_MARK}]?{_MARK}+)|{_OTHER}+(?!{_MARK})")
"""A letter with the marks behind it (in a group), or a run of `_OTHER`."""
_WHITE = re.compile(r"[ \n](?:[ \n]+|(?<=[\u3400-\u4dbf\u4e00-\u9fff] )(?=[\u3400-\u4dbf\u4e00-\u9fff]))")
MAX_EXPANSION = 3
"""Most characters that one character becomes. A character with a longer form is a word or unit in one sign, and part of
no phrase; it stays as it is."""
_KEPT_CHARS = 30_000
_CACHED_CHARS = 32
"""Longest cluster whose form is kept in memory. Letters with their accents occur again; a longer cluster is no
letter."""


class Folded:
    """The folded form of a source: `text`. `place` leads back from it to the source.

    A run of white space becomes one space, or one line end if it holds any.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        letters = _APART.sub(self._apart, source.translate(_FORMS))
        self.text = _WHITE.sub(_white, letters)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the folded characters from `start` up to `end` are in the source.

        `end` must be greater than `start`.
        """
        letters, spaced = self._moved
        first, last = spaced.origin(start)[0], spaced.origin(end - 1)[0]
        return letters.origin(first)[0], letters.origin(last)[1]

    def _apart(self, found: re.Match[str]) -> str:
        """The form of a letter with its marks, or of a run of characters that become none or several."""
        cluster = self._source[found.start() : found.end()]
        return _plain(cluster) if found.lastindex or len(cluster) == 1 else "".join(map(_kept_plain, cluster))

    @cached_property
    def _moved(self) -> "tuple[_Moved, _Moved]":
        """How the letters came from the source, and how the text came from the letters.

        It is computed on demand: few texts are asked for places, and the computation is slow.
        """
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
    """Where each character of a written text came from in its source.

    It is filled in order, from the beginning of the text. Whatever follows the last recorded piece was copied
    unchanged.
    """

    __slots__ = ("_ends", "_place", "_places", "_source", "_sources")

    def __init__(self) -> None:
        self._place = self._source = 0
        self._places = array("Q", [0])
        self._sources = array("Q", [0])
        self._ends = array("Q", [0])
        """For each piece: 0 if each of its characters came from one character of the source. Otherwise the end of the
        one stretch of the source from which all of them came."""

    def keep_up_to(self, source: int) -> None:
        """Record that all characters of the source up to `source` were copied unchanged."""
        self._place += source - self._source
        self._source = source

    def put(self, count: int, source: int) -> None:
        """Record that `count` characters were written for the stretch of the source that ends at `source`."""
        self._begin(source)
        self._place += count
        self._source = source
        self._begin(0)

    def skip_to(self, source: int) -> None:
        """Record that the source up to `source` was left out."""
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
        """The start and end of the stretch in the source from which the character at `place` came."""
        piece = bisect_right(self._places, place) - 1
        source, end = self._sources[piece], self._ends[piece]
        if end:
            return source, end
        at = source + place - self._places[piece]
        return at, at + 1


def _white(found: re.Match[str]) -> str:
    """White space as one character. Between Han characters it is removed, unless it holds a line end."""
    white = found[0]
    if len(white) == 1:  # `_WHITE` finds a single character only between Han characters
        return ""
    return "\n" if "\n" in white else "" if _between_han(found.string, *found.span()) else " "


def _between_han(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return _HAN.match(before) is not None and _HAN.match(after) is not None


class _Forms(dict[int, str]):
    """What `str.translate` writes for each character: its form, or a placeholder. Found out when it first occurs."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        plain = _MARK if unicodedata.combining(letter) else _plain(letter)
        form = plain if len(plain) == 1 else _OTHER
        if len(self) < _KEPT_CHARS:
            self[code] = form
        return form


class _Ones(dict[int, str]):
    """The form of each character of normalised text, found out when the character first occurs."""

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
