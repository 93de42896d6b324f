"""The language of a text, recognised from its script."""

import re
from typing import Literal

type Language = Literal["zh", "en"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")
"""A run of Han characters."""
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
"""A Latin word of two letters or more: single letters are variables, and `\\frac` is LaTeX, not English."""
_FIRST = re.compile(rf"{_HAN.pattern}|{_WORD.pattern}")
_QUOTED = re.compile(r"“[^“”]*”|\"[^\"\n]*\"|「[^「」]*」|『[^『』]*』|《[^《》]*》")
_FRAME = re.compile(
    r"an?|the|is|are|was|were|be|do|does|did|has|have|had|of|in|on|at|by|for|from|to|with|and|or|not|that|which|who"
    r"|whose|what|when|where|why|how|this|it|its|can|will|means?|word|character",
    re.IGNORECASE,
)
"""Words that make a sentence English, whatever word it asks about; those of formulae (sin, km, AB) do not."""

HAN_SHARE = 0.3
"""Least share of Han characters among Han characters and Latin words at which a text is Chinese.

One Han character carries about as much as one short word, and a Chinese problem may quote English terms; an English
problem that quotes a Chinese word or two stays English.
"""
LEAST_FRAME = 2
HAN_OF_A_FRAME = 2
"""A text with at least `LEAST_FRAME` of those words is an English sentence about a Chinese word, without quotation
marks around it (What does 學習 mean?), up to so many Han characters for each of them; one for each where it begins with
a Han character (學習 means to learn).
"""


def language_of(text: str) -> Language:
    """`zh` or `en`, by the share of Han characters among Han characters and Latin words; `en` where there are none.

    What stands in quotation marks is no matter, unless there is nothing else.
    """
    said = _QUOTED.sub(" ", text)
    if not _HAN.search(said) and not _WORD.search(said):
        said = text
    han, words = sum(map(len, _HAN.findall(said))), _WORD.findall(said)
    if not han or han / (han + len(words)) < HAN_SHARE:
        return "en"
    frame = sum(_FRAME.fullmatch(word) is not None for word in words)
    if frame < LEAST_FRAME:
        return "zh"
    first = _FIRST.search(said)
    most = frame * (HAN_OF_A_FRAME if first is not None and first[0].isascii() else 1)
    return "en" if han <= most else "zh"
