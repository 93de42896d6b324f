"""Numbers whose point or comma separates thousands in one country and decimals in another: 1.200 and 1,200."""

import re
from itertools import product

_EITHER = re.compile(
    r"(?<![\w.,])[1-9]\d{0,2}(?P<mark>\.|,|\{,\})\d{3}(?!\d|[.,]\d|[eE]|\{,\}|\s?(?:[*×·⋅^]|\\times|\\cdot))", re.ASCII
)
"""A number that has both readings. The mantissa of a power of ten has decimals."""
_SETTLED = re.compile(
    r"(?<![\d.])(?:0|\d{4,30}+)?\.\d|\d\.(?:\d{1,2}+|\d{4,30}+)(?![.\d])|\d,\d{3},|[\u3400-\u9fff]|\b(?:the|answer)\b",
    re.IGNORECASE,
)
"""Another number, or a word, which shows that the point of a text is a decimal point."""


def read_elsewhere(answers: tuple[str, str], texts: tuple[str, str]) -> list[tuple[str, str]]:
    """Two answers with the separators of their numbers as other countries read them; empty without such numbers.

    `texts` are the whole texts. Each answer may come from another country, unless both have the same separator.
    """
    found = [
        list(_EITHER.finditer(answer)) if _EITHER.search(answer) and not _SETTLED.search(text) else []
        for answer, text in zip(answers, texts, strict=True)
    ]
    if not any(found):
        return []
    ways = [(answer, _exchanged(answer)) if each else (answer,) for answer, each in zip(answers, found, strict=True)]
    marks = [{number["mark"] for number in each} for each in found]
    if not marks[0].isdisjoint(marks[1]):
        ways = [(way[-1],) for way in ways]
    return [(given, expected) for given, expected in product(*ways) if (given, expected) != answers]


def _exchanged(answer: str) -> str:
    return _EITHER.sub(lambda number: number[0].replace(number["mark"], "" if number["mark"] == "." else "."), answer)
