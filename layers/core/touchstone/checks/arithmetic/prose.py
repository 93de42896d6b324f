"""The tokens of a solution as arithmetic needs them: the shared tokens, with the meaning that sentences give to them.

Signs that are left: + - * / ^ % ! frac sqrt √ °, those of money, = and ~= (about), and two of this module. What is
no part of arithmetic (a ratio, a date, an ordinal, a Greek letter) is a token of the kind "other".
"""

import re

from touchstone.checks.arithmetic.words import OPERATORS
from touchstone.checks.notation.tokens import Token, tokens_of
from touchstone.checks.notation.units import UNITS

BREAK = ";"
"""Where a line, a sentence or a part of one ends."""
BULLET = "•"
"""A dash at the beginning of a line: the mark of an item, or a sign."""

_CURRENCIES = ("¤", "¥", "€", "£")
_KEPT = frozenset(("+", "-", "*", "/", "%", "°", "frac", "sqrt", "√", "~=", *_CURRENCIES))
_BREAKS = frozenset((";", "?", '"', "=>", "->", "\\\\", "—"))
_SKIPPED = frozenset(("\\boxed", "`", "&"))
_MARKERS = frozenset(("*", "+", "•"))
_RELATIONS = ("=", "~=")
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?/\d\d?/\d{2,4}")
_DATE_TOKENS = 5
_LABEL_DIGITS = 3
"""Digits of an item's number, at most."""
_HAN = re.compile(
    rf"等[于於]|(?:{'|'.join(sorted((word for word in OPERATORS if not word.isascii()), key=len, reverse=True))}|得)$|."
)
"""A run of Chinese characters, character by character, with the words in it that are signs."""


def is_currency(token: Token) -> bool:
    """Whether this is a sign of money."""
    return token.is_sign(*_CURRENCIES)


def is_start(token: Token) -> bool:
    """Whether an operand can begin with this token, apart from its sign."""
    return token.kind in ("number", "open") or token.is_sign("frac", "sqrt", "√", *_CURRENCIES)


def is_word(token: Token) -> bool:
    """Whether this is a word, a Chinese character or a degree sign."""
    return token.kind in ("letters", "han") or token.is_sign("°")


def arithmetic_tokens(text: str) -> list[Token]:
    """The tokens of a solution. Linear in its length. Raises OutOfBoundsError for a number of too many digits."""
    return _Pass(text).tokens()


