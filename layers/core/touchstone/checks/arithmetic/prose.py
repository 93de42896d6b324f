"""A solution as the shared tokens, with the meaning that sentences give to its words and signs.

What stands for a sign is written as that sign first, in a text of the same length, so that every place stays: words
(`plus`, 除以, `equals`), the marks of headings, items and bold type, and what is no arithmetic (dates, ratios,
ordinals). What is left are + - * / ^ % ! frac sqrt √ °, signs of money, = and ~= (about), two of this module, "other".
"""

import re
from collections.abc import Iterator, Sequence

from touchstone.checks.arithmetic.words import OPERATORS
from touchstone.checks.notation.tokens import Token, folded, tokens_of
from touchstone.checks.notation.units import UNITS

BREAK = ";"
"""Where a line, a sentence or a part of one ends."""
BULLET = "\ue001"
"""A dash at the beginning of a line: the mark of an item, or a sign."""
RELATIONS = ("=", "~=")

_CURRENCIES = ("¤", "¥", "€", "£")
_KEPT = frozenset(("+", "-", "*", "/", "^", "%", "!", "°", "frac", "√", *RELATIONS, *_CURRENCIES))
_BREAKS = frozenset((BREAK, "?", '"', ".", ",", ":", "=>", "->", "—"))
_LINES = ("\n", "\\\\")
_TIMES = frozenset(("x", "of", "的"))
_NOTHING = "\ue000"
_NOWHERE = "\u2060"
"""Shows nowhere and parts nothing."""
_HYPHEN = "ǀ"
"""A letter that nobody writes, for the hyphen or the apostrophe within a word."""
_OPERAND = r"\s?(?:负|負|零下|[-\d(\[{√$¥€£½⅓⅔¼¾]|\.\d|\\(?:[dtc]?frac|sqrt|left|\$))"
_BEFORE_A_SIGN = r"-+*/=×÷^(（,，.。:：;；\n是为為得温溫于於约約上加减減去以乘氏"
"""What may stand before a sign in words: two times 负5 are no 2 - 5."""
_WORDS = "|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True)))
_SPECIAL = re.compile(
    rf"""
      (?=^|[-+*/=:.!'`&(\\\dpmdtei{"".join(sorted({word[0] for word in OPERATORS}))}等得负負零])(?:
      ^[ \t]*+(?:\#[\# \t]*+)?+
        (?:(?P<bullet>-)(?=\s)|(?P<item>[*+•](?=\s)|(?:\(\d{{1,3}}\)|\d{{1,3}}[.);])(?=\s++[^-+*/^=≈)\]}}\s])
          | (?:\*\*)?(?:step|part|case)[ ]\d{{1,3}}[:.)](?:\*\*)?(?=\s)))
    | (?<=\d)(?P<unit>\([一-鿿]{{1,5}}\))
    | (?P<negative>(?:^|(?<=[{_BEFORE_A_SIGN}])|(?<=[{_BEFORE_A_SIGN}]\ ))(?:[负負]|零下)(?=\s?[\d.]))
    | (?P<heading>^[ \t]*+\#++)
    | (?P<nothing>(?<![\d.])(?:\d{{4}}-\d\d?-\d\d?|\d\d?/\d\d?/\d{{2,4}})(?!\d)
        | (?<!\d)\d++(?:\.\d++)?(?:[ ]?:[ ]?\d++(?:\.\d++)?)++
        | (?<!\d)\d++(?:st|nd|rd|th)(?![A-Za-z]) | (?<![\d.])0[xb][\dA-F]++
        | [-+*/=:]= | \.\.++ | (?<=[\d)\]}}])!(?!\s?[-=+*/)]))
    | (?P<hyphen>(?<=[A-Za-zÀ-ɏ])[-'](?=[A-Za-z]) | (?<=\d)-(?=[A-Za-z]{{2}}))
    | (?P<type>(?<![\d)\]}}])\*\* | \*\*(?![\d(-]) | \\boxed | ` | &)
    | (?P<cry>(?<![\d)\]}}])!)
    | (?P<operator>(?:(?<![A-Za-z\\])(?=[A-Za-z])|(?![A-Za-z]))(?:{_WORDS})(?={_OPERAND}))
    | (?P<percent>(?<![A-Za-z\\])percent(?![A-Za-z-]))
    | (?P<equality>(?<![A-Za-z])(?:equals|is[ ]equal[ ]to)(?![A-Za-z]) | 等[于於]
        | (?<=[\d)个個元%])得(?=\s?[\d(])))
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_SIGNS = {"heading": " ", "item": " ", "type": " ", "hyphen": _HYPHEN, "cry": BREAK, "percent": "%", "equality": "="}


def is_currency(token: Token) -> bool:
    """Whether this is a sign of money."""
    return token.is_sign(*_CURRENCIES)


def is_start(token: Token) -> bool:
    """Whether an operand can begin with this token, apart from its sign."""
    return token.kind in ("number", "open") or token.is_sign("frac", "√", *_CURRENCIES)


def is_word(token: Token) -> bool:
    """Whether this is a word, a Chinese character or a degree sign."""
    return token.kind in ("letters", "han") or token.is_sign("°")


def arithmetic_tokens(text: str) -> list[Token]:
    """The tokens of a solution. Linear in its length. Raises OutOfBoundsError for a number of too many digits."""
    tokens = tokens_of(_SPECIAL.sub(_respelled, folded(text.replace("，", "；"))), prose=True)
    found: list[Token] = []
    for place, token in enumerate(tokens):
        match token.kind:
            case "number" | "open" | "close":
                found.append(token)
            case "letters" | "han" if _is_times(token, found[-1] if found else None, tokens[place + 1 : place + 3]):
                found.append(token._replace(kind="sign", text="*"))
            case "letters" if not "Ͱ" <= token.text[0] <= "Ͽ" or token.text in UNITS:
                found.append(token._replace(text=token.text.replace(_HYPHEN, "-")) if _HYPHEN in token.text else token)
            case "han":
                for at, character in enumerate(token.text, token.start):
                    spaced = token.spaced and at == token.start
                    found.append(token._replace(text=character, start=at, end=at + 1, spaced=spaced))
            case "sign" if _is_fraction(tokens[max(place - 2, 0) : place + 1], text):
                found.append(token._replace(kind="other"))
            case "sign" if token.text in _KEPT:
                found.append(token)
            case _:
                found.extend(_break(token, tokens[place + 1 : place + 2]))
    return [found[0]._replace(spaced=True), *found[1:]] if found else []


def _respelled(match: re.Match[str]) -> str:
    """What was found as the sign that it stands for, with blanks for the rest of its length."""
    name, length = match.lastgroup or "", len(match[0])
    match name:
        case "nothing":
            return _NOTHING * length
        case "bullet" | "negative":
            return BULLET.rjust(length) if name == "bullet" else "-".ljust(length, _NOWHERE)
        case "unit":  # 3×4=12(元)
            return match[0][1:-1].rjust(length)
        case "operator":
            return OPERATORS[match[0].lower()].ljust(length)
    return _SIGNS[name].ljust(length)


def _is_times(token: Token, before: Token | None, behind: Sequence[Token]) -> bool:
    """Whether a letter or word between two numbers means times: 3 x 4, 20% of 50, 50的20%."""
    text = token.text.lower()
    if text not in _TIMES or before is None or not behind:
        return False
    after = behind[0]
    match text:
        case "x":
            return is_start(after) and (token.spaced == after.spaced or is_currency(after))
        case "of":
            return before.is_sign("%") and (after.kind in ("number", "open") or is_currency(after))
        case "的":
            return before.kind in ("number", "close") and after.kind == "number"
    return False


def _is_fraction(tokens: Sequence[Token], text: str) -> bool:
    """Whether a stroke behind a number that is divided by may be a fraction's: 6 ÷ 1/2."""
    return [token.text for token in tokens[::2]] == ["/", "/"] and text[tokens[0].start] != "/" == text[tokens[2].start]


def _break(token: Token, behind: Sequence[Token]) -> Iterator[Token]:
    """The token as the end of a part, an item's mark, or no arithmetic; nothing where a line goes on: `3 + 4\n= 7`."""
    is_line = token.text in _LINES
    if is_line and behind and behind[0].is_sign(*_LINES, *RELATIONS):
        return
    groups = token.text == "," and behind and behind[0].kind == "number" and not behind[0].spaced
    kept = BULLET if token.text == BULLET else BREAK if (is_line or token.text in _BREAKS) and not groups else ""
    yield token._replace(kind="sign" if kept else "other", text=kept)
