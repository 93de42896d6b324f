"""Answers that are no mathematics: options, true and false, nothing and everything, and words."""

import re

from touchstone.checks.notation.tokens import folded
from touchstone.checks.notation.trees import INFINITIES
from touchstone.checks.values.kinds import EMPTY, REALS, Ambiguous, Choice, Quantity, Truth, Value, Weekday, Words
from touchstone.packaged import own_table

_MEANINGS: dict[str, Value] = {
    "does not exist": Words("does not exist"),
    "true": Truth(true=True),
    "false": Truth(true=False),
    "nothing": EMPTY,
    "everything": REALS,
    "infinity": Quantity(INFINITIES[0]),
    "negative infinity": Quantity(INFINITIES[1]),
    **{day: Weekday(day) for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")},
    # The past of sit, and the star.
    "sat": Ambiguous((Weekday("saturday"), Words("sat", written="sat"))),
    "sun": Ambiguous((Weekday("sunday"), Words("sun", written="sun"))),
}
FIXED = {text: _MEANINGS[meaning] for meaning, texts in own_table(__file__).items() for text in texts}
"""Answers of a fixed meaning."""
_LONGEST = max(map(len, FIXED)) + 10
"""Characters of such an answer with the punctuation around it, at most."""

DENIAL = re.compile(
    r"\b(?:not|cannot|never|neither|nor|wrong|incorrect|reject(?:s|ed)?|discard(?:s|ed)?)\b|n['’]t\b"
    r"|^[\s$]*+(?:\\neq?(?![A-Za-z])|≠|!=)|不(?!等式)|[并並绝絕而]非|[错錯]|[舍捨]去"
    r"|\b(?:give or take|plus or minus|as (?:many|few|much|little) as)\b"
    r"|\b(?:or (?:so|thereabouts)|and (?:up|a bit|a little|change|then some|counting))\W*$",
    re.IGNORECASE,
)
"""What says of a value that it is not the one, or no exact one: beside it, no value is read."""
_LETTERS = r"[A-H](?:\s?(?:[,、;和及&]|and)?\s?[A-H]){0,7}+"
_CHOICE = re.compile(
    rf"(?:(?:应?[选選][项項]?|[选選][择擇]|故[选選]|options?|choice|answer)\s?:?\s?(?=[(\[A-H]))?[(\[]?\s?({_LETTERS})\s?[)\]]?(?:[选選][项項]|[项項])?",
    re.IGNORECASE,
)
_OPTIONS = frozenset("ABCDEFGH")
TRAILING = " .。;；,，？?、"
_ARTICLES = re.compile(r"^A(?=\s+[a-z])|[tTaA](?<!\w.)(?:(?<=[tT])he|(?<=T)HE|(?<=[aA])n|(?<=a))(?=\s+\w)")
"""Articles before a word; a capital A elsewhere is a name (vitamin A)."""
_PUNCTUATION = str.maketrans(dict.fromkeys(".,;:!?'\"()[]。，；：！？、“”‘’（）《》「」-", " "))
_MATHEMATICS = re.compile(r"[\d^_=<>|*/+\\{}$%°√∞±×÷≤≥≠≈∈∪∩@#~\u2190-\u22ff]|(?<=[A-Za-z])'(?![A-Za-z])")
"""Characters of a text that is more than words: where it was not read, nothing of it may be dropped."""
_CODE = ("__", "**")
_SYMBOL = 3
"""Letters up to which a word may be a symbol whose case matters: CO is no Co."""
_BLANKS = re.compile(r"\s+")
_STYLE = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mbox|displaystyle|left|right)(?![A-Za-z])|[${}]")


def fixed(text: str) -> Value | None:
    """The value of an answer of a fixed meaning; None for any other."""
    if len(text) > _LONGEST:
        return None
    for candidate in (text, text.strip(TRAILING + "!！")):
        found = FIXED.get(candidate) or FIXED.get(candidate.lower())
        if found is not None and candidate != "r":
            return found
    return None


def choice(text: str) -> Choice | None:
    """The options that a text names: B, (B), 选B, `A and C`; None where it is something else."""
    match = _CHOICE.fullmatch(text)
    named = "" if match is None else match[1].replace("and", "").replace("AND", "")
    return Choice(_OPTIONS.intersection(named)) if named and named == named.upper() else None


def plain_words(text: str) -> Words | None:
    """Letters, blanks and punctuation as words; None for nothing."""
    kept = " ".join(_ARTICLES.sub(" ", folded(text)).lower().translate(_PUNCTUATION).split())
    short = len(kept) <= _SYMBOL and kept.isascii()
    return Words(kept, written=text.strip(TRAILING + "!()\"'") if short else "") if kept else None


def words(text: str) -> Words | None:
    """A text as words; None for program code, which is no answer, and for nothing.

    Words are compared without case, articles and punctuation. A text with signs or numbers that was not read as
    mathematics is compared as it stands, but for spaces.
    """
    if any(mark in text for mark in _CODE):
        return None
    plain = _STYLE.sub(" ", text)
    if _MATHEMATICS.search(plain):
        kept = _BLANKS.sub("", text.replace("$", ""))
        return Words(kept, plain=False) if kept else None
    return plain_words(plain)
