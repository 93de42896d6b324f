"""Recognises answers without content, which are refused before any judge is asked.

Judges were seen to pass ":", "Thought process:" or "解" alone (Zhao et al. 2025, "One Token to Fool LLM-as-a-Judge").
The rule: remove formatting (markup, punctuation, invisible characters), then the phrases that only announce an answer
(`LEAD_INS`). If nothing is left, the answer has no content.

Decisions in disputable cases:
- A sign that pupils answer with is content: √ × ✓ ✗ ○ > < = + ∅; so is any letter or digit: x, B, 是, 0, None.
- "N/A", "TBD" and "TODO" say that there is no answer: without content. "I don't know" and "null" are answers, if
  rarely right ones: content.
- "{}", "[]" and "-" are placeholders, not sets or signs: without content. ∅ and − (the minus sign) are content.
- "Solution" is announced, never answered, though it is a word of chemistry: without content.
- "1.", "a)" and "Given" may be answers: content. "Given:" and "Step 1:" announce one: without content.
- "In short", "to find" and "第三步" may be answers: content. "In short," and "第三步：" announce one: without content.
- An empty comment, `<img>` and `>` may be what a question about markup asks for: content.
"""

import re
import unicodedata
from html import unescape

from touchstone.kinds import require_texts
from touchstone.packaged import own_patterns, own_table
from touchstone.text import normalised

ANSWER_SIGNS = frozenset("√×✓✔☑✗✘☒❌✅○◯●⭕△▲□■÷±∅∞°→←↑↓⇒⇔♂♀")
"""Symbols that stand for an answer by themselves, beyond those of mathematics (category Sm)."""

INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
"""Characters that Unicode classes as letters but that show nothing."""

ELLIPSES = frozenset(map(ord, "⋮⋯⋰⋱"))
"""Dots that Unicode classes as signs of mathematics."""

_TABLE = own_table(__file__)
LEAD_INS: list[str] = _TABLE["lead_ins"]
"""Phrases that announce an answer; each may repeat and follow the others. Apostrophes are left out."""

_PATTERN = own_patterns(__file__)


class _Shown(dict[int, str]):
    """A table for `str.translate` that computes a character's replacement when the character first occurs.

    A loop over the characters takes ten times as long. The replacement depends on the character alone: combining marks,
    whose order normalisation could change, are removed.
    """

    def __missing__(self, code: int) -> str:
        shown = ""
        for character in "" if code in ELLIPSES else normalised(chr(code), "NFKD"):
            category = unicodedata.category(character)
            if category[0] == "M" or category == "Cf" or character in "'’/" or character in INVISIBLE_LETTERS:
                continue  # Neither shown by itself nor a gap between words: accents, joiners, "let's", "n/a".
            is_shown = category[0] in "LN" or category == "Sm" or character in ANSWER_SIGNS
            shown += character if is_shown and character not in "|~" else " "
        if len(self) < MAX_KEPT:
            self[code] = shown
        return shown


MAX_KEPT = 30_000
"""The most characters whose replacement is kept: more than a language uses, fewer than a stranger may send."""

_SHOWN = _Shown()


def _folded(text: str) -> str:
    """The meaningful characters of a text: letters without case and accents, digits and answer signs, single spaces."""
    return " ".join(text.translate(_SHOWN).casefold().split())


_PHRASES = sorted({_folded(phrase) for phrase in LEAD_INS}, key=len, reverse=True)
_NAMED = f"(?:{'|'.join(_TABLE['kinds'])}) (?:{'|'.join(_TABLE['nouns'])})"
"""Phrases that name the kind of thing that follows: a detailed solution, the correct answer."""
_PHRASE = re.compile(
    f"(?:{'|'.join(_TABLE['openings'])}|{_NAMED} is|(?P<clause>{'|'.join(_TABLE['clauses'])}|{_NAMED})|"
    f"{'|'.join(map(re.escape, _PHRASES))})(?![a-z\u0430-\u044f]) ?"
)
"""One lead-in at the start of a folded text.

The longest phrase is tried first, so that "the answer is" does not leave "is". A letter right behind the phrase makes
another word, so it does not match then. A `clause` such as "in short" may be an answer by itself: it announces an
answer only if more follows.
"""
_LOOKALIKES = str.maketrans("аеорсухіѕјтАВЕКМНОРСТХІЅЈ", "aeopcyxisjtABEKMHOPCTXISJ")
"""Cyrillic letters that look like Latin letters, with those Latin letters."""


def is_contentless(text: str) -> bool:
    """Whether an answer says nothing: it is empty, invisible, mere formatting, or only announces an answer."""
    require_texts(text=text)
    if "&" in text:
        text = unescape(text)
    shown = _PATTERN["markup"].sub(" ", text)
    goes_on = _goes_on(shown)
    if _only_announces(_folded(shown), goes_on=goes_on):
        return True
    disguised = _PATTERN["cyrillic"].search(shown) is not None
    return disguised and _only_announces(_folded(shown.translate(_LOOKALIKES)), goes_on=goes_on)


def _goes_on(text: str) -> bool:
    """Whether more should follow: the text breaks off at a comma or colon, is a heading, or has no letter or digit."""
    shown = "".join(character for character in text if character not in INVISIBLE_LETTERS)
    end = next((at for at in reversed(range(len(shown))) if shown[at] in ",:，：" or shown[at].isalnum()), None)
    return end is None or not shown[end].isalnum() or shown[:end].rpartition("\n")[2].lstrip().startswith("#")


def _only_announces(rest: str, *, goes_on: bool) -> bool:
    """Whether a folded text is empty or consists of lead-ins only.

    A clause as the last lead-in counts only if the text goes on, or if the clause itself consists of `LEAD_INS`.
    """
    at = 0
    while at < len(rest):
        phrase = _PHRASE.match(rest, at)
        if phrase is None:
            return False
        if phrase["clause"] and phrase.end() == len(rest) and not goes_on:
            return phrase["clause"] in _PHRASES or all(word in _PHRASES for word in phrase["clause"].split())
        at = phrase.end()
    return True
