"""The words of a text for a comparison without a judge: English words, Chinese characters, and symbols."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.packaged import own_table
from touchstone.surfaces.options import shown

_HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD = re.compile(
    rf"(?P<han>[{_HAN}])"
    rf"|(?P<number>\d+(?:[.,:]\d+)*)"
    rf"|(?P<word>[^\W\d_{_HAN}]+(?:'[^\W\d_{_HAN}]+)*)"
    r"|(?P<symbol>[^\w\s.,;:!?\"'()\[\]{}…。，、；：！？「」『』《》〈〉【】（）·~*/-]|(?<![^\W\d_]{2})[-/*](?=\s*[\w(]))"
)
_BELOW_THE_LINE = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
"""Digits below the line are read as digits, since either is typed: CO₂ and CO2. A power (x²) is no such number."""
SHORT = 3
"""The case of a word counts if it has up to this many letters (AA, Aa; mg, Mg). It does not count in the first word of
a text, and in a text without small letters."""

_FUNCTION_WORDS = own_table(__file__, "function_words.json")
STOP_WORDS = frozenset[str](_FUNCTION_WORDS["stop_words"])
"""Words that carry no answer."""
ARTICLES = frozenset[str](_FUNCTION_WORDS["articles"])
"""Articles of English, German, French and Spanish."""
NEGATIONS = frozenset[str](_FUNCTION_WORDS["negations"])
"""Words that turn a question into its reverse."""


@dataclass(frozen=True, slots=True)
class ComparedWord:
    """A word: the key it is compared by, its kind, and its start and end in the shown text."""

    key: str
    kind: str
    start: int
    end: int

    @property
    def tells(self) -> bool:
        """Whether the word can tell one text from another, or be an answer: whether it is no stop word."""
        return self.key.casefold() not in STOP_WORDS


def words_of(text: str) -> tuple[ComparedWord, ...]:
    """The words of a text. The text is already as `shown` returns it."""
    return tuple(_words(text))


def read(text: str) -> tuple[ComparedWord, ...]:
    """The words of a text as a learner sees it. A text without words (a row of dots) is one word by itself."""
    seen = shown(text)
    return words_of(seen) or (ComparedWord(seen, "symbol", 0, len(seen)),)


def same(text: str) -> tuple[str, ...]:
    """The words of a text, the same for all ways to type it and different for all other texts.

    `x > 1` is not `x < 1`, and C is not C++.
    """
    return tuple(word.key.casefold() for word in read(text))


def _words(text: str) -> Iterator[ComparedWord]:
    folded = text.isupper()
    first = True
    for found in _WORD.finditer(text.translate(_BELOW_THE_LINE)):
        kind = str(found.lastgroup)
        whole = found[0].removesuffix("'s").removesuffix("'S") if kind == "word" else found[0]
        key = whole if kind == "word" and len(whole) <= SHORT and not (first or folded) else whole.casefold()
        yield ComparedWord(key, kind, found.start(), found.end())
        first = False
