"""Grammatical cues in English: an article or a verb at the end of the question that fits the key and not the others."""

import re
from collections.abc import Iterator

from touchstone.material import Question
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import Key, shown

_BLANK = r"(?:_{2,}+|\[[^\]]{0,200}\]|\(\s*+\)|…|\.{3})"
_ARTICLE = re.compile(rf"\b(?P<article>an?)\s*+(?:{_BLANK}|[:.?]?\s*+$)", re.IGNORECASE)
_VERB = re.compile(rf"\b(?P<verb>is|are|was|were)\s*+(?:{_BLANK}\s*+[.?]?|[:.]?)\s*+$", re.IGNORECASE)
_VOWEL = re.compile(r"(?:hour|honest|honou?r|heir|8|11(?!\d)|18(?!\d))")
_CONSONANT = re.compile(r"(?:eu|ew|one\b|once\b|uni(?![nm])|us[aeiu]|ut[ei]|ur[aio]|uk|ub[ie]|\d)")
"""Written with a vowel and spoken with a consonant, or a number that is (all but 8, 11 and 18)."""
_NOUN_WORDS = 3
"""Words of the longest choice whose number its last word's ending tells."""
_NO_PLURAL = ("ss", "us", "is", "ics", "'s")


def grammar_flaws(question: Question, key: Key) -> Iterator[Flaw]:
    """The cues of one question with one key."""
    if question.kind != "single_choice" or len(key.right) != 1 or not key.distractors:
        return
    stem = shown(question.question_text)
    right = key.choices[key.right[0]]
    others = [key.choices[place] for place in key.distractors]
    if found := _ARTICLE.search(stem):
        wanted = found["article"].casefold() == "an"
        if _vowel(right) is wanted and any(
            _vowel(other) is not wanted and _vowel(other) is not None for other in others
        ):
            yield Flaw(label="GRAMMATICAL_CUE", values={"cue": found["article"]})
    elif found := _VERB.search(stem):
        plural = found["verb"].casefold() in ("are", "were")
        if _plural(right) is plural and all(_plural(other) is (not plural) for other in others):
            yield Flaw(label="GRAMMATICAL_CUE", values={"cue": found["verb"]})


def _vowel(choice: str) -> bool | None:
    """Whether it begins with the sound of a vowel; None for what may be spelled out, and for other scripts."""
    first = re.match(r"[A-Za-z\d]+", choice)
    if first is None or (len(first[0]) > 1 and first[0].isupper()):
        return None
    word = choice.casefold()
    return bool(_VOWEL.match(word)) or (word[0] in "aeiou" and not _CONSONANT.match(word))


def _plural(choice: str) -> bool | None:
    """Whether a short common noun has the form of a plural; None for names, numbers and anything longer."""
    words = choice.strip(" .").split()
    if not 1 <= len(words) <= _NOUN_WORDS or not re.fullmatch(r"[a-z'-]{3,}", words[-1]):
        return None
    return words[-1].endswith("s") and not words[-1].endswith(_NO_PLURAL)
