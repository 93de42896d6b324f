"""A text as the tokens that matter for arithmetic, with their places in the text.

One linear pass of one regular expression: every repetition in it is bounded or runs over a class that nothing after it
can match, so that no text costs more than its length.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

from touchstone.checks.arithmetic.words import OPERATOR_WORDS


class Kind(Enum):
    """What a token is to the reader of expressions."""

    NUMBER = auto()
    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()
    PERCENT = auto()
    CURRENCY = auto()
    FACTORIAL = auto()
    FRACTION = auto()
    ROOT = auto()
    WORD = auto()
    BULLET = auto()
    EQUAL = auto()
    ABOUT = auto()
    BREAK = auto()
    OTHER = auto()


class Token(NamedTuple):
    """A piece of the text; `spaced` says whether white space (or the start of the text) comes before it."""

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool

    @property
    def is_letters(self) -> bool:
        """Whether this is a word of an alphabet, not a Chinese character."""
        return self.kind is Kind.WORD and self.text.isascii()


_SAME_LENGTH = str.maketrans(
    {
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
        "−": "-", "–": "-", "×": "*", "⋅": "*", "·": "*", "∙": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/",
        "\u00a0": " ", "\u3000": " ", "\u2009": " ", "\u202f": " ", "’": "'",
    }
)  # fmt: skip
"""Character by character, so that places in the plain text are places in the original."""

_CHINESE = r"[\u3400-\u9fff]"
_WORDS_AS_OPERATORS = "|".join(word for word in sorted(OPERATOR_WORDS, key=len, reverse=True) if not word.isascii())
_NUMBER = r"(?:\d{1,3}(?:(?:,|\{,\})\d{3})+(?![\d,]\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?![\d.A-Za-z]))?|\.\d+"

_PATTERN = re.compile(
    rf"""
      (?P<CONTINUED>\n(?=[ \t]{{0,40}}&?(?:=|≈|\\approx)))
    | (?P<LINE>\n{{1,200}}[ \t]{{0,40}}(?:\#{{1,6}}[ ]|\(?\d{{1,3}}[.)、](?=[ \t])|[*•+][ \t])?)
    | (?P<BULLET>(?<![^\n])-[ \t])
    | (?P<SKIP>[ \t\r\f\v&`]{{1,200}}|\\[,;:!()\[\] ]
              |\\(?:left|right|bigg?|Bigg?|quad|qquad|displaystyle|boxed|limits)(?![A-Za-z]))
    | (?P<DOTS>\.{{2,200}})
    | (?P<BREAK>\\\\|[;?"“”。；？！：，、—]|,(?!\d)|:(?!\s?\d)|(?<!\d):(?!=)|\.(?![.\d])
              |→|⇒|->|=>|\\(?:to|Rightarrow|implies)(?![A-Za-z]))
    | (?P<OTHER_NUMBER>\d{{1,4}}(?:st|nd|rd|th)(?![A-Za-z])|\d+[ ]?:[ ]?\d+
                     |\d{{4}}-\d\d?-\d\d?(?!\d)|\d\d?/\d\d?/\d{{2,4}}(?!\d))
    | (?P<HYPHENATED>\d+(?:\.\d+)?-[A-Za-z]{{2,}})
    | (?P<NUMBER>{_NUMBER}|[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])
    | (?P<CALCULUS>[<>]=?|[=!+*/:-]=|≤|≥|≠|≡|==)
    | (?P<ABOUT>≈|≒|\\approx(?![A-Za-z]))
    | (?P<EQUAL>=|等[于於]|(?<=[\d)个個元%])得(?=[ ]?[\d(])|\b(?:equals|is[ ]equal[ ]to)\b)
    | (?P<POWER>(?<=[\d)])\*\*(?=[\d(-])|\^)
    | (?P<BOLD>\*\*)
    | (?P<FACTORIAL>(?<=[\d)])!(?=[ ]?[-=+*/)]))
    | (?P<PERCENT>\\?%|percent(?![A-Za-z]))
    | (?P<CURRENCY>\\?\$|[¥￥€£])
    | (?P<FRACTION>\\[dtc]?frac(?![A-Za-z]))
    | (?P<ROOT>\\sqrt(?![A-Za-z])|√)
    | (?P<TIMES>\\(?:times|cdot|ast)(?![A-Za-z]))
    | (?P<OVER>\\div(?![A-Za-z]))
    | (?P<TEXT>\\(?:text|mathrm|mbox|textbf|mathbf)\{{[^{{}}\d]{{0,60}}\}})
    | (?P<CHINESE_OPERATOR>(?:{_WORDS_AS_OPERATORS})(?=[ ]?[\d(\\$-]))
    | (?P<ENGLISH_OPERATOR>\b(?:plus|minus|times|multiplied[ ]by|divided[ ]by)(?=[ ]?[\d($\\-]))
    | (?P<OPERATOR>[-+*/])
    | (?P<OPEN>[(\[{{])
    | (?P<CLOSE>[)\]}}])
    | (?P<WORD>[A-Za-zÀ-ɏ]+(?:['-][A-Za-z]+)*|{_CHINESE}|[°℃℉])
    | (?P<SQUARE>[²³])
    | (?P<OTHER>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_NAMED = {
    "LINE": Kind.BREAK, "DOTS": Kind.OTHER, "HYPHENATED": Kind.WORD, "OTHER_NUMBER": Kind.OTHER, "CALCULUS": Kind.OTHER,
    "POWER": Kind.OPERATOR, "TIMES": Kind.OPERATOR, "OVER": Kind.OPERATOR, "CHINESE_OPERATOR": Kind.OPERATOR,
    "ENGLISH_OPERATOR": Kind.OPERATOR, "TEXT": Kind.WORD, "SQUARE": Kind.OPERATOR,
}  # fmt: skip
_WHITE = frozenset({"SKIP", "CONTINUED", "BOLD"})
_KINDS = {group: _NAMED.get(group) or Kind[group] for group in _PATTERN.groupindex if group not in _WHITE}
_RENAMED = frozenset({"POWER", "TIMES", "OVER", "CHINESE_OPERATOR", "ENGLISH_OPERATOR", "TEXT", "WORD"})
"""Groups whose text is not the symbol."""


def plain(text: str) -> str:
    """The text with full-width forms, minus, times and division signs as ASCII; every character keeps its place."""
    return text.translate(_SAME_LENGTH)


def _symbol(group: str, text: str) -> str:
    match group:
        case "POWER":
            return "^"
        case "TIMES":
            return "*"
        case "OVER":
            return "/"
        case "CHINESE_OPERATOR" | "ENGLISH_OPERATOR":
            return OPERATOR_WORDS[text]
        case "TEXT":
            return text[text.index("{") + 1 : -1].strip()
        case _:
            return text.lower()


def tokens_of(text: str) -> list[Token]:
    """The tokens of a plain text (see `plain`), in order."""
    found: list[Token] = []
    spaced = True
    for match in _PATTERN.finditer(text):
        group = match.lastgroup or "OTHER"
        if group in _WHITE:
            spaced = True
            continue
        kind, symbol = _KINDS[group], match[0]
        if group in _RENAMED:
            symbol = _symbol(group, symbol)
        found.append(Token(kind, symbol, *match.span(), spaced))
        spaced = kind is Kind.BREAK
    return found
