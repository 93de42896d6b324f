"""What the words around an answer speak of: `The mean is 5.` and `The median is 5.` agree in their number alone."""

from touchstone.checks.equivalence.extraction import last_sentence, without_lead_in
from touchstone.checks.notation.tokens import GREEK_NAMES
from touchstone.checks.notation.unit_reading import ENGLISH, NOT_COUNTED, is_foreign
from touchstone.checks.values.kinds import Quantity, Ratio, Solutions, Value
from touchstone.packaged import own_patterns

_PATTERN = own_patterns(__file__)
_LONGEST = 200
"""The most characters of a sentence that is searched for its subject."""
_FUNCTION_WORDS = ENGLISH | NOT_COUNTED


def speak_of_others(given: tuple[Value, str, str], expected: tuple[Value, str, str]) -> bool:
    """Whether the words around two equal answers name different quantities. Each answer: value, its text, whole text.

    Both must name one, and each must have a word that the other lacks: `The area is 12` may be `The area of the square
    is 12`, and 12 alone may be either. Sentences of two languages are not compared.
    """
    if is_foreign(given[2]) != is_foreign(expected[2]):
        return False
    mine, theirs = _subject(*given), _subject(*expected)
    if any(map(_is_han, mine)) != any(map(_is_han, theirs)):
        return False
    return bool(mine - theirs) and bool(theirs - mine)


def is_odds(given: tuple[Value, str, str], expected: tuple[Value, str, str]) -> bool:
    """Whether one of two equal answers is a ratio that its text calls odds, and the other is a number."""
    for (value, _, text), (other, _, _) in ((given, expected), (expected, given)):
        if isinstance(value, Ratio) and isinstance(other, Quantity) and _PATTERN["odds"].search(text[-_LONGEST:]):
            return True
    return False


def _subject(value: Value, answer: str, text: str) -> frozenset[str]:
    """The words that say what the value is of: those of its sentence, or of the name before the equals sign."""
    match value:
        case Solutions(alternatives=(((name, _),),)):
            around = "" if name in GREEK_NAMES else name.replace("_", " ")
        case _:
            sentence = without_lead_in(last_sentence(text))
            before, found, behind = sentence.rpartition(answer)
            around = f"{before} {behind}" if found and len(sentence) <= _LONGEST else ""
    words = _PATTERN["word"].findall(_PATTERN["any quantity"].sub(" ", around.lower()))
    return frozenset(_singular(word) for word in words if word not in _FUNCTION_WORDS)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > len("abc") and word.endswith("s") else word


def _is_han(word: str) -> bool:
    return "\u3400" <= word <= "\u9fff"
