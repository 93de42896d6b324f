"""A text as someone reads it who looks past disguises, with the way back to where each character stood.

Full-width letters, look-alikes of other scripts, traditional characters, quotes and dashes of all kinds become one
form; what is not seen is gone, and so are spaces between Chinese characters. Phrases are looked for in this form only.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from touchstone.judges.fence import visible

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


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` is the folded form; character `i` of it stands for `source[starts[i]:ends[i]]`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the folded characters from `start` up to `end` stand in the source; `end` is past `start`."""
        return self.starts[start], self.ends[end - 1]


def fold(source: str) -> Folded:
    """The folded form of a text. Runs of white space become one space, or one line end where they hold any."""
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(source):
        for letter in _plain(source[start:end]):
            letters.append(letter)
            starts.append(start)
            ends.append(end)
    kept = list(_kept(letters))
    return Folded(
        "".join(letter for _, letter in kept),
        tuple(starts[place] for place, _ in kept),
        tuple(ends[place] for place, _ in kept),
    )


def _clusters(source: str) -> list[tuple[int, int]]:
    """Each character with the combining marks behind it, since only together have they a composed form."""
    found: list[tuple[int, int]] = []
    for place, letter in enumerate(source):
        if found and unicodedata.combining(letter):
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


@lru_cache(maxsize=20_000)
def _plain(cluster: str) -> str:
    return "".join(_one(letter) for letter in unicodedata.normalize("NFKC", visible(cluster)))


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


def _kept(letters: list[str]) -> list[tuple[int, str]]:
    """The characters that stay, with their places: white space runs are one, and none stands between Han characters."""
    kept: list[tuple[int, str]] = []
    for white, group in groupby(enumerate(letters), key=lambda pair: pair[1] in " \n"):
        run = list(group)
        if not white:
            kept.extend(run)
        elif any(letter == "\n" for _, letter in run):
            kept.append((run[0][0], "\n"))
        elif not (kept and _HAN.match(kept[-1][1]) and _followed_by_han(letters, run[-1][0])):
            kept.append((run[0][0], " "))
    return kept


def _followed_by_han(letters: list[str], place: int) -> bool:
    return place + 1 < len(letters) and _HAN.match(letters[place + 1]) is not None
