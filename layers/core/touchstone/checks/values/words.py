"""Reads answers that are not mathematics: options, true and false, nothing and everything, and words."""

import re
from fractions import Fraction

from touchstone.checks.notation.tokens import folded
from touchstone.checks.notation.trees import INFINITIES, Number
from touchstone.checks.values import kinds
from touchstone.checks.values.kinds import EMPTY, REALS, Ambiguous, Choice, Quantity, Truth, Value, Weekday, Words
from touchstone.packaged import own_patterns, own_table

_MEANINGS: dict[str, Value] = {
    "does not exist": Words("does not exist"),
    "true": Truth(true=True),
    "false": Truth(true=False),
    "nothing": EMPTY,
    "everything": REALS,
    "noon": kinds.Clock(43_200),
    "midnight": kinds.Clock(0),
    "infinity": Quantity(INFINITIES[0]),
    "negative infinity": Quantity(INFINITIES[1]),
    **{day: Weekday(day) for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")},
    # "sat" is also the past of "sit", and "sun" the star.
    "sat": Ambiguous((Weekday("saturday"), Words("sat", written="sat"))),
    "sun": Ambiguous((Weekday("sunday"), Words("sun", written="sun"))),
}
_ROMAN = {"II": 2, "III": 3, "IV": 4, "VI": 6, "VII": 7, "VIII": 8}
_OXIDATION: dict[str, Value] = {
    f"{sign}{roman}": Quantity(Number(Fraction(f"{sign}{number}"))) for sign in "+-" for roman, number in _ROMAN.items()
}
FIXED: dict[str, Value] = _OXIDATION | {
    text: _MEANINGS[key] for key, texts in own_table(__file__)["meanings"].items() for text in texts
}
"""Answers of a fixed meaning, with their values."""
PATTERN = own_patterns(__file__)
DENIAL = PATTERN["denial"]
OWN_CASE = PATTERN["own case"]
_LONGEST = max(map(len, FIXED)) + 10
"""The most characters of an answer of fixed meaning, with punctuation around it."""

_COMPARED = (">=", "<=", ">", "<", "!=")
_IN_ORDER = "ABCDEFGH"
_OPTIONS = frozenset(_IN_ORDER)
_SEQUENCE = 3
"""From this many options on, all of them in another order may be steps that were put in order: BAC."""
TRAILING = " .。;；,，？?、"
_PUNCTUATION = str.maketrans(dict.fromkeys(".,;:!?'\"()[]。，；：！？、“”‘’（）《》「」-", " "))
_CODE = ("__", "**")
_SYMBOL = 3
"""Up to this many letters, a word may be a symbol whose case matters: CO is not Co."""
_BLANKS = re.compile(r"\s+")


def fixed(text: str) -> Value | None:
    """The value of an answer of fixed meaning; None for any other answer."""
    if len(text) > _LONGEST:
        return None
    for candidate in (text, text.strip(TRAILING + "!！")):
        found = FIXED.get(candidate) or FIXED.get(candidate.lower())
        if found is not None and candidate != "r":
            return found
    return None


def division(text: str) -> kinds.Division | None:
    """A quotient with its remainder, `5 R 2`, 商5余2, `17/3=5...2`; None for any other text."""
    last = text.rpartition("=")[2].strip() if text[-1:].isdecimal() and not text.isdecimal() else ""
    match = PATTERN["division"].fullmatch(last) if last else None
    return None if match is None else kinds.Division(int(match[1]), int(match[2]))


def choice(text: str) -> Choice | None:
    """The options that a text names: B, (B), 选B, `A and C`; None for any other text."""
    match = PATTERN["choice"].fullmatch(text)
    named = "" if match is None else match[1].replace("and", "").replace("AND", "")
    letters = "".join(letter for letter in named if letter in _OPTIONS)
    ordered = "".join(sorted(letters)) == _IN_ORDER[: len(letters)] and len(letters) >= _SEQUENCE
    sequence = letters if ordered or len(set(letters)) < len(letters) else ""
    return Choice(frozenset(letters), sequence) if named and named == named.upper() else None


def with_sign(text: str) -> str | None:
    """An inequality of one letter in words as one in signs, `x is at least 2` as `x >= 2`; None for any other text."""
    for sign in _COMPARED:
        if (match := PATTERN[sign].fullmatch(text)) is not None:
            name, bound = filter(None, match.groups())
            return f"{name} {sign} {bound}"
    return None


def plain_words(text: str) -> Words | None:
    """Letters, blanks and punctuation as words; None if no word remains."""
    kept = " ".join(PATTERN["articles"].sub(" ", folded(text)).lower().translate(_PUNCTUATION).split())
    short = (len(kept) <= _SYMBOL and kept.isascii()) or OWN_CASE.search(text) is not None
    return Words(kept, written=text.strip(TRAILING + "!()\"'") if short else "") if kept else None


def words(text: str) -> Words | None:
    """A text as words, without case, articles and punctuation; None for program code and for an empty text.

    A text with signs or numbers that was not read as mathematics is kept as written, without spaces and dollar signs.
    """
    if any(mark in text for mark in _CODE):
        return None
    plain = PATTERN["style"].sub(" ", text)
    if PATTERN["mathematics"].search(plain):
        kept = _BLANKS.sub("", text.replace("$", ""))
        return Words(kept, plain=False) if kept else None
    return plain_words(plain)
