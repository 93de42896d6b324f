"""Splits text into the tokens of mathematics and of measured amounts: one pass of one pattern, in linear time.

LaTeX, Unicode and plain spellings of the same sign give the same token: `\\dfrac` and `\\frac`, `≤` and `\\leq`, `x²`
and `x^{2}`, full-width forms and ASCII. Every token knows its place in the text, so that a finding can point at it.
Only commands for type and space are dropped: text that is not understood becomes a token of the kind "other".
"""

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from touchstone.checks.notation.trees import DIGIT_LIMIT, Number, OutOfBoundsError, digits
from touchstone.packaged import own_table, with_pieces
from touchstone.text import normalised

type Kind = Literal["number", "letters", "han", "function", "sign", "open", "close", "accent", "other"]
"""`letters` is a run of Latin letters as written (a word, a unit, a product of names); `han`, of Chinese characters."""


class Token(NamedTuple):
    """A piece of the text in its one spelling, with its `value` if it is a number.

    `spaced`: white space, or LaTeX for it, stands before it. `upright`: it is set in roman type or as text, as units
    are.
    """

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool = False
    upright: bool = False
    value: Number | None = None

    def is_sign(self, *signs: str) -> bool:
        """Whether the token is one of these signs or brackets."""
        return self.text in signs and self.kind in ("sign", "open", "close")


_TABLE = own_table(__file__)
FUNCTIONS = frozenset(_TABLE["functions"])
"""Functions that are called by name."""
GREEK: dict[str, str] = _TABLE["greek"]
GREEK_NAMES = frozenset(GREEK.values()) - {"pi"}

_FOLDED = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | _TABLE["folded"]
"""Each character has a replacement of one character, so that offsets do not move."""
_FOLDS = re.compile(f"[{''.join(_FOLDED)}]")
_SIGNS: dict[str, str] = _TABLE["signs"]
_FIGURES: dict[str, str] = _TABLE["figures"]
_KINDS: tuple[Kind, ...] = ("sign", "open", "close", "accent", "letters", "other")
_COMMANDS: dict[str, tuple[Kind, str]] = {
    **{name: ("function", name) for name in FUNCTIONS},
    **{name: ("letters", letter) for letter, name in GREEK.items()},
    **{
        name: (kind, text)
        for kind in _KINDS
        for text, names in _TABLE[f"{kind} commands"].items()
        for name in names.split()
    },
}
_UPRIGHT = frozenset(_TABLE["upright"])
"""Commands that set their argument in another type. This shows only that the argument may be a unit or a word."""
_SIUNITX: dict[str, str] = _TABLE["siunitx"]
"""Commands of the package siunitx, each with the kind of its first argument: a number, an amount before its unit, …"""
_UNIT_COMMANDS: dict[str, str] = _TABLE["unit commands"]
_IGNORED = frozenset(_TABLE["ignored"])
_SPACING = frozenset(_TABLE["spacing"])
_FRACTIONS: dict[str, str] = _TABLE["fractions"]
_SUPERSCRIPTS: dict[str, str] = _TABLE["superscripts"]
_SUBSCRIPTS: dict[str, str] = _TABLE["subscripts"]
_EXPONENT_LENGTH = 5
"""The most characters of an exponent as written, `e-123`; a longer exponent is beyond any bound."""
_PATTERN = re.compile(with_pieces("|".join(_TABLE["grammar"]), _TABLE), re.DOTALL)
"""All tokens. «x» in the grammar stands for the table x.

Only the alternatives for numbers begin alike, so the commonest alternatives can stand first.
"""

