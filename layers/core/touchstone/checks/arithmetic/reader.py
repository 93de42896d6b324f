"""Reads one expression of numbers, with their units, percent signs and scales, from the tokens of a solution."""

from dataclasses import replace
from itertools import takewhile

from touchstone.checks.arithmetic.numerals import SCALE_WORDS, Budget, Numeral, numeral
from touchstone.checks.arithmetic.prose import ATTACHED, UNIT_STOPS, is_currency, is_word
from touchstone.checks.notation.numerals import scale_of
from touchstone.checks.notation.syntax import Parser
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Number, Tree
from touchstone.checks.notation.unit_reading import power_at
from touchstone.checks.notation.units import UNITS

MAX_UNIT_WORDS = 6
MAX_UNIT_CHARACTERS = 8
MAX_SCALE = 8
"""Characters behind a number that are searched for its scale: 千万 in 3千万."""
LEAST_ATTACHED = 3
"""Least letters of a unit that may follow a number without a space, except for the units in `ATTACHED`."""


class Reader(Parser):
    """The grammar without names, for prose: an expression ends before the first token that does not belong to it."""

    postfix = {"!": Parser.postfix["!"]}  # noqa: RUF012 - never changed

    def __init__(self, tokens: list[Token], budget: Budget) -> None:
        super().__init__(tokens)
        self._budget = budget

    def _starts_operand(self, token: Token) -> bool:
        """Whether a bracket stands right behind an operand and so means multiplication: 2(3), (2)(3)."""
        before = self._tokens[self.place - 1]
        return token.is_sign("(", "{") and (before.kind == "close" or (before.kind == "number" and not token.spaced))

    def _may_repeat(self, left: Number, *, whole: bool) -> bool:  # noqa: ARG002 - the overridden method's signature
        """Always False: nobody writes a repeating decimal as a factor, and 0.5(20) is 10."""
        return False

    def _prefix(self) -> Tree:
        self._budget.spend()
        token = self.take()
        if token.kind == "number":
            return self._measured(token)
        if is_currency(token):
            return self._money(token)
        if is_word(token):
            raise NotAnExpressionError("a name")
        return self._sign(token.text)

    def _money(self, sign: Token) -> Tree:
        if self._is("-"):
            self.place += 1
            return Apply("neg", (self._money(sign),))
        tree = self._prefix()
        return replace(tree, unit=(sign, *tree.unit)) if isinstance(tree, Numeral) else tree

    def _group(self, opener: str) -> Tree:
        tree = super()._group(opener)
        if self._is("%"):
            raise NotAnExpressionError("a share of a sum")
        self._unit()
        return tree

    def _argument(self) -> Tree:
        self._expect("{")
        return self._group("{")

    def _measured(self, token: Token) -> Numeral:
        """A number with the percent sign, scale and unit that follow it."""
        if self._is("frac"):
            raise NotAnExpressionError("a mixed number, or a product")
        number = self._mixed(token._replace(value=numeral(token)))
        if not isinstance(number, Number):
            raise NotAnExpressionError("digits to another base")
        percent = self._is("%")
        self.place += percent
        behind, scale, length = self.peek(), 1, 0
        if behind is not None and behind.kind == "han":
            characters = takewhile(lambda each: each.kind == "han", self._tokens[self.place : self.place + MAX_SCALE])
            scale, length = scale_of("".join(each.text for each in characters))
        if not length and behind is not None and is_word(behind):
            scale = SCALE_WORDS.get(behind.text.lower(), 1)
            length = int(scale != 1)
        self.place += length
        return Numeral(number.value, number.decimals, percent, scale, self._unit())

    def _unit(self) -> tuple[Token, ...]:
        """The words of a unit, if an operator, a closing bracket or the end follows them.

        Otherwise nothing is returned and no token is taken.
        """
        begin, words = self.place, 0
        while (token := self.peek()) is not None:
            if is_word(token):
                if not self._is_unit_word(token, first=not words):
                    break
                words += 1
            elif words and token.is_sign("^") and (power := power_at(self._tokens, self.place)[1]):
                self.place += power - 1
            else:
                # A slash may mean "per": miles/minute, 40/hour, but not 3/x.
                after = self.peek(1) if token.is_sign("/") else None
                if after is None or not is_word(after) or not (words or len(after.text) > 1):
                    break
            self.place += 1
            characters = sum(part.kind == "han" for part in self._tokens[begin : self.place])
            if words - characters > MAX_UNIT_WORDS or characters > MAX_UNIT_CHARACTERS:
                break
        following = self.peek()
        if following is None or following.kind == "close" or following.is_sign("+", "-", "*", "/"):
            return tuple(self._tokens[begin : self.place])
        self.place = begin
        return ()

    def _is_unit_word(self, token: Token, *, first: bool) -> bool:
        text, before, following = token.text.lower(), self._tokens[self.place - 1], self.peek(1)
        if text in UNIT_STOPS:
            return False
        if token.kind != "letters":
            return True
        if first and before.kind == "number" and not token.spaced and not token.upright:
            return text in ATTACHED or token.text in ATTACHED or (len(text) >= LEAST_ATTACHED and text in UNITS)
        if text == "a":
            return not first or (following is not None and is_word(following))
        return len(text) > 1 or (token.text in UNITS and (before.is_sign("/", "°") or token.upright))
