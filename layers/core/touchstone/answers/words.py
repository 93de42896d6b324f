"""Answers in words: whether two short ones visibly say something else, where no check reads a value in them.

`equivalent` is silent on "Emerald" and "Ruby": it knows no words. That two short answers share no wording does not show
them to be different (H2O, water), but nothing shows them to be the same either, so such a pair carries no verdict.
"""

import re
from collections.abc import Sequence

from touchstone.text import normalised

SHORT_WORDS = 6
"""Words of the longest answer that counts as short: names, titles and terms seldom have more. What is longer is prose,
which two people who agree word differently."""
HAN_A_WORD = 2
"""Han characters that count as one word: most Chinese words have two."""
PLURAL_FROM = 4
"""Letters from which a final s may be an ending (rubies, increases): shorter words are often whole with it (gas)."""

type Words = tuple[str, ...]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_LETTER = rf"(?![{_HAN}])[^\W\d_]"
_WORD = re.compile(
    rf"[{_HAN}]"
    rf"|(?:(?<![\w)])[+\-−])?\d++(?:[.,]\d++)*+(?!{_LETTER})"
    rf"|(?:(?![{_HAN}])[^\W_])+(?:['’](?:{_LETTER})+)?"
)
_ARTICLE = re.compile(r"\b(?:[Tt]he|THE|[Aa]n|AN|a)\b(?=\s+\w)")
"""A capital A is none: it may name an option, a vitamin or a point, and where it begins a sentence it does no harm."""
_NOT = frozenset({"not", "no", "never", "nor", "neither", "without", "cannot"})
_NOT_HAN = frozenset("不没沒未")
_NEAR = 2
"""Words before another within which a `not` is about it (not possible, is not a possible)."""
_LETTER_OF_OPTION = re.compile(r"\W*+(?:option|choice|answer|选项?|選項?)?\W*+([A-H])\W*+", re.IGNORECASE)
_OPTION = re.compile(r"(?<![^\W_])[(（\[]?([A-H])\s?[.．、:：)）\]]")


def differ_in_words(given: str, own: str, *, problem: str = "") -> bool:
    """Whether both answers are short and neither contains the other, in whatever case, width and punctuation.

    Articles and plural endings do not count; a part that the rest denies ("not possible") is not contained. The letter
    of an option stands for what `problem` lists under it. False also where one of them holds no word at all.
    """
    one, other = _words(given), _words(own)
    if not one or not other or _length(one) > SHORT_WORDS or _length(other) > SHORT_WORDS:
        return False
    ones = [one, *_of_option(given, problem)]
    others = [other, *_of_option(own, problem)]
    return not any(_contains(left, right) or _contains(right, left) for left in ones for right in others)


def _words(text: str) -> Words:
    """The words, numbers and Han characters of a text, folded."""
    plain = _ARTICLE.sub(" ", normalised(text, "NFKC"))
    return tuple(_singular(found[0].casefold()) for found in _WORD.finditer(plain))


def _singular(word: str) -> str:
    """A word without a plural's or a verb's s; what is left need be no word, only the same for both."""
    ending = len(word) >= PLURAL_FROM and word.isascii() and word.isalpha() and word[-1] == "s" and word[-2] != "s"
    return word[:-1] if ending else word


def _length(words: Words) -> float:
    return sum(1 / HAN_A_WORD if re.match(rf"[{_HAN}]", word) else 1 for word in words)


def _contains(whole: Words, part: Words) -> bool:
    """Whether `part` occurs in `whole` word by word, and is not denied where it does."""
    starts = range(len(whole) - len(part) + 1)
    return bool(part) and any(
        whole[at : at + len(part)] == part and not _denied(whole[max(0, at - _NEAR) : at]) for at in starts
    )


def _denied(before: Sequence[str]) -> bool:
    """Whether the last words before something are a negation of it."""
    return any(word in _NOT or word.endswith("n't") for word in before) or (bool(before) and before[-1] in _NOT_HAN)


def _of_option(answer: str, problem: str) -> tuple[Words, ...]:
    """What a problem lists under the letter that an answer consists of; empty where it is none, or lists nothing."""
    letter = _LETTER_OF_OPTION.fullmatch(answer)
    if letter is None:
        return ()
    listed = list(_OPTION.finditer(problem))
    ends = [*(found.start() for found in listed[1:]), len(problem)]
    wanted = letter[1].upper()
    texts = (problem[found.end() : end] for found, end in zip(listed, ends, strict=False) if found[1] == wanted)
    return tuple(_words(text.partition("\n")[0]) for text in texts)