_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})++(?:\.\d++)?|\d{1,3}(?:\.\d{3}|(?:[ \u2009\u202f\u00a0']\d{3})++),\d++")
"""A number with commas that may be read in two ways: 1,200, 1.001,2 and 1 001,2."""
_NO_DIGIT = re.compile(r"[^\d.]")


def folded(text: str) -> str:
    """`text` with full-width forms and typographic signs as ASCII; every character keeps its place."""
    return text if text.isascii() else _FOLDS.sub(lambda match: _FOLDED[match[0]], text)


def tokens_of(text: str, *, prose: bool = False) -> list[Token]:
    """The tokens of a text, in order. Linear in its length. Raises OutOfBoundsError for a number of too many digits.

    `prose`: the text consists of sentences and is not one answer. Then ends of lines are signs, a dollar sign never
    sets off a formula, and numbers with a blank or a full-width comma between them are different numbers (`in 2019 200
    people`).
    """
    return _Lexer(text, prose=prose).tokens()


def with_other_commas(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The ways to read the commas of tokens; nothing if there is only one way.

    A comma in 1,200 separates thousands or members of a list; the commas of `1,5; 2,5` may be decimal points. Each way
    that is returned is unambiguous, so that nothing in it needs to be read twice.
    """
    if any("," in token.text and token.kind == "number" for token in tokens):
        yield [each for token in tokens for each in (_members(token) if _GROUPED.fullmatch(token.text) else (token,))]
        yield [
            token._replace(text=token.text.replace(",", "")) if token.kind == "number" else token for token in tokens
        ]
        return
    if sum(token.kind == "open" for token in tokens) > 1 or not any(token.is_sign(";") for token in tokens):
        return
    found: list[Token] = []
    for token in tokens:
        if len(found) > 1 and found[-1].is_sign(",") and found[-2].text.isdecimal() and token.text.isdecimal():
            if token.spaced or found.pop().spaced:
                return
            joined = f"{found[-1].text}.{token.text}"
            token = found.pop()._replace(text=joined, end=token.end, value=digits(joined))  # noqa: PLW2901
        found.append(token)
    if not any(token.is_sign(",") for token in found) and len(found) < len(tokens):
        yield found
        yield list(tokens)


def _members(token: Token, between: str = ",") -> list[Token]:
    """The numbers between the commas or blanks of one number token, and those commas as signs."""
    found, start = list[Token](), token.start
    for place, part in enumerate(token.text.split(between)):
        if place and between == ",":
            found.append(Token("sign", ",", start - 1, start))
        spaced = between == " " if place else token.spaced
        end = start + len(part)
        found.append(token._replace(text=part, start=start, end=end, spaced=spaced, value=_digits_in(part)))
        start += len(part) + 1
    return found


def _digits_in(text: str) -> Number:
    """The number that the digits of a text write with its point; what groups them is passed over: 1,200.5."""
    return digits(_NO_DIGIT.sub("", text))


class _Lexer:
    """One pass over a text. `_braces` holds the kind of each open brace, `_waits` the kind of the next brace."""

    def __init__(self, text: str, *, prose: bool = False) -> None:
        self._prose = prose
        self._raw = text
        self._text = folded(text.replace("，", "；") if prose else text)
        self._found: list[Token] = []
        self._braces: list[str] = []
        self._waits = ""
        self._upright = 0
        self._spaced = False
        dollars = self._text.count("$") - self._text.count("\\$") - 2 * self._text.count("$$")
        ends_in_one = dollars > 1 and self._text.rstrip().endswith((" $", "~$"))
        self._dollars_pair = not prose and (dollars % 2 == 0 or ends_in_one)
        # `$2.5$ $` is an amount of dollars: the last sign pairs with no other.
        self._currency_from = len(self._text.rstrip()) - 1 if dollars % 2 and ends_in_one else len(self._text)
        self._doubled = not prose and "\\\\" in text and "\\begin" not in text

    def tokens(self) -> list[Token]:
        if self._doubled:
            # Backslashes are doubled, as in a JSON string: `\\frac`.
            self._text = self._text.replace("\\\\", " \\")
        for match in _PATTERN.finditer(self._text):
            group = match.lastgroup or "other"
            if group in _ONE_KIND:
                kind, text = _ONE_KIND[group]
                self.add(kind, text or match[0], match)
            elif group != "nothing":  # characters that are not shown and do not even separate their neighbours
                _HANDLERS[group](self, match)
        return self._found

    def add(self, kind: Kind, text: str, match: re.Match[str], value: Number | None = None) -> None:
        start, end = match.span()
        self._found.append(Token(kind, text, start, end, self._spaced, self._upright > 0, value))
        self._waits, self._spaced = "", False

    def space(self, match: re.Match[str]) -> None:
        if self._prose and "\n" in match[0]:
            self.add("sign", "\n", match)
        self._spaced = True

    def number(self, match: re.Match[str]) -> None:
        self.add("number", match[0], match, _digits_in(match[0]))

    def grouped(self, match: re.Match[str]) -> None:
        """Groups of digits with commas between them; a full-width comma always separates members of a list."""
        self.number(match)
        if "，" in self._raw[slice(*match.span())]:
            self._found[-1:] = _members(self._found[-1])

    def apart(self, match: re.Match[str]) -> None:
        """Groups of digits with blanks between them: one number in an answer, several in prose."""
        self.number(match)
        if self._prose:
            self._found[-1:] = _members(self._found[-1], " ")

    def comma(self, match: re.Match[str]) -> None:
        self.add("number", match[0], match, digits(match[0].replace(".", "").replace(",", ".")))

    def decimal(self, match: re.Match[str]) -> None:
        """Groups of digits with blanks or apostrophes between them, and a decimal comma or point behind them."""
        self.add("number", match[0], match, _digits_in(match[0].replace(",", ".")))

    def scientific(self, match: re.Match[str]) -> None:
        value, exponent = digits(match["plain"]), match["exponent"]
        power = int(exponent[1:]) if len(exponent) <= _EXPONENT_LENGTH else DIGIT_LIMIT + 1
        if abs(power) > DIGIT_LIMIT:
            raise OutOfBoundsError("an exponent beyond the bound")
        places = (value.decimals or 0) - power
        self.add("number", match[0], match, Number(value.value * Fraction(10) ** power, places))

    def repeating(self, match: re.Match[str]) -> None:
        fixed, *periods = match.group("fixed", "period", "inside", "dotted", "last", "marked")
        period = "".join(filter(str.isdigit, "".join(filter(None, periods))))
        begun = digits(f"{match[0].partition('.')[0]}.{fixed}")
        value = begun.value + Fraction(int(period), 10 ** len(fixed) * (10 ** len(period) - 1))
        self.add("number", match[0], match, Number(value))

    def vulgar(self, match: re.Match[str]) -> None:
        self.add("number", match[0], match, Number(Fraction(_FRACTIONS[match[0]])))

    def script(self, match: re.Match[str]) -> None:
        """A run of raised or lowered characters, read as `^{…}` or `_{…}`."""
        sign, table = ("^", _SUPERSCRIPTS) if match.lastgroup == "above" else ("_", _SUBSCRIPTS)
        self.add("sign", sign, match)
        self.add("open", "{", match)
        for token in tokens_of("".join(table[character] for character in match[0])):
            self._found.append(token._replace(start=match.start(), end=match.end()))
        self.add("close", "}", match)

    def command(self, match: re.Match[str]) -> None:
        name = match[0][1:]
        if self._braces[-1:] == ["unit"]:
            unit = _UNIT_COMMANDS.get(name, name)
            self.add("letters" if unit.isalpha() else "sign", unit, match)
        elif name in _UPRIGHT:
            self._waits = "type"
        elif name in _SPACING:
            self._spaced = True
        elif name not in _IGNORED:
            self.add(*_COMMANDS.get(name, ("other", match[0])), match)

    def siunitx(self, match: re.Match[str]) -> None:
        self._waits = _SIUNITX[match[0].partition("[")[0].strip()[1:]]

    def escaped(self, match: re.Match[str]) -> None:
        self.add("sign", "¤" if match[0] == "\\$" else match[0][1:], match)

    def sign(self, match: re.Match[str]) -> None:
        sign = match[0]
        if sign == "$":
            if self._dollars_pair and match.start() < self._currency_from:
                self._spaced = True
                return
            sign = "¤"
        match sign:
            case "℃" | "℉":
                self.add("sign", "°", match)
                self.add("letters", "C" if sign == "℃" else "F", match)
            case _ if "㎀" <= sign <= "㏟":  # units in one character: ㎡, ㎏
                written = tokens_of(normalised(sign, "NFKC"))
                self._found += [each._replace(start=match.start(), end=match.end(), upright=True) for each in written]
            case "." if self._braces[-1:] == ["unit"]:
                self.add("sign", "*", match)
            case "-" if self._braces[-1:] in (["number"], ["amount"]) and self._found and self._found[-1].is_sign("+"):
                self._found[-1] = self._found[-1]._replace(text="pm", end=match.end())
            case _ if sign in _FIGURES:
                self.add("accent", _FIGURES[sign], match)
            case _:
                self.add("sign", _SIGNS.get(sign, sign), match)

    def open(self, match: re.Match[str]) -> None:
        if match[0] == "{":
            self._braces.append(self._waits)
            if self._waits:
                self._upright += 1
                self._waits = ""
                return
        self.add("open", match[0], match)

    def close(self, match: re.Match[str]) -> None:
        if match[0] == "}" and self._braces:
            if kind := self._braces.pop():
                self._upright -= 1
                self._waits = "unit" if kind == "amount" else ""
                self._spaced = self._spaced or bool(self._waits) or self._text[match.start() - 1].isspace()
                return
            if self._found and self._found[-1].text == "{" and self._found[-1].kind == "open":
                empty = self._found.pop()
                self._spaced = self._spaced or empty.spaced
                return
        self.add("close", match[0], match)


_ONE_KIND: dict[str, tuple[Kind, str]] = {group: (kind, text) for group, (kind, text) in _TABLE["one kind"].items()}
"""Groups of the pattern whose tokens always have the same kind, and for some groups the same spelling."""
_HANDLERS: dict[str, Callable[[_Lexer, re.Match[str]], None]] = {
    group: getattr(_Lexer, method) for group, method in _TABLE["handlers"].items()
}