class _Pass:
    """One pass over the shared tokens; `_place` is that of the next one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text, prose=True)
        self._place = 0
        self._found: list[Token] = []
        self._spaced = True

    def tokens(self) -> list[Token]:
        self._item()
        while (token := self._peek()) is not None:
            match token.kind:
                case "number":
                    self._number(token)
                case "letters":
                    self._word()
                case "han":
                    self._han(token)
                case "open" | "close":
                    self._keep(token)
                case "sign":
                    self._sign(token)
                case _:
                    self._rest(token)
        return self._found

    def _peek(self, ahead: int = 0) -> Token | None:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def _near(self, ahead: int, blanks: int) -> Token | None:
        """The token `ahead` places on, where no more than so many characters of space stand before it."""
        token = self._peek(ahead)
        return token if token and token.start - self._tokens[self._place + ahead - 1].end <= blanks else None

    def _keep(self, token: Token, count: int = 1) -> None:
        """Take `count` tokens as the one given."""
        self._found.append(token._replace(spaced=True) if self._spaced and not token.spaced else token)
        self._place += count
        self._spaced = False

    def _skip(self, count: int = 1) -> None:
        self._place += count
        self._spaced = True

    def _mark(self, sign: str, count: int = 1) -> None:
        """Take `count` tokens as one sign, as what is no arithmetic where it is empty."""
        first, last = self._tokens[self._place], self._tokens[self._place + count - 1]
        self._keep(Token("sign" if sign else "other", sign, first.start, last.end, first.spaced), count)

    def _rest(self, token: Token) -> None:
        if token.text in _SKIPPED:
            self._skip()
        else:
            self._mark(BREAK if token.text in _BREAKS else "")

    # Numbers

    def _number(self, token: Token) -> None:
        second, third = self._near(1, 1), self._near(2, 1)
        if second is None:
            self._keep(token)
        elif not second.spaced and second.text.lower() in _ORDINALS:
            self._mark("", 2)
        elif second.is_sign(":") and third is not None and third.kind == "number":
            self._mark("", self._ratio())
        elif second.is_sign("-", "/") and self._is_date(token):
            self._mark("", _DATE_TOKENS)
        elif second.is_sign("-") and (count := self._compound()) > 1 and third and len(third.text) > 1:
            self._join(count)
        else:
            self._keep(token)

    def _ratio(self) -> int:
        """How many tokens are one ratio or time of day: 3:4, 1 : 2 : 3."""
        count = 3
        while (colon := self._near(count, 1)) and colon.is_sign(":") and (part := self._near(count + 1, 1)):
            if part.kind != "number":
                break
            count += 2
        return count

    def _is_date(self, token: Token) -> bool:
        last = self._peek(_DATE_TOKENS - 1)
        return last is not None and _DATE.fullmatch(self._text[token.start : last.end]) is not None

    # Words

    def _compound(self) -> int:
        """How many tokens are one word, with a hyphen or an apostrophe: isn't, six-foot, 12-year-old."""
        count = 1
        while (joint := self._near(count, 0)) is not None and joint.is_sign("-", "'"):
            following = self._near(count + 1, 0)
            if following is None or following.kind != "letters":
                break
            count += 2
        return count

    def _join(self, count: int) -> None:
        first, last = self._tokens[self._place], self._tokens[self._place + count - 1]
        text = "".join(part.text for part in self._tokens[self._place : self._place + count])
        self._keep(Token("letters", text, first.start, last.end, first.spaced, first.upright), count)

    def _word(self) -> None:
        token = self._tokens[self._place]
        if (count := self._compound()) > 1:
            self._join(count)
            return
        first, second, third = self._lowered(0), self._lowered(1), self._lowered(2)
        if first in OPERATORS and self._is_operand(1):
            self._mark(OPERATORS[first])
        elif f"{first} {second}" in OPERATORS and self._is_operand(2):
            self._mark(OPERATORS[f"{first} {second}"], 2)
        elif first == "percent":
            self._mark("%")
        elif first == "equals" or (first, second, third) == ("is", "equal", "to"):
            self._mark("=", 1 if first == "equals" else 3)
        elif "Ͱ" <= token.text[0] <= "Ͽ" and token.text not in UNITS:
            self._mark("")
        else:
            self._keep(token)

    def _lowered(self, ahead: int) -> str:
        token = self._peek(ahead)
        return token.text.lower() if token is not None and token.kind == "letters" else ""

    def _is_operand(self, ahead: int) -> bool:
        """Whether an operand with its sign stands `ahead` places on, behind no more than a blank."""
        token = self._near(ahead, 1)
        return token is not None and (is_start(token) or token.is_sign("-"))

    def _han(self, token: Token) -> None:
        for match in _HAN.finditer(token.text):
            start = token.start + match.start()
            spaced = token.spaced and not match.start()
            if sign := self._han_sign(match[0], start):
                self._keep(Token("sign", sign, start, start + len(match[0]), spaced), 0)
                continue
            for ahead, character in enumerate(match[0]):
                self._keep(Token("han", character, start + ahead, start + ahead + 1, spaced and not ahead), 0)
        self._place += 1

    def _han_sign(self, word: str, start: int) -> str:
        """The sign that a word stands for where it stands, "" where it is none."""
        if word in OPERATORS:
            return OPERATORS[word] if self._is_operand(1) else ""
        if word != "得":
            return "=" if len(word) > 1 else ""
        before, after = self._text[start - 1 : start], self._near(1, 1)
        behind_value = before.isdigit() or before in (")", "）", "个", "個", "元", "%")
        return "=" if behind_value and after and (after.kind == "number" or after.is_sign("(")) else ""

    # Signs

    def _sign(self, token: Token) -> None:
        following = self._near(1, 0)
        number_follows = following is not None and following.kind == "number"
        match token.text:
            case "\n" | "\\\\":
                self._line()
            case "^" if token.end - token.start > 1 and not self._is_power(following):
                self._skip()  # the asterisks of bold type
            case "!":
                self._exclamation(token)
            case "." if number_follows or (following and following.is_sign(".")):
                self._mark("", 1 if number_follows else 2)
            case "," if number_follows:
                self._mark("")
            case "." | ",":
                self._mark(BREAK)
            case "+" | "-" | "*" | "/" | "=" | ":" if following and following.is_sign("="):
                self._mark("", 2)
            case ":":
                self._mark(BREAK)
            case "=" | "^":
                self._keep(token)
            case text if text in _KEPT:
                self._keep(token)
            case _:
                self._rest(token)

    def _is_power(self, following: Token | None) -> bool:
        """Whether two asterisks between what stands before and `following` mean a power."""
        before = self._found[-1] if self._found and not self._tokens[self._place].spaced else None
        is_base = before is not None and (before.kind in ("number", "close"))
        return is_base and following is not None and (following.kind == "number" or following.is_sign("(", "-"))

    def _exclamation(self, token: Token) -> None:
        """A factorial between a number and a sign; behind a word, the end of a sentence."""
        before, after = self._found[-1] if self._found else None, self._near(1, 1)
        if before is None or before.kind not in ("number", "close"):
            self._mark(BREAK)
        elif not token.spaced and after is not None and after.is_sign("-", "=", "+", "*", "/", ")"):
            self._keep(token)
        else:
            self._mark("")

    def _line(self) -> None:
        """The end of a line; the next one may go on with a relation, or begin as an item of a list."""
        ahead = 1
        while (token := self._peek(ahead)) is not None and token.is_sign("\n", "\\\\", "&"):
            ahead += 1
        if token is not None and token.is_sign(*_RELATIONS):
            self._skip(ahead)
            return
        self._mark(BREAK)
        self._item()

    def _item(self) -> None:
        """What marks a heading or an item at the beginning of a line."""
        while (token := self._peek()) is not None and token.text == "#":
            self._skip()
        following = self._peek(1)
        if token is None or following is None:
            return
        if token.is_sign("-") and following.spaced:
            self._mark(BULLET)
        elif token.text in _MARKERS and following.spaced:
            self._skip()
        else:
            self._label(int(token.is_sign("(")))

    def _label(self, bracket: int) -> None:
        """The number of an item: `1.`, `(2)`, `3、`."""
        number, mark, text = self._peek(bracket), self._near(bracket + 1, 0), self._peek(bracket + 2)
        if number is None or mark is None or text is None or not text.spaced or text.is_sign("+", "-", "*", "/", "^"):
            return
        is_label = number.text.isdigit() and len(number.text) <= _LABEL_DIGITS and text.kind != "close"
        if is_label and mark.is_sign(*([")"] if bracket else [")", ".", ";"])) and not text.is_sign(*_RELATIONS):
            self._skip(bracket + 2)
