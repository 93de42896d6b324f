"""Graded text is data, never an instruction: how it is fenced in a prompt, and how a quote of it is checked.

A fenced text stands between two lines that carry a random mark, drawn anew for each prompt, so that whoever wrote the
text cannot know how to close the fence:

```text
⟦data 9f86d081884c7d65⟧
… the text …
⟦end 9f86d081884c7d65⟧
```

Inside it nothing is left that could pass for a fence, and nothing that a reader would not see: zero-width characters,
directional overrides, tag characters and variation selectors (they smuggle text past people), control characters.
"""

import re
import secrets
from functools import lru_cache

from touchstone.text import normalised

MARK_BYTES = 8
"""64 random bits: the author of a text cannot guess the mark of the one prompt that shows it."""

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"
)
"""Unicode's default ignorable characters and the controls other than tab and line ends."""
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\u0085\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BRACKETS = str.maketrans({"⟦": "[", "⟧": "]", "〚": "[", "〛": "]", "⦗": "[", "⦘": "]"})
_BRACKET = re.compile("[⟦⟧〚〛⦗⦘]")
_LOOKALIKE = re.compile(
    r"([\[［【〔〖<＜(（{｛]\s*+)([dｄ][aａ][tｔ][aａ]|[eｅ][nｎ][dｄ])(\s*+(?:[:：#-]\s*+)?[0-9a-f０-９ａ-ｆ]{4,})",
    re.IGNORECASE,
)
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "「": '"', "」": '"', "『": '"', "』": '"'}
    | {"‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'", "`": "'", "´": "'", "＂": '"', "＇": "'"}
    | {"−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "‒": "-", "―": "-"}
)
_ASCII = _BRACKETS | _QUOTES
_TYPOGRAPHY = re.compile(f"[{''.join(map(chr, _ASCII))}]")


class Fenced(str):
    """A text that may stand in a prompt: fenced, or the project's own."""

    __slots__ = ()


def new_mark() -> str:
    """A mark for the fences of one prompt."""
    return secrets.token_hex(MARK_BYTES)


def visible(text: str) -> str:
    """The text as a reader sees it: unseen characters removed, line ends made `\\n`, lone surrogates made U+FFFD."""
    if _is_plain(text):
        return text
    return _SURROGATES.sub("\ufffd", _UNSEEN.sub("", _LINE_ENDS.sub("\n", text)))


def neutral(text: str, mark: str) -> str:
    """The visible text without anything that could pass for a fence: its brackets, its words, its mark."""
    seen = visible(text)
    seen = _LOOKALIKE.sub(r"\1quoted \2\3", seen.translate(_BRACKETS) if _BRACKET.search(seen) else seen)
    # Compiling an expression for each new mark costs more than all the rest, and pushes others out of re's cache. Marks
    # are hex digits, so this comparison of folded texts misses nothing that the expression would find.
    if mark.casefold() not in seen.casefold():
        return seen
    return re.sub(re.escape(mark), "…", seen, flags=re.IGNORECASE)


def _is_plain(text: str) -> bool:
    """Whether a text is lines of printable ASCII only.

    All readers see such a text alike, so nothing in it needs replacing.
    """
    return text.isascii() and text.replace("\n", "").isprintable()


def fence(text: str, mark: str) -> Fenced:
    """The text as data in a prompt whose fences carry `mark`. The caller keeps the original to check evidence with."""
    return Fenced(f"⟦data {mark}⟧\n{neutral(text, mark)}\n⟦end {mark}⟧")


def contains_verbatim(evidence: str, text: str) -> bool:
    """Whether `evidence` is a quote of `text`, but for white space, typography and characters that are not seen.

    Both are compared after NFKC, with all quotes, dashes and minus signs alike and runs of white space as one space.
    Empty evidence is never a quote. Case and digits count.
    """
    quoted = _comparable(evidence)
    return bool(quoted) and quoted in _comparable_text(text)


@lru_cache(maxsize=4)
def _comparable_text(text: str) -> str:
    """The comparable form of a graded text, kept for several quotes of it in a row.

    A long text takes more than half a second.
    """
    return _comparable(text)


def _comparable(text: str) -> str:
    return " ".join(_plain(normalised(_plain(visible(text)), "NFKC")).split())


def _plain(text: str) -> str:
    """The text with all quotes, dashes and brackets as in ASCII.

    The search comes first: translating takes ten times as long.
    """
    return text.translate(_ASCII) if _TYPOGRAPHY.search(text) else text
