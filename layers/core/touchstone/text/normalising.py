"""Unicode's normal forms of a stranger's text, in time and memory that are linear in its length.

`unicodedata.normalize` sorts each run of combining marks by insertion, so that two kinds of marks in turn take
quadratic time, and the compatibility forms write some characters out as whole sentences. Here a run is cut, as
Unicode's Stream-Safe Text Format has it (UAX #15, section 13), and the two longest of those characters stay.
"""

import re
import unicodedata
from typing import Literal

from touchstone.text.marks import NON_STARTERS

type Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

MAX_MARKS = 30
"""Combining marks in a row before the run is cut: UAX #15's bound, above what any language or notation writes."""
MAX_EXPANSION = 7
"""Most characters that one becomes: U+321D, a Korean word in parentheses, has the longest form that is written out."""
JOINER = "\u034f"
"""COMBINING GRAPHEME JOINER, which UAX #15 puts where it cuts: it shows nothing and marks do not move past it."""

_MARKS = f"[{''.join(NON_STARTERS)}]"
_LONG_RUN = re.compile(f"({_MARKS}{{{MAX_MARKS}}})(?={_MARKS})")
_SENTENCES = re.compile("([\ufdfa\ufdfb]+)")
"""Blessings of 18 and 8 letters, each written as one character: no other one becomes more than `MAX_EXPANSION`."""


def normalised(text: str, form: Form) -> str:
    """The text in one of Unicode's normal forms, for text of any length and origin.

    It differs from `unicodedata.normalize` in two things: after each 30 marks in a row stands a `JOINER`, and U+FDFA
    and U+FDFB stay. The result has at most `MAX_EXPANSION` times as many characters as the text.
    """
    if text.isascii():
        return text
    safe = _LONG_RUN.sub(rf"\1{JOINER}", text)
    return "".join(
        piece if number % 2 else unicodedata.normalize(form, piece)
        for number, piece in enumerate(_SENTENCES.split(safe))
    )
