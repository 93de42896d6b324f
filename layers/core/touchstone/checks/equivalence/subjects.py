"""What the words around an answer speak of: `The mean is 5.` and `The median is 5.` agree in their number alone."""

from touchstone.checks.equivalence.extraction import last_sentence, without_lead_in
from touchstone.checks.equivalence.reading import ReadAnswer
from touchstone.checks.notation.unit_reading import ENGLISH, FOREIGN, is_foreign
from touchstone.checks.values.kinds import Quantity, Ratio, Solutions, Truth
from touchstone.packaged import own_patterns
from touchstone.text import normalised

_PATTERN = own_patterns(__file__)
_LONGEST = 200
"""The most characters of a sentence that is searched for its subject."""
_ABBREVIATION = 5
"""The most capitals of an abbreviation; a longer word is one that is written in capitals."""
_FUNCTION_WORDS = ENGLISH | FOREIGN


def speak_of_others(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether the words around two equal answers name different quantities.

    Both must name one, and each must have a word that the other lacks: `The area is 12` may be `The area of the square
    is 12`, and 12 alone may be either. Sentences of two languages are not compared.
    """
    named = isinstance(given.value, Solutions) and isinstance(expected.value, Solutions)
    foreign = is_foreign(given.text), is_foreign(expected.text)
    if named or (foreign[0] != foreign[1] and _is_english(expected.text if foreign[0] else given.text)):
        return False  # equations under two names are compared as they are
    subjects = _subject(given), _subject(expected)
    numbers = [{word for word in subject if word.isdigit()} for subject in subjects]
    if all(numbers) and numbers[0] != numbers[1]:
        return True
    mine, theirs = (subjects[place] - subjects[1 - place] - numbers[place] for place in (0, 1))
    # 面积 is no other word than `area`, nor is IQR another than `interquartile range`, or x another than `width`.
    alike = all(any(map(kind, mine)) == any(map(kind, theirs)) for kind in (_is_han, _is_abbreviation, _is_letter))
    return bool(mine) and bool(theirs) and alike


def is_odds(given: ReadAnswer, expected: ReadAnswer) -> bool:
    """Whether one of two equal answers is a ratio that its text calls odds, and the other is a number."""
    return any(
        isinstance(one.value, Ratio)
        and isinstance(other.value, Quantity)
        and _PATTERN["odds"].search(one.text[-_LONGEST:]) is not None
        for one, other in ((given, expected), (expected, given))
    )


def _subject(answer: ReadAnswer) -> frozenset[str]:
    """The words that say what the value is of: those of its sentence, or of the name before the equals sign."""
    sentence = normalised(without_lead_in(last_sentence(answer.text)), "NFKC")
    match answer.value:
        case Truth():
            around = ""  # what is called true is compared as a whole
        case Solutions(alternatives=(((_, _),),)):
            named, sign, _ = sentence.replace(":", "=").partition("=")
            around = named.replace("_", " ") if sign else ""
        case _:
            before, found, behind = sentence.rpartition(normalised(answer.part, "NFKC"))
            around = f"{before} {behind}" if found else ""
    words = _PATTERN["word"].findall(_PATTERN["any quantity"].sub(" ", around)) if len(sentence) <= _LONGEST else []
    return frozenset(_singular(word) for word in words if word.lower() not in _FUNCTION_WORDS)


def _is_english(text: str) -> bool:
    return not ENGLISH.isdisjoint(text.lower().split())


def _is_abbreviation(word: str) -> bool:
    return word.isupper() and 1 < len(word) <= _ABBREVIATION


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isascii() and word.isalpha()


def _singular(word: str) -> str:
    if _is_abbreviation(word) or _is_letter(word):
        return word
    return word[:-1].lower() if len(word) > len("abc") and word.endswith("s") else word.lower()


def _is_han(word: str) -> bool:
    return "\u3400" <= word <= "\u9fff"
