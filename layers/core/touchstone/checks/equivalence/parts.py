"""Answers in numbered or lettered parts: `(a) 5 (b) 7`, `1) A 2) C`, `(1) 3; (2) 4`, `i. 3 ii. 4`."""

import re
from itertools import pairwise

_LABEL = re.compile(
    r"(?:\((?P<inside>\d{1,2}|[a-hA-H]|i{1,3}|iv|vi{0,3})\) ?|"
    r"(?<![^\s,;，；、])(?P<outside>\d{1,2}|[a-hA-H]|i{1,3}|iv|vi{0,3})(?:\) ?|\. ))(?=\S)",
    re.ASCII,
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii")
_LONGEST = 400
_MOST = 12


def parts_of(text: str) -> dict[str, str]:
    """The parts of an answer by their labels, 1, 2, … or a, b, …; empty if it is not in parts from first to last.

    The labels must begin the text and follow each other, and something must stand behind each.
    """
    if len(text) > _LONGEST or not (")" in text or ". " in text):
        return {}
    text = " ".join(text.split())
    labels = list(_LABEL.finditer(text))
    names = [(label["inside"] or label["outside"]).lower() for label in labels]
    if not 1 < len(labels) <= _MOST or labels[0].start() or not _follow_each_other(names):
        return {}
    starts = [label.start() for label in labels[1:]]
    values = [
        text[label.end() : end].strip(" ,;，；、") for label, end in zip(labels, [*starts, len(text)], strict=True)
    ]
    return dict(zip(names, (value.removesuffix(".") for value in values), strict=True)) if all(values) else {}


def _follow_each_other(names: list[str]) -> bool:
    if names == list(_ROMAN[: len(names)]):
        return True
    numbers = [int(name) if name.isdigit() else ord(name) - ord("a") + 1 if len(name) == 1 else 0 for name in names]
    return numbers[0] == 1 and all(second == first + 1 for first, second in pairwise(numbers))
