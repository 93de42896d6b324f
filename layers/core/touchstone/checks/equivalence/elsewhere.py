"""Numbers that are written alike and mean another value elsewhere: 1.200 (or 1200), 1,200 (or 1.2), 3-1/2 (or 3½)."""

import re
from itertools import product

from touchstone.checks.equivalence.extraction import is_foreign

_EITHER = re.compile(
    r"(?<![\w.,])[1-9]\d{0,2}(?P<mark>\.|,|\{,\})\d{3}(?!\d|[.,]\d|[eE]|\{,\}|\s?(?:[*×·⋅^]|\\times|\\cdot))", re.ASCII
)
"""A number whose point or comma separates thousands or decimals. The mantissa of a power of ten has decimals."""
_SETTLED = re.compile(
    r"(?<![\d.])(?:0|\d{4,30}+)?\.\d|\d\.(?:\d{1,2}+|\d{4,30}+)(?![.\d])|\d,\d{3},|[\u3400-\u9fff]|\b(?:the|answer)\b",
    re.IGNORECASE,
)
"""Another number, or a word, which shows that the point of a text is a decimal point."""
_MIXED = re.compile(r"(?P<whole>\d{1,4})(?P<mark>-)(?P<over>\d{1,3})/(?P<under>\d{1,3})", re.ASCII)
"""A mixed number with a hyphen, as American trades write it, or a difference."""


def read_elsewhere(answers: tuple[str, str], texts: tuple[str, str], *, same: bool) -> list[tuple[str, str]]:
    """Two answers, called the same or different, with their numbers as they are read elsewhere; empty without such.

    `texts` are the whole texts. Each answer may come from elsewhere, unless both have the same sign in their numbers.
    A separator counts where the answers differ as they are read here, or where their text is of another language.
    """
    other = [_exchanged(answer, text, same=same) for answer, text in zip(answers, texts, strict=True)]
    if not any(marks for _, marks in other):
        return []
    together = not other[0][1].isdisjoint(other[1][1])
    ways = [
        (found,) if together else dict.fromkeys((answer, found))
        for answer, (found, _) in zip(answers, other, strict=True)
    ]
    return [(given, expected) for given, expected in product(*ways) if (given, expected) != answers]


def _exchanged(answer: str, text: str, *, same: bool) -> tuple[str, set[str]]:
    """The answer as it is read elsewhere, and the signs that are read otherwise there."""
    if (mixed := _MIXED.fullmatch(answer.strip("$ "))) is not None and int(mixed["over"]) < int(mixed["under"]):
        return f"{mixed['whole']} {mixed['over']}/{mixed['under']}", {"-"}
    marks = set() if same and not is_foreign(text) else {number["mark"] for number in _EITHER.finditer(answer)}
    if not marks or _SETTLED.search(text):
        return answer, set()
    return _EITHER.sub(
        lambda number: number[0].replace(number["mark"], "" if number["mark"] == "." else "."), answer
    ), marks
