"""The words of a text as they are compared without a judge: in English words, in Chinese characters, and symbols."""

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
SHORT = 3
"""Of words up to this many letters case tells one from another (AA, Aa; mg, Mg), but for the first of a text, and in a
text without small letters.
"""

_FUNCTION_WORDS = own_table(__file__, "function_words.json")
STOP_WORDS = frozenset[str](_FUNCTION_WORDS["stop_words"])
"""Words that carry no answer."""
NEGATIONS = frozenset[str](_FUNCTION_WORDS["negations"])
"""Words that turn what is asked into its reverse."""


@dataclass(frozen=True, slots=True)
class ComparedWord:
    """A word: what it is compared by, its kind, and where it stands in the text that is shown."""

    key: str
    kind: str
    start: int
    end: int

    @property
    def tells(self) -> bool:
        """Whether it could be what tells one text from another, or an answer."""
        return self.key.casefold() not in STOP_WORDS


def words_of(text: str) -> tuple[ComparedWord, ...]:
    """The words of a text that has been `shown`."""
    return tuple(_words(text))


def read(text: str) -> tuple[ComparedWord, ...]:
    """The words of a text as a learner sees it; one without any (a row of dots) is a word by itself."""
    seen = shown(text)
    return words_of(seen) or (ComparedWord(seen, "symbol", 0, len(seen)),)


def same(text: str) -> tuple[str, ...]:
    """What all ways to type a text share, and no other text has; `x > 1` is not `x < 1`, and C not C++."""
    return tuple(word.key.casefold() for word in read(text))


def _words(text: str) -> Iterator[ComparedWord]:
    folded = text.isupper()
    first = True
    for found in _WORD.finditer(text):
        kind = str(found.lastgroup)
        whole = found[0].removesuffix("'s").removesuffix("'S") if kind == "word" else found[0]
        key = whole if kind == "word" and len(whole) <= SHORT and not (first or folded) else whole.casefold()
        yield ComparedWord(key, kind, found.start(), found.end())
        first = False
