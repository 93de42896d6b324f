"""Recognises answers without content, which are refused before any judge is asked.

Judges were seen to pass ":", "Thought process:" or "解" alone (Zhao et al. 2025, "One Token to Fool LLM-as-a-Judge").
The rule: take away what formats (markup, punctuation, invisible characters), then what only announces an answer
(`LEAD_INS`); an answer of which nothing is left has no content.

Where one could argue, it is settled so:
- A sign that pupils answer with is content: √ × ✓ ✗ ○ > < = + ∅; so is any letter or digit: x, B, 是, 0, None.
- "N/A", "TBD" and "TODO" say that there is no answer: without content. "I don't know" and "null" are answers, if
  rarely right ones: content.
- "{}", "[]" and "-" are placeholders, not sets or signs: without content. ∅ and − (the minus sign) are content.
- "Solution" is announced, never answered, though it is a word of chemistry: without content.
"""

import re
import unicodedata

from touchstone.checks.packaged import own_table
from touchstone.text import normalised

ANSWER_SIGNS = frozenset("√×✓✔☑✗✘☒❌✅○◯●⭕△▲□■÷±∅∞°→←↑↓⇒⇔♂♀")
"""Symbols that stand for an answer by themselves, beyond those of mathematics (category Sm)."""

INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
"""Letters by category that show nothing."""

LEAD_INS: list[str] = own_table(__file__)["lead_ins"]
"""Phrases that announce an answer; each may repeat and follow the others. Apostrophes are left out."""

_MARKUP = re.compile(
    r"</?[a-zA-Z]{1,12}/?>|&[a-z]{2,8};|\\(?:boxed|fbox|text|textbf|textit|mathrm|mathbf|displaystyle|left|right|quad|"
    r"qquad|begin|end|hspace|vspace|newline|section|par)(?![a-zA-Z])|\b(?:step|part|method)\s?\d{1,2}\s?[:.)：]",
    re.IGNORECASE,
)


class _Shown(dict[int, str]):
    """What `str.translate` puts for each character, found out when it first occurs: a loop takes ten times as long.

    A character says by itself what is left of it, since the marks that could move past one another are left out.
    """

    def __missing__(self, code: int) -> str:
        shown = "".join(map(_shown, normalised(chr(code), "NFKD")))
        if len(self) < MAX_KEPT:
            self[code] = shown
        return shown


MAX_KEPT = 30_000
"""Characters of which it is kept what they show: more than a language writes, less than a stranger may send."""


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "M" or category == "Cf" or character in "'’/" or character in INVISIBLE_LETTERS:
        return ""  # Neither shown by itself nor a gap between words: accents, joiners, "let's", "n/a".
    is_shown = category[0] in "LN" or category == "Sm" or character in ANSWER_SIGNS
    return character if is_shown and character not in "|~" else " "


_SHOWN = _Shown()


def _folded(text: str) -> str:
    """What shows and means something: letters without case and accents, digits and answer signs, spaces between."""
    return " ".join(text.translate(_SHOWN).casefold().split())


_PHRASES = sorted({_folded(phrase) for phrase in LEAD_INS}, key=len, reverse=True)
_PHRASE = re.compile(f"(?:{'|'.join(map(re.escape, _PHRASES))})(?![a-z\u0430-\u044f]) ?")
"""The longest phrase first, so that "the answer is" is not left with "is"; a letter behind it makes another word."""


def is_contentless(text: str) -> bool:
    """Whether an answer says nothing: it is empty, invisible, mere formatting, or only announces an answer."""
    rest = _folded(_MARKUP.sub(" ", text))
    at = 0
    while at < len(rest):
        phrase = _PHRASE.match(rest, at)
        if phrase is None:
            return False
        at = phrase.end()
    return True
