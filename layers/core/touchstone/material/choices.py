"""Which choices of a question are the same to its learner.

How a choice is written does not count, unless the writing is what the choices differ in: `Its raining` and
`It's raining`, `maxSize` and `MAX_SIZE`, `git add` and `git add .`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from touchstone.packaged import own_patterns
from touchstone.text import FULL_WIDTH, normalised

TYPOGRAPHY = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-"})
"""One form of quotation marks, and one of the minus sign and the dashes."""
_MARKED = re.compile(r"\s*(?:\(\s*([A-Za-z])\s*\)|\[\s*([A-Za-z])\s*\]|([A-Za-z])\s*[.):、])\s*(?=\S)")
_ABOUT_WRITING = own_patterns(__file__)["about writing"]
_LONG_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]{4,}")
_IN_ANY_CASE = re.compile(r"^\w|\w{2,}")
_ENDS = re.compile(r"(?<![\s.。;；,，])[.。;；,，]+$")
_CODE = re.compile(r"[={}\[\]$\\<>`_|&@]|\w\(")
_CODE_ENDS = re.compile(r"(?<![\s.。,，])[.。,，]+$")
_MANY = 3
"""So many choices that differ only in how they are written are about writing. Two may be a slip."""


def comparing(choices: Iterable[str], question: str) -> Callable[[str], str]:
    """The function that gives the form in which the choices of a question are compared: `alike`, or `to_the_letter`.

    They are compared to the letter if the question is about writing, or if three of them, or each of them and another,
    differ only in how they are written.
    """
    if _ABOUT_WRITING.search(question):
        return to_the_letter
    alphanumeric = Counter(form for choice in choices if (form := _letters(choice)))
    times = alphanumeric.values()
    about_writing = sum(times) >= _MANY and (max(times) >= _MANY or min(times) > 1)
    return to_the_letter if about_writing else alike


def unmarked(choices: Sequence[str]) -> tuple[str, ...]:
    """Choices without the letters before them if these are A, B, C … in order. They are in one form of widths."""
    marks = [_MARKED.match(choice) for choice in choices]
    letters = "".join((mark[1] or mark[2] or mark[3]).upper() if mark else " " for mark in marks)
    if letters != "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(choices)]:
        return tuple(choices)
    return tuple(choice[mark.end() :] if mark else choice for choice, mark in zip(choices, marks, strict=True))


def alike(text: str) -> str:
    """The form in which two choices are equal if they are the same to a learner.

    Stops and commas at the end do not count, nor does case in words. Case counts if no word has four letters, in a
    letter by itself, and in code: AA, Aa and aa are different answers, so are mg and Mg, and the gene G and the gene g.
    ß is not ss: they spell different words.
    """
    plain = to_the_letter(text)
    if _CODE.search(plain):
        return _CODE_ENDS.sub("", plain)
    ended = _ENDS.sub("", plain)
    return _IN_ANY_CASE.sub(lambda found: found[0].lower(), ended) if _LONG_WORD.search(ended) else ended


def to_the_letter(text: str) -> str:
    """The form in which two choices are equal if they look the same: with single blanks and one form of widths."""
    plain = text if text.isascii() else normalised(text.translate(FULL_WIDTH).translate(TYPOGRAPHY), "NFC")
    return " ".join(plain.split())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, normalised(text, "NFKD").casefold()))
