"""Answers in words: whether two short answers visibly say different things, if no check reads a value in them.

`equivalent` cannot tell "Emerald" from "Ruby": it knows no words. Two short answers that share no wording need not be
different (H2O, water). But nothing shows them to be the same either, so such a pair carries no verdict.
"""

import re
from collections.abc import Sequence

from touchstone.text import normalised

SHORT_WORDS = 6
"""The most words of a short answer: names, titles and terms seldom have more. A longer answer is prose, which two
people who agree word differently."""
HAN_A_WORD = 2
"""How many Han characters count as one word: most Chinese words have two."""
PLURAL_FROM = 4
"""The least letters of a word whose final s may be an ending (rubies, increases). Shorter words are often whole with it
(gas)."""

type Words = tuple[str, ...]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_LETTER = rf"(?![{_HAN}])[^\W\d_]"
_WORD = re.compile(
    rf"[{_HAN}]"
    rf"|(?:(?<![\w)])[+\-−])?\d++(?:[.,]\d++)*+(?!{_LETTER})"
    rf"|(?:(?![{_HAN}])[^\W_])+(?:['’](?:{_LETTER})+)?"
)
_ARTICLE = re.compile(r"\b(?:[Tt]he|THE|[Aa]n|AN|a)\b(?=\s+\w)")
"""Articles in English, which do not count. A capital A is not among them: it may name an option, a vitamin or a point,
and at the beginning of a sentence it does no harm."""
_NOT = frozenset({"not", "no", "never", "nor", "neither", "without", "cannot"})
_NOT_HAN = frozenset("不没沒未")
_NEAR = 2
"""How many words before another word a `not` may stand to deny it (not possible, is not a possible)."""
_LETTER_OF_OPTION = re.compile(r"\W*+(?:option|choice|answer|选项?|選項?)?\W*+([A-H])\W*+", re.IGNORECASE)
_OPTION = re.compile(r"(?<![^\W_])[(（\[]?([A-H])\s?[.．、:：)）\]]")


def differ_in_words(given: str, own: str, *, problem: str = "") -> bool:
    """Whether both answers are short and neither contains the other, in whatever case, width and punctuation.

    Articles and plural endings do not count. A part that the rest denies ("not possible") is not contained. The letter
    of an option stands for the text that `problem` lists under it. False also if one of the answers holds no word.
    """
    one, other = _words(given), _words(own)
    if not one or not other or _length(one) > SHORT_WORDS or _length(other) > SHORT_WORDS:
        return False
    ones = [one, *_of_option(given, problem)]
    others = [other, *_of_option(own, problem)]
    return not any(_contains(left, right) or _contains(right, left) for left in ones for right in others)


def _words(text: str) -> Words:
    """The words, numbers and Han characters of a text, with case and width folded."""
    plain = _ARTICLE.sub(" ", normalised(text, "NFKC"))
    return tuple(_singular(found[0].casefold()) for found in _WORD.finditer(plain))


def _singular(word: str) -> str:
    """A word without the final s of a plural or a verb.

    The result need not be a word: both forms must give the same.
    """
    ending = len(word) >= PLURAL_FROM and word.isascii() and word.isalpha() and word[-1] == "s" and word[-2] != "s"
    return word[:-1] if ending else word


def _length(words: Words) -> float:
    return sum(1 / HAN_A_WORD if re.match(rf"[{_HAN}]", word) else 1 for word in words)


def _contains(whole: Words, part: Words) -> bool:
    """Whether `part` occurs in `whole` word by word, and is not denied there."""
    starts = range(len(whole) - len(part) + 1)
    return bool(part) and any(
        whole[at : at + len(part)] == part and not _denied(whole[max(0, at - _NEAR) : at]) for at in starts
    )


def _denied(before: Sequence[str]) -> bool:
    """Whether the words before another word deny it."""
    return any(word in _NOT or word.endswith("n't") for word in before) or (bool(before) and before[-1] in _NOT_HAN)


def _of_option(answer: str, problem: str) -> tuple[Words, ...]:
    """The words that a problem lists under the letter that an answer consists of.

    Empty if the answer is no such letter, or if the problem lists nothing under it.
    """
    letter = _LETTER_OF_OPTION.fullmatch(answer)
    if letter is None:
        return ()
    listed = list(_OPTION.finditer(problem))
    ends = [*(found.start() for found in listed[1:]), len(problem)]
    wanted = letter[1].upper()
    texts = (problem[found.end() : end] for found, end in zip(listed, ends, strict=False) if found[1] == wanted)
    return tuple(_words(text.partition("\n")[0]) for text in texts)
