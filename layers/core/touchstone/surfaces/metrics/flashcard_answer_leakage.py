"""flashcard_answer_leakage: does the front of a card give its back away? No judge is asked.

Score: the share of CLEAN cards, as a percentage (0-100); every card has a score. A card LEAKS if the answer stands on
its front in one of these ways: word for word; if it has several words, all of them in any order; if it is a single
word, as the beginning of another word (Newton in Newtonian) or hardly changed (photosynthetic, photosynthesis). A
plural counts as the word itself.

A card does not leak if the front has the answer without giving it away: as one of the choices that it offers ("a fish
or a mammal?", "(A) a fish"), as a word that it quotes to ask about it (the plural of 'sheep'), or as a hidden cloze
(`{{c1::…}}`). Answers such as yes and true, formulas, single letters and characters, and numbers that are short or
stand in a calculation never leak. A cue in the stem is one of the flaws of item writing (Haladyna, Downing & Rodriguez
2002, guideline 28).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from touchstone.material import Deck, Flashcard
from touchstone.packaged import own_patterns
from touchstone.surfaces.catalogue import text_of
from touchstone.surfaces.model import ItemLabel, MetricResult, result
from touchstone.surfaces.options import shown, truth
from touchstone.surfaces.wording import ComparedWord, words_of
from touchstone.text.language import Language, language_of

LEAST_DIGITS = 3
"""Numbers with fewer digits stand on a front by chance."""
LEAST_STEM, SAME_SHARE, CHANGED_LETTERS = 4, 0.7, 8
"""The limits for a single word that is hardly changed. From 4 letters on, a word that begins with the answer gives it
away. From 8 letters on, so does a word that begins alike for seven tenths of its length; shorter words often do so by
chance."""

_CLOZE = re.compile(r"\{\{c\d+::[^{}]{1,500}?(?:::([^{}]{0,200}))?\}\}")
_QUOTED = re.compile(
    r"\"[^\"]{1,40}\"|(?<!\w)'[^']{1,40}'(?!\w)|「[^」]{1,20}」|『[^』]{1,20}』|„[^\"„]{1,40}\"|«[^«»]{1,40}»"
)
_CALCULATION = re.compile(r"[+×÷=*^√]|\s[-−]\s*\d")
_FORMULA = re.compile(r"[+×÷=^√<>≤≥]")
_LETTERED = re.compile(r"[(\[]?\b[A-Za-z][.)\]、:]\s*(?:(?:an?|the)\s+)?$", re.IGNORECASE)
_OFFERED = own_patterns(__file__)
"""How a front offers choices: see the notes of the file."""

_SENTENCES: Mapping[Language, tuple[str, str, str]] = {
    "en": ("The front does not hold the answer.", "The answer stands on the front: {words}.",
           "Ask without these words, or leave a blank in their place."),
    "zh": ("正面没有透露答案。", "答案出现在正面：{words}。", "换一种问法，不用这些词，或以空格代替。"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Front:
    """A front as it is searched: without hidden and quoted words."""

    text: str
    words: tuple[ComparedWord, ...]

    @property
    def offers(self) -> bool:
        """Whether the front offers choices: it has a word for "or", or asks which of several things joined by "and"."""
        found = {name: _OFFERED[name].search(self.text) is not None for name in ("or", "which", "and")}
        return found["or"] or (found["which"] and found["and"])

    def piece(self, found: Sequence[ComparedWord]) -> str:
        """The text from the first of some words to the last."""
        return self.text[found[0].start : found[-1].end]


def flashcard_answer_leakage(deck: Deck, *, language: Language | None = None) -> MetricResult:
    """Measure a deck. `language` is the language of all reasons; None: that of the deck as a whole."""
    told = language or language_of(text_of(deck))
    return result("flashcard_answer_leakage", tuple(_item(card, told) for card in deck.cards))


def _item(card: Flashcard, language: Language) -> ItemLabel:
    leak = _leak(card)
    clean, leaks, suggestion = _SENTENCES[language]
    if leak is None:
        return ItemLabel(item=card.id, label="CLEAN", value=1.0, reason=clean)
    return ItemLabel(
        item=card.id, label="LEAKS", value=0.0, reason=leaks.format(words=", ".join(leak)), suggestion=suggestion
    )


def _leak(card: Flashcard) -> tuple[str, ...] | None:
    """The words of the front that give the back away; None if no words do."""
    text = _QUOTED.sub(" ¶ ", shown(_CLOZE.sub(r" \1 ", card.front)))
    front = _Front(text, tuple(word for word in words_of(text) if word.kind != "symbol"))
    answer = _answer(card.back)
    if not answer or not _could_be_given(answer, front):
        return None
    keys = [_folded(word) for word in answer]
    offered = False
    for start in range(len(front.words) - len(keys) + 1):
        found = front.words[start : start + len(keys)]
        if [_folded(word) for word in found] == keys and _together(front, found):
            if not _offered(front, found):
                return (front.piece(found),)
            offered = True
    if offered:
        return None
    return _scattered(answer, front) if len(answer) > 1 else _derived(answer[0], front)


def _answer(back: str) -> tuple[ComparedWord, ...]:
    """The words of an answer that a front could give away.

    There are none for yes, true and the like, and for formulas.
    """
    text = shown(back)
    if truth(text) is not None or _FORMULA.search(text):
        return ()
    words = [word for word in words_of(text) if word.kind != "symbol"]
    telling = [place for place, word in enumerate(words) if word.tells]
    return tuple(words[telling[0] : telling[-1] + 1]) if telling else ()


def _could_be_given(answer: Sequence[ComparedWord], front: _Front) -> bool:
    """Whether the answer is long enough not to stand on a front by accident."""
    if any(word.kind == "word" and len(word.key) > 1 for word in answer):
        return True
    if sum(word.kind == "han" for word in answer) > 1:
        return True
    digits = sum(character.isdigit() for word in answer for character in word.key)
    return digits >= LEAST_DIGITS and not _CALCULATION.search(front.text)


def _folded(word: ComparedWord) -> str:
    """The key by which a word is compared: without case, and in the singular."""
    key = word.key.casefold()
    if word.kind != "word" or len(key) <= LEAST_STEM or not key.endswith("s") or key.endswith(("ss", "us", "is")):
        return key
    if key.endswith("ies"):
        return f"{key[:-3]}y"
    return key[:-2] if key.endswith(("ses", "xes", "zes", "ches", "shes")) else key[:-1]


def _together(front: _Front, found: Sequence[ComparedWord]) -> bool:
    """Whether Chinese characters stand next to each other, or with a dot between as in 列奥纳多·达·芬奇."""
    return all(
        {before.kind, after.kind} != {"han"} or front.text[before.end : after.start] in {"", "·", "•", "‧", "・", "-"}
        for before, after in pairwise(found)
    )


def _offered(front: _Front, found: Sequence[ComparedWord]) -> bool:
    """Whether these words are one of the choices that the front offers."""
    before, after = front.text[: found[0].start], front.text[found[-1].end :]
    if _LETTERED.search(before[-20:]):
        return True
    if not front.offers:
        return False
    return (
        _OFFERED["joined before"].search(before[-20:]) is not None or _OFFERED["joined after"].match(after) is not None
    )


def _scattered(answer: Sequence[ComparedWord], front: _Front) -> tuple[str, ...] | None:
    """All words of an answer of several words, wherever they stand on the front; None if one is missing.

    Chinese characters are not looked for so: they occur by chance.
    """
    keys = {_folded(word) for word in answer if word.tells}
    if any(word.kind == "han" for word in answer) or len(keys) == 1 or front.offers:
        return None
    places = {_folded(word): word for word in front.words}
    if not keys <= places.keys():
        return None
    found = sorted({places[key] for key in keys}, key=lambda word: word.start)
    return tuple(front.text[word.start : word.end] for word in found)


def _derived(answer: ComparedWord, front: _Front) -> tuple[str, ...] | None:
    """A word of the front that begins with the answer, a single word, or begins like it; None if there is none."""
    key = _folded(answer)
    if answer.kind != "word" or len(key) < LEAST_STEM:
        return None
    for word in front.words:
        other = _folded(word)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(key, other, strict=False)))
        begins = same == len(key) < len(other)
        changed = len(key) >= CHANGED_LETTERS and same >= SAME_SHARE * max(len(key), len(other)) and other != key
        if word.kind == "word" and (begins or changed) and not _offered(front, [word]):
            return (front.text[word.start : word.end],)
    return None
