"""Sentences that records keep in English, in the reader's language: why nothing was decided, what a proof showed.

The English texts `kept.<name>` are these sentences with gaps. A kept sentence that fits one of them is said by the
text of the same name in the reader's language; so are several in a row if each fits. Any other is shown as it is.
"""

import re
from collections.abc import Mapping
from functools import cache
from string import Formatter

from functions.pages.words import PageTexts
from functions.pages.words import words as in_language

PREFIX = "kept."
MOST_CHARS = 4_000
"""The longest sentence that is looked up: sentences of ours are shorter."""
WHOLE = "sentence"
"""Gaps whose names begin so hold a sentence or a part of one, which is looked up as well."""
SEVERAL = "options"
"""Gaps whose names begin so hold names in a row: `A, B and C`."""
ROLES = "role"
"""Gaps whose names begin so hold a role."""
NAMES = frozenset({
    "limit", "model", "noun", "number", "provider", "requirement", "role", "role_given", "seconds", "status", "times",
})  # fmt: skip
"""Gaps that hold one word: a sentence with several there is somebody else's."""
DEEPEST = 3
_BETWEEN = re.compile(r"(?<=\.) (?=[A-Z])")
"""Between two sentences of a line."""

type Parts = tuple[tuple[str, str | None], ...]
"""The literal parts of a text, each with the name of the gap after it; None after the last part."""


def kept(words: PageTexts, text: str) -> str:
    """A kept text in the reader's language, line by line; lines that are no sentence of ours stay as they are."""
    if words.language == "en" or len(text) > MOST_CHARS:
        return text
    return "\n".join(_all_said(words, line, 0) or line for line in text.split("\n"))


def _all_said(words: PageTexts, text: str, depth: int) -> str | None:
    """What several sentences in a row say, or one; None if they are not ours."""
    told = list[str]()
    for sentence in _BETWEEN.split(text):
        said = _said(words, sentence, depth)
        if said is None:
            return None if sentence == text else _said(words, text, depth)
        told.append(said)
    return "".join(told)


def _said(words: PageTexts, sentence: str, depth: int) -> str | None:
    for name, parts in _sentences():
        filled = _read(parts, sentence)
        if filled is not None:
            told = {gap: _filling(words, gap, value, depth) for gap, value in filled.items()}
            return words(f"kept.{name}", **told)
    return None


def _filling(words: PageTexts, gap: str, value: str, depth: int) -> str:
    if gap.startswith(WHOLE) and depth < DEEPEST:
        return _all_said(words, value, depth + 1) or value
    if gap.startswith(ROLES):
        return words.known(ROLES, value)
    return value.replace(" and ", "、").replace(" or ", "或").replace(", ", "、") if gap.startswith(SEVERAL) else value


@cache
def _sentences() -> tuple[tuple[str, Parts], ...]:
    """The kept sentences by their names: first those that begin with words, and among them those that say most.

    So a sentence that fits several is the one that says most, and one within another is found behind its beginning.
    """
    found = {
        name.removeprefix(PREFIX): _parts(text) for name, text in in_language("en").texts.items() if _is_kept(name)
    }
    return tuple(sorted(found.items(), key=lambda one: (not one[1][0][0], -sum(len(literal) for literal, _ in one[1]))))


def _is_kept(name: str) -> bool:
    return name.startswith(PREFIX)


def _parts(text: str) -> Parts:
    found = [(literal, gap) for literal, gap, _, _ in Formatter().parse(text)]
    return (*found, ("", None)) if found[-1][1] is not None else tuple(found)


def _read(parts: Parts, sentence: str) -> Mapping[str, str] | None:
    """What fills the gaps of a text in a sentence; None if it is another sentence. A gap is never empty.

    Each part is looked for once, from the place where the one before it ended.
    """
    (first, gap), *others = parts
    if not sentence.startswith(first):
        return None
    if gap is None:
        return {} if sentence == first else None
    place, filled = len(first), dict[str, str]()
    for literal, following in others:
        end = sentence.find(literal, place + 1) if following is not None else len(sentence) - len(literal)
        if end <= place or not sentence.startswith(literal, end):
            return None
        filled[gap or ""] = value = sentence[place:end]
        if gap in NAMES and any(map(str.isspace, value)):
            return None
        place, gap = end + len(literal), following
    return filled
