"""Reads one expression of numbers from tokens: a recursive descent, bounded in depth and in steps."""

from dataclasses import dataclass, replace
from fractions import Fraction

from touchstone.checks.arithmetic.nodes import Budget, Node, Number, Operation, Unary, Unit, Unreadable, numeral
from touchstone.checks.arithmetic.tokens import Kind, Token
from touchstone.checks.arithmetic.words import ATTACHED_UNITS, SCALES, UNIT_STOP_CHARACTERS, UNIT_STOPS, UNITS

MAX_DEPTH = 40
"""Brackets within brackets: far below Python's recursion limit."""
MAX_UNIT_WORDS = 6
MAX_UNIT_CHARACTERS = 8

_STARTS = (Kind.NUMBER, Kind.OPEN, Kind.CURRENCY, Kind.FRACTION, Kind.ROOT)
_ENDS = (Kind.EQUAL, Kind.ABOUT, Kind.BREAK, Kind.CLOSE)
_POWERS = {"²": 2, "³": 3}


@dataclass(slots=True)
class Reader:
    """Reads one expression from `tokens`, from `at` and not beyond `stop`; afterwards `at` is behind it."""

    tokens: list[Token]
    at: int
    stop: int
    budget: Budget
    depth: int = 0
    tight: bool = True
    """Whether a product by juxtaposition binds before division: 1/2(3) as 1/(2·3)."""
    juxtaposed: bool = False
    """Whether one was met: then the other binding may give another value."""

    def peek(self, ahead: int = 0) -> Token | None:
        """The token `ahead` places on, None from `stop` on."""
        index = self.at + ahead
        return self.tokens[index] if index < self.stop else None

    def is_start(self, ahead: int = 0) -> bool:
        """Whether an operand can begin `ahead` places on."""
        token = self.peek(ahead)
        if token is not None and token.kind is Kind.OPERATOR and token.text in "+-":
            token = self.peek(ahead + 1)
        return token is not None and token.kind in _STARTS

    def is_times(self) -> bool:
        """Whether the next token is an x that means times: between two numbers."""
        token, after = self.peek(), self.peek(1)
        if token is None or after is None or token.kind is not Kind.WORD or token.text != "x":
            return False
        return self.is_start(1) and (token.spaced == after.spaced or after.kind is Kind.CURRENCY)

    def operator(self, symbols: str) -> str | None:
        """The next operator, taken, if it is one of these and an operand follows."""
        token = self.peek()
        if token is not None and token.kind is Kind.OPERATOR and token.text in symbols and self.is_start(1):
            self.at += 1
            return token.text
        if "*" in symbols and (self._is_share() or self.is_times()):
            self.at += 1
            return "*"
        return None

    def _is_share(self) -> bool:
        """Whether "of" (的) stands between a share and a number: 20% of 50, 1/4 of 20, 50的20%."""
        token, before, after = self.peek(), self.tokens[self.at - 1], self.peek(1)
        if token is None or after is None or token.kind is not Kind.WORD:
            return False
        if token.text == "of":
            return before.kind is Kind.PERCENT and after.kind in (Kind.NUMBER, Kind.CURRENCY, Kind.OPEN)
        return token.text == "的" and before.kind is not Kind.OPERATOR and after.kind is Kind.NUMBER

    def expression(self) -> Node:
        """A sum."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable
        node = self.product()
        while symbol := self.operator("+-"):
            node = Operation(symbol, node, self.product())
        self.depth -= 1
        return node

    def product(self) -> Node:
        """A product or quotient."""
        node = self.factor()
        while True:
            if symbol := self.operator("*/"):
                node = Operation(symbol, node, self.factor())
            elif not self.tight and self._is_juxtaposed():
                node = Operation("*", node, self.unary())
            else:
                return node

    def _is_juxtaposed(self) -> bool:
        token, before = self.peek(), self.tokens[self.at - 1]
        if token is None or token.kind is not Kind.OPEN or token.text == "[":
            return False
        found = before.kind in (Kind.NUMBER, Kind.CLOSE) and not (token.spaced and before.kind is Kind.NUMBER)
        self.juxtaposed = self.juxtaposed or found
        return found

    def factor(self) -> Node:
        """A signed operand, with what is multiplied to it by juxtaposition."""
        node = self.unary()
        while self.tight and self._is_juxtaposed():
            node = Operation("*", node, self.unary())
        return node

    def unary(self) -> Node:
        """A signed operand; `-2^2` is valued both ways, so the sign binds last here."""
        self.budget.spend()
        token = self.peek()
        if token is not None and token.kind is Kind.OPERATOR and token.text in "+-":
            self.at += 1
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise Unreadable
            operand = self.unary()
            self.depth -= 1
            return Unary("-", operand) if token.text == "-" else operand
        return self.power()

    def power(self) -> Node:
        """An operand with its exponent, factorial mark or unit."""
        base = self.atom()
        while (token := self.peek()) is not None:
            if token.kind is Kind.FACTORIAL:
                self.at += 1
                base = Unary("!", base)
            elif token.kind is Kind.OPERATOR and token.text in _POWERS:
                self.at += 1
                base = Operation("^", base, Number(Fraction(_POWERS[token.text])))
            elif token.kind is Kind.OPERATOR and token.text == "^" and self.is_start(1):
                self.at += 1
                return Operation("^", base, self.unary())
            else:
                break
        return base

    def atom(self) -> Node:
        """A numeral, a bracket, a LaTeX fraction or a root."""
        token = self.peek()
        if token is None:
            raise Unreadable
        self.at += 1
        match token.kind:
            case Kind.NUMBER:
                return self.measured(self.mixed(numeral(token)))
            case Kind.CURRENCY:
                return self._money(token)
            case Kind.OPEN:
                return self._group(token)
            case Kind.FRACTION:
                top = self._braced()
                return Operation("/", top, self._braced())
            case Kind.ROOT:
                return Unary("√", self.atom())
            case _:
                raise Unreadable

    def _money(self, token: Token) -> Node:
        following = self.peek()
        if following is not None and following.kind is Kind.OPERATOR and following.text == "-":
            self.at += 1
            return Unary("-", self._money(token))
        node = self.atom()
        if isinstance(node, Number) and node.unit is None:
            return replace(node, unit=Unit(token.text[-1]))
        return node

    def _group(self, opening: Token) -> Node:
        node = self.expression()
        closing = self.peek()
        if (
            closing is None
            or closing.kind is not Kind.CLOSE
            or f"{opening.text}{closing.text}" not in ("()", "[]", "{}")
        ):
            raise Unreadable
        self.at += 1
        if self._next_is(Kind.PERCENT):
            raise Unreadable
        self.unit()
        return node

    def _braced(self) -> Node:
        token = self.peek()
        if token is None or token.text != "{":
            raise Unreadable
        self.at += 1
        return self._group(token)

    def _next_is(self, kind: Kind) -> bool:
        token = self.peek()
        return token is not None and token.kind is kind

    def mixed(self, whole: Number) -> Number:
        """`2 1/2` as two and a half, where the second part is a proper fraction."""
        top, slash, bottom = self.peek(), self.peek(1), self.peek(2)
        if top is None or top.kind is not Kind.NUMBER or whole.is_decimal:
            return whole
        if not top.text.isascii():
            self.at += 1
            return Number(whole.value + numeral(top).value, is_exact=True)
        if slash is None or bottom is None or slash.text != "/" or bottom.kind is not Kind.NUMBER or not top.spaced:
            return whole
        above, below = numeral(top).value, numeral(bottom).value
        if slash.spaced or bottom.spaced or not 0 < above < below:
            return whole
        self.at += 3
        return Number(whole.value + above / below, is_exact=True)

    def measured(self, number: Number) -> Number:
        """The number with the percent sign, scale and unit that follow it."""
        percent = self._next_is(Kind.PERCENT)
        if percent:
            self.at += 1
        scale = 1
        token = self.peek()
        if token is not None and token.kind is Kind.WORD and token.text in SCALES:
            self.at += 1
            scale = SCALES[token.text]
        unit = self.unit()
        if not percent and scale == 1 and unit is None:
            return number
        return replace(number, percent=percent, scale=scale, unit=unit)

    def unit(self) -> Unit | None:
        """The words of a unit, if they lead to an operator or an end; None (and nothing taken) otherwise."""
        begin, words, chinese, is_rate = self.at, list[str](), 0, False
        while (token := self.peek()) is not None:
            following = self.peek(1)
            if token.kind is Kind.WORD and not self.is_times():
                if not self._is_unit_word(token, first=not words):
                    break
                words.append(token.text)
                chinese += not token.is_letters
                is_rate = is_rate or token.text in ("per", "a", "an", "each", "every", "每")
            elif token.text == "/" and self._is_per(following, after_words=bool(words)):
                is_rate = True
            elif token.text in _POWERS and words:
                words.append(token.text)
            elif token.text == "^" and words and following is not None and following.kind is Kind.NUMBER:
                words.append(following.text)
                self.at += 1
            else:
                break
            self.at += 1
            if len(words) - chinese > MAX_UNIT_WORDS or chinese > MAX_UNIT_CHARACTERS:
                break
        return self._unit_between(begin, words, is_rate=is_rate)

    def _is_per(self, following: Token | None, *, after_words: bool) -> bool:
        """Whether a slash means "per": miles/minute, 40/hour, but not 3/x."""
        if following is None or following.kind is not Kind.WORD:
            return False
        return after_words or len(following.text) > 1

    def _unit_between(self, begin: int, words: list[str], *, is_rate: bool) -> Unit | None:
        token = self.peek()
        leads_on = token is None or token.kind in _ENDS or token.kind is Kind.OPERATOR or self.is_times()
        if self.at == begin or not leads_on:
            self.at = begin
            return None
        return Unit(_known(words), is_rate, tuple(words))

    def _is_unit_word(self, token: Token, *, first: bool) -> bool:
        if token.text in UNIT_STOPS or token.text in UNIT_STOP_CHARACTERS:
            return False
        if token.is_letters and not token.spaced and first and self.tokens[self.at - 1].kind is Kind.NUMBER:
            return token.text in ATTACHED_UNITS
        following = self.peek(1)
        is_article = token.text == "a" and (not first or (following is not None and following.kind is Kind.WORD))
        return is_article or not token.is_letters or len(token.text) > 1


def _known(words: list[str]) -> str | None:
    """The known unit that these words begin with: one English word, or the longest run of Chinese characters."""
    if words and words[0].isascii():
        return words[0] if words[0] in UNITS else None
    for length in (2, 1):
        name = "".join(words[:length])
        if name in UNITS:
            return name
    return None
