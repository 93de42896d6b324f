"""Reads one expression of numbers from tokens: a recursive descent, bounded in depth and in steps."""

from dataclasses import dataclass, replace
from fractions import Fraction

from touchstone.checks.arithmetic.numerals import SCALE_WORDS, Budget, Numeral, Unreadable, numeral
from touchstone.checks.arithmetic.prose import BREAK, is_currency, is_start, is_word
from touchstone.checks.arithmetic.words import ATTACHED, UNIT_STOP_CHARACTERS, UNIT_STOPS
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import Apply, Number, Tree
from touchstone.checks.notation.units import UNITS

MAX_DEPTH = 40
"""Brackets within brackets: far below Python's recursion limit."""
MAX_UNIT_WORDS = 6
MAX_UNIT_CHARACTERS = 8
LEAST_ATTACHED = 3
"""Letters of a unit that may follow a number without a space, at least, but for the ones in `ATTACHED`."""

_OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


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
        if token is not None and token.is_sign("+", "-"):
            token = self.peek(ahead + 1)
        return token is not None and is_start(token)

    def is_times(self) -> bool:
        """Whether the next token is an x that means times: between two numbers."""
        token, after = self.peek(), self.peek(1)
        if token is None or after is None or token.kind != "letters" or token.text not in ("x", "X"):
            return False
        return self.is_start(1) and (token.spaced == after.spaced or is_currency(after))

    def operator(self, *signs: str) -> str | None:
        """The operation of the next sign, taken, if it is one of these and an operand follows."""
        token = self.peek()
        if token is None:
            return None
        if token.kind == "sign":
            operation = _OPERATIONS[token.text] if token.text in signs and self.is_start(1) else None
        else:
            operation = "mul" if "*" in signs and (self._is_share() or self.is_times()) else None
        self.at += operation is not None
        return operation

    def _is_share(self) -> bool:
        """Whether "of" (的) stands between a share and a number: 20% of 50, 50的20%."""
        token, before, after = self.peek(), self.tokens[self.at - 1], self.peek(1)
        if token is None or after is None or not is_word(token):
            return False
        if token.text.lower() == "of":
            return before.is_sign("%") and (after.kind == "number" or after.is_sign(*_CLOSERS) or is_currency(after))
        return token.text == "的" and before.kind != "sign" and after.kind == "number"

    def expression(self) -> Tree:
        """A sum."""
        self._deeper()
        tree = self.product()
        while operation := self.operator("+", "-"):
            tree = Apply(operation, (tree, self.product()))
        self.depth -= 1
        return tree

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable

    def product(self) -> Tree:
        """A product or quotient."""
        tree = self.factor()
        while True:
            if operation := self.operator("*", "/"):
                tree = Apply(operation, (tree, self.factor()))
            elif not self.tight and self._is_juxtaposed():
                tree = Apply("mul", (tree, self.unary()))
            else:
                return tree

    def _is_juxtaposed(self) -> bool:
        token, before = self.peek(), self.tokens[self.at - 1]
        if token is None or not token.is_sign("(", "{"):
            return False
        found = before.kind in ("number", "close") and not (token.spaced and before.kind == "number")
        self.juxtaposed = self.juxtaposed or found
        return found

    def factor(self) -> Tree:
        """A signed operand, with what is multiplied to it by juxtaposition."""
        tree = self.unary()
        while self.tight and self._is_juxtaposed():
            tree = Apply("mul", (tree, self.unary()))
        return tree

    def unary(self) -> Tree:
        """A signed operand; `-2^2` is valued both ways, so the sign binds last here."""
        self.budget.spend()
        token = self.peek()
        if token is None or not token.is_sign("+", "-"):
            return self.power()
        self.at += 1
        self._deeper()
        operand = self.unary()
        self.depth -= 1
        return Apply("neg", (operand,)) if token.text == "-" else operand

    def power(self) -> Tree:
        """An operand with its exponent or factorial mark."""
        base = self.atom()
        while self._next_is("!"):
            self.at += 1
            base = Apply("factorial", (base,))
        if self._next_is("^") and self.is_start(1):
            self.at += 1
            return Apply("pow", (base, self.unary()))
        return base

    def atom(self) -> Tree:
        """A numeral, a bracket, a LaTeX fraction or a root."""
        token = self.peek()
        if token is None:
            raise Unreadable
        self.at += 1
        if token.kind == "number":
            return self.measured(self.mixed(numeral(token)))
        if is_currency(token):
            return self._money(token)
        if token.is_sign(*_CLOSERS):
            return self._group(token)
        if token.is_sign("frac"):
            return Apply("div", (self._braced(), self._braced()))
        if token.is_sign("sqrt", "√"):
            return Apply("root", (self.atom(), Number(Fraction(2))))
        raise Unreadable

    def _money(self, sign: Token) -> Tree:
        if self._next_is("-"):
            self.at += 1
            return Apply("neg", (self._money(sign),))
        tree = self.atom()
        return replace(tree, unit=(sign, *tree.unit)) if isinstance(tree, Numeral) else tree

    def _group(self, opening: Token) -> Tree:
        tree = self.expression()
        if not self._next_is(_CLOSERS[opening.text]):
            raise Unreadable
        self.at += 1
        if self._next_is("%"):
            raise Unreadable
        self.unit()
        return tree

    def _braced(self) -> Tree:
        token = self.peek()
        if token is None or not token.is_sign("{"):
            raise Unreadable
        self.at += 1
        return self._group(token)

    def _next_is(self, *signs: str) -> bool:
        token = self.peek()
        return token is not None and token.is_sign(*signs)

    def mixed(self, whole: Numeral) -> Numeral:
        """`2 1/2` as two and a half, where the second part is a proper fraction."""
        top, slash, bottom = self.peek(), self.peek(1), self.peek(2)
        if top is None or top.kind != "number" or whole.decimals is not None:
            return whole
        if not top.text.isascii():
            self.at += 1
            return Numeral(whole.value + numeral(top).value)
        if slash is None or bottom is None or not slash.is_sign("/") or bottom.kind != "number" or not top.spaced:
            return whole
        above, below = numeral(top).value, numeral(bottom).value
        if slash.spaced or bottom.spaced or not 0 < above < below:
            return whole
        self.at += 3
        return Numeral(whole.value + above / below)

    def measured(self, number: Numeral) -> Numeral:
        """The number with the percent sign, scale and unit that follow it."""
        percent = self._next_is("%")
        self.at += percent
        token = self.peek()
        scale = SCALE_WORDS.get(token.text.lower(), 1) if token is not None and is_word(token) else 1
        self.at += scale != 1
        unit = self.unit()
        if not percent and scale == 1 and not unit:
            return number
        return Numeral(number.value, number.decimals, number.places, percent, scale, unit)

    def unit(self) -> tuple[Token, ...]:
        """The words of a unit, if they lead to an operator or an end; none (and nothing taken) otherwise."""
        begin, words = self.at, 0
        leading = self.peek()
        if leading is None or not (is_word(leading) or leading.text == "/"):
            return ()
        while (token := self.peek()) is not None:
            if is_word(token) and not self.is_times():
                if not self._is_unit_word(token, first=not words):
                    break
                words += 1
            elif not (token.is_sign("/") and self._is_per(after_words=bool(words))) and not (
                words and token.is_sign("^") and self._unit_power()
            ):
                break
            self.at += 1
            taken = self.tokens[begin : self.at]
            characters = sum(part.kind == "han" for part in taken)
            if words - characters > MAX_UNIT_WORDS or characters > MAX_UNIT_CHARACTERS:
                break
        following = self.peek()
        leads_on = following is None or following.kind == "close" or self.is_times()
        if leads_on or (following is not None and following.is_sign("=", "~=", BREAK, *_OPERATIONS, "^")):
            return tuple(self.tokens[begin : self.at])
        self.at = begin
        return ()

    def _is_per(self, *, after_words: bool) -> bool:
        """Whether a slash means "per": miles/minute, 40/hour, but not 3/x."""
        following = self.peek(1)
        return following is not None and is_word(following) and (after_words or len(following.text) > 1)

    def _unit_power(self) -> bool:
        """Whether a power of a unit stands here; then all of it but its last token is taken: ², ^2, ^{-1}."""
        for shape in ("^n", "^{n}", "^-n", "^{-n}"):
            parts = self.tokens[self.at : min(self.at + len(shape), self.stop)]
            if "".join("n" if part.kind == "number" else part.text for part in parts) == shape:
                self.at += len(shape) - 1
                return True
        return False

    def _is_unit_word(self, token: Token, *, first: bool) -> bool:
        text, before, following = token.text.lower(), self.tokens[self.at - 1], self.peek(1)
        if text in UNIT_STOPS or text in UNIT_STOP_CHARACTERS:
            return False
        if token.kind != "letters":
            return True
        if first and before.kind == "number" and not token.spaced and not token.upright:
            return text in ATTACHED or token.text in ATTACHED or (len(text) >= LEAST_ATTACHED and text in UNITS)
        if text == "a":
            return not first or (following is not None and is_word(following))
        return len(text) > 1 or (token.text in UNITS and (before.is_sign("/", "°") or token.upright))
