"""The language of a problem, recognised from its script."""

import re
from typing import Literal

type Language = Literal["zh", "en"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
"""A Latin word of two letters or more: single letters are variables, and `\\frac` is LaTeX, not English."""

HAN_SHARE = 0.3
"""Least share of Han characters among Han characters and Latin words at which a text is Chinese.

One Han character carries about as much as one short word, and a Chinese problem may quote English terms; an English
problem that quotes a Chinese word or two stays English.
"""


def language_of(text: str) -> Language:
    """`zh` or `en`, by the share of Han characters among Han characters and Latin words; `en` where there are none."""
    han = len(_HAN.findall(text))
    words = len(_WORD.findall(text))
    return "zh" if han and han / (han + words) >= HAN_SHARE else "en"
