"""Recognise the language of a text by its script."""

import re
from typing import Literal

type Language = Literal["zh", "en"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")
"""A run of Han characters."""
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
"""A Latin word of two letters or more: a single letter is a variable, and `\\frac` is LaTeX and not English."""
_FIRST = re.compile(rf"{_HAN.pattern}|{_WORD.pattern}")
_QUOTED = re.compile(r"“[^“”]*”|\"[^\"\n]*\"|「[^「」]*」|『[^『』]*』|《[^《》]*》")
_FRAME = re.compile(
    r"an?|the|is|are|was|were|be|do|does|did|has|have|had|of|in|on|at|by|for|from|to|with|and|or|not|that|which|who"
    r"|whose|what|when|where|why|how|this|it|its|can|will|means?|word|character",
    re.IGNORECASE,
)
"""Words that make a sentence English, whatever word it asks about; the words of formulae (sin, km, AB) do not."""

HAN_SHARE = 0.3
"""The least share of Han characters among Han characters and Latin words that makes a text Chinese.

One Han character carries about as much as one short word, and a Chinese problem may quote English terms. An English
problem that quotes a Chinese word or two stays English.
"""
LEAST_FRAME = 2
HAN_OF_A_FRAME = 2
"""An English sentence about a Chinese word without quotation marks around it (What does 學習 mean?) has at least
`LEAST_FRAME` of the `_FRAME` words. For each of them it may have up to this many Han characters, or one if it begins
with a Han character (學習 means to learn)."""


def language_of(text: str) -> Language:
    """The language of a text: `zh` or `en`, by the share of Han characters among Han characters and Latin words.

    A text without either is `en`. The text inside quotation marks does not count, unless there is nothing else.
    """
    if text.isascii():
        return "en"
    unquoted = _QUOTED.sub(" ", text)
    if not _HAN.search(unquoted) and not _WORD.search(unquoted):
        unquoted = text
    han, words = sum(map(len, _HAN.findall(unquoted))), _WORD.findall(unquoted)
    if not han or han / (han + len(words)) < HAN_SHARE:
        return "en"
    frame = sum(_FRAME.fullmatch(word) is not None for word in words)
    if frame < LEAST_FRAME:
        return "zh"
    first = _FIRST.search(unquoted)
    most = frame * (HAN_OF_A_FRAME if first is not None and first[0].isascii() else 1)
    return "en" if han <= most else "zh"
