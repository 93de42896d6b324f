"""The arithmetic statements in a solution: every relation sign with an expression of numbers on both sides."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import takewhile

from touchstone.checks.arithmetic import prose
from touchstone.checks.arithmetic.numerals import (
    LONGEST_NAME,
    SCALE_WORDS,
    Budget,
    Numeral,
    numbers_in,
    numeral,
    units_named,
)
from touchstone.checks.arithmetic.prose import ATTACHED, UNIT_STOPS, is_currency, is_word
from touchstone.checks.arithmetic.statements import Statement, is_computation
from touchstone.checks.notation.numerals import scale_of
from touchstone.checks.notation.syntax import IMPLICIT, Parser
from touchstone.checks.notation.tokens import Token
from touchstone.checks.notation.trees import Apply, NotAnExpressionError, Number, Tree, value_or_none
from touchstone.checks.notation.unit_reading import power_at
from touchstone.checks.notation.units import UNITS

MAX_UNIT_WORDS = 6
MAX_UNIT_CHARACTERS = 8
MAX_SCALE = 8
"""Characters behind a number that are searched for its scale: 千万 in 3千万."""
LEAST_ATTACHED = 3
"""Least letters of a unit that may follow a number without a space, except for the units in `ATTACHED`."""

_IRRATIONAL = frozenset(("π", "√", "sqrt"))
"""What multiplies a number right before it: 2π, 3√2."""
MAX_OPERAND_TOKENS = 300
MAX_STARTS = 8
"""How many places are tried where the left side of an `=` may begin."""
_MOST_FACTORS = 3
"""Most letters that are read as factors behind a bracket; more are a word."""
_CLOSING_REACH = 4
"""A number within this many tokens behind a Chinese word continues the expression."""


class Reader(Parser):
    """The grammar without names, for prose: an expression ends before the first token that does not belong to it.

    `measured`: a letter that stands apart behind a number is its unit: 12 s.
    """

    postfix = {"!": Parser.postfix["!"]}  # noqa: RUF012 - never changed

    def __init__(self, tokens: list[Token], budget: Budget, *, measured: bool = False) -> None:
        super().__init__(tokens)
        self._budget = budget
        self._measures = measured

    def _starts_operand(self, token: Token) -> bool:
        """Whether a bracket stands right behind an operand and so means multiplication: 2(3), (2)(3)."""
        before = self._tokens[self.place - 1]
        if token.text in _IRRATIONAL:
            return before.kind in ("number", "close")
        return token.is_sign("(", "{") and (before.kind == "close" or (before.kind == "number" and not token.spaced))

    def _implicit(self, left: Tree, token: Token, started: int, *, after_slash: bool) -> Tree:
        if token.text not in _IRRATIONAL:
            return super()._implicit(left, token, started, after_slash=after_slash)
        if after_slash:
            raise NotAnExpressionError("it is not clear how far the denominator goes")
        return Apply("mul", (left, self.expression(IMPLICIT + 1)))

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
        return self._function("sqrt") if token.kind == "function" else self._sign(token.text)

    def _money(self, sign: Token) -> Tree:
        match self._sign(self.take().text) if self._is("-") else self._prefix():
            case Numeral() as amount:
                # $12.5\,\text{km}$ is a formula.
                return amount if units_named(amount.unit) else replace(amount, unit=(sign, *amount.unit))
            case Apply("neg", (Numeral() as amount,)):
                return Apply("neg", (replace(amount, unit=(sign, *amount.unit)),))
            case tree:
                return tree  # $-3^2$ is no amount of money

    def _group(self, opener: str) -> Tree:
        tree = super()._group(opener)
        if self._is("%"):
            raise NotAnExpressionError("a share of a sum")
        unit = self._unit()
        return Apply("mul", (tree, Numeral(Fraction(1), unit=unit))) if units_named(unit) else tree

    def _argument(self) -> Tree:
        token = self.peek()
        if token is not None and token.kind == "number" and not token.spaced:
            digit = super()._argument()  # \frac12
            return Numeral(digit.value) if isinstance(digit, Number) else digit
        self._expect("{")
        return self._group("{")

    def _measured(self, token: Token) -> Numeral:
        """A number with the percent sign, scale and unit that follow it."""
        if self._is("frac"):
            raise NotAnExpressionError("a mixed number, or a product")
        written, behind = numeral(token), self.peek()
        times_pi = behind is not None and behind.text == "π"
        number = written if times_pi else self._mixed(token._replace(value=written))
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
        first = self.peek()
        if first is not None and first.is_sign("€", "£", "¥") and self._tokens[begin - 1].kind == "number":
            self.place += 1
            return (first,)
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
        ends_formula = following is not None and following.is_sign("¤") and self.peek(1) is None
        if following is None or following.kind == "close" or following.is_sign("+", "-", "*", "/") or ends_formula:
            return tuple(self._tokens[begin : self.place])
        self.place = begin
        return ()

    def _is_unit_word(self, token: Token, *, first: bool) -> bool:
        text, before, following = token.text.lower(), self._tokens[self.place - 1], self.peek(1)
        if text in UNIT_STOPS:
            return False
        if token.kind != "letters":
            return True
        if first and before.kind in ("number", "close") and not token.spaced and not token.upright:
            return text in ATTACHED or token.text in ATTACHED or (len(text) >= LEAST_ATTACHED and text in UNITS)
        if token.text == "a" or (text == "a" and not self._measures):
            return not first or (following is not None and is_word(following))
        return len(text) > 1 or (token.text in UNITS and (self._measures or before.is_sign("/", "°") or token.upright))


class Scan:
    """One pass over a text, or over the inside of a calculator mark. Raises OutOfBoundsError for a number too long."""

    def __init__(self, text: str, offset: int, budget: Budget) -> None:
        self.text, self.offset, self.budget = text, offset, budget
        self.tokens = prose.arithmetic_tokens(text)

    @cached_property
    def _names(self) -> set[str]:
        """Letters and words that stand elsewhere than behind a number."""
        before = ["", *(token.kind for token in self.tokens)]
        pairs = zip(before, self.tokens, strict=False)
        return {token.text for kind, token in pairs if kind != "number" and token.kind == "letters"}

    @cached_property
    def _to_scale(self) -> bool:
        return prose.is_to_scale(self.text)

    def statements(self) -> Iterator[tuple[int, int, Statement]]:
        """Every `left = right` that can be read: its start and end in the text, and the statement.

        What cannot be read otherwise may be amounts with units of one letter: 150 m / 12 s = 12.5 m/s.
        """
        borders = [index for index, token in enumerate(self.tokens) if token.is_sign(prose.BREAK, "=", "~=")]
        for place, index in enumerate(borders):
            if self.tokens[index].text == prose.BREAK:
                continue
            previous = borders[place - 1] if place else -1
            following = borders[place + 1] if place + 1 < len(borders) else len(self.tokens)
            found = self._statement(previous, index, following)
            if found is None and any(map(self._may_be_unit, range(previous + 1, following))):
                found = self._statement(previous, index, following, measured=True)
            if found is not None:
                yield found

    def _may_be_unit(self, place: int) -> bool:
        token = self.tokens[place]
        apart = token.spaced or token.upright or self.tokens[place - 1].is_sign("/")
        return token.kind == "letters" and len(token.text) == 1 and apart and token.text in UNITS

    def _statement(
        self, previous: int, index: int, following: int, *, measured: bool = False
    ) -> tuple[int, int, Statement] | None:
        """The statement around a relation, within the borders on both sides; None if it cannot be read.

        `measured`: its right side is one amount with a unit, and so are the numbers on its left, or none of them.
        """
        right = self._parsed(index + 1, following, measured=measured)
        if right is None:
            return None
        ends_in_unit = not measured and self._ends_in_unit(right[0])
        if not (ends_in_unit or self._ends_well(right[0], following)):
            return None
        if (left := self._left_of(previous, index, measured=measured)) is None:
            return None
        has_units = any(number.unit for tree in left[1] for number in numbers_in(tree))
        if ends_in_unit and has_units:
            return None
        (start, first), (end, second) = left, right
        if self._ends_in_factors(start, index) and is_computation(second):
            return None
        # A single letter behind what has no units may be a variable.
        if measured and not (isinstance(second, Numeral) and len(second.unit) > (not has_units)):
            return None
        relation, last, behind = self.tokens[index], self.tokens[end - 1], self.tokens[min(end, len(self.tokens) - 1)]
        # Include the brace that closes a LaTeX text.
        ending = last.end + (last.upright and self.text[last.end : last.end + 1] == "}")
        leading = self.tokens[index + 1]
        statement = Statement(
            left=first,
            right=second,
            about=relation.text == "~=" or prose.is_about(self.text, relation.start, behind.end),
            runs_on=leading.kind == "number" or prose.is_currency(leading),
            measured=measured,
            to_scale=self._to_scale,
        )
        return self.tokens[start].start, ending, statement

    def _ends_in_factors(self, start: int, index: int) -> bool:
        """Whether letters behind a bracket may be factors: the left side of ½(bh) = ½(6)(8), as LaTeX writes it."""
        closed = next((at for at in range(index - 1, start, -1) if self.tokens[at].kind == "close"), index)
        tail = self.tokens[closed + 1 : index]
        return bool(tail) and tail[0].kind == "letters" and len(tail[0].text) <= _MOST_FACTORS and not units_named(tail)

    def ratios(self) -> Iterator[tuple[int, int, Statement]]:
        """Every statement that two ratios are the same, as one of two quotients that are about the same.

        In `Step 3: 5 = 10 : 2` the first number is no term, and 8 : 2 = 4 : 2 = 2 is a running chain.
        """
        for match in prose.ratios(self.text):
            over, under, first, second = (Numeral(Fraction(int(term))) for term in match.groups())
            left, right = (Apply("div", (over, under)), under), Apply("div", (first, second))
            yield match.start(), match.end("second"), Statement(left=left, right=right, about=True, runs_on=True)

    def _parsed(self, start: int, stop: int, *, measured: bool = False) -> tuple[int, Tree] | None:
        """The end (`stop` at most) and the tree of the expression that begins at `start`; None if it cannot be read."""
        if stop - start > MAX_OPERAND_TOKENS:
            return None
        reader = Reader(self.tokens[start:stop], self.budget, measured=measured)
        tree = value_or_none(reader.expression, 0)
        return None if tree is None else (start + reader.place, tree)

    def _ends_well(self, end: int, following: int) -> bool:
        """Whether no token behind an expression belongs to it."""
        if end >= following:
            return True
        token = self.tokens[end]
        after = self.tokens[end + 1] if end + 1 < len(self.tokens) else None
        if token.kind == "open":
            return token.spaced and after is not None and prose.is_word(after)
        if token.kind == "letters":
            word = token.text.lower()
            is_variable = len(word) == 1 and word not in ("a", "i")
            if is_variable or not (token.spaced or token.upright) or word in prose.RESULT_STOPS:
                return False
            return after is None or after.kind != "number"
        if prose.is_word(token):
            reach = self.tokens[end + 1 : min(end + _CLOSING_REACH, following)]
            return not any(near.kind == "number" for near in reach)
        return token.kind == "close" or prose.is_currency(token)

    def _ends_in_unit(self, end: int) -> bool:
        """Whether a statement ends with a unit of one letter, `= 18 J.`, which is nowhere a name in the text."""
        if not 0 < end < len(self.tokens) or (
            end + 1 < len(self.tokens) and not self.tokens[end + 1].is_sign(prose.BREAK)
        ):
            return False
        token = self.tokens[end]
        if not (token.kind == "letters" and len(token.text) == 1 and token.spaced and token.text in UNITS):
            return False
        return self.tokens[end - 1].kind == "number" and token.text not in self._names

    def _left_of(self, previous: int, index: int, *, measured: bool = False) -> tuple[int, tuple[Tree, ...]] | None:
        """The start of the longest expression that ends at the relation, and its possible trees.

        None if there is none, or if tokens before the expression belong to it.
        """
        for start in self._starts(previous, index):
            parsed = self._parsed(start, index, measured=measured)
            if parsed is None or parsed[0] != index:
                continue
            if not self._begins_well(start, previous):
                return None
            if start == 0 or not (dash := self.tokens[start - 1]).is_sign(prose.BULLET):
                return start, (parsed[1],)
            # "- 3 + 4" at the start of a line is an item 3 + 4, or 1.
            signed = Reader([dash._replace(text="-"), *self.tokens[start:index]], self.budget, measured=measured)
            tree = value_or_none(signed.expression, 0)
            return start, (parsed[1],) if tree is None else (parsed[1], tree)
        return None

    def _starts(self, previous: int, index: int) -> list[int]:
        """Where the left side may begin, farthest first: behind a word, a border, an item's mark or a bracket."""
        found: list[int] = []
        for at in range(index - 1, max(previous, index - MAX_OPERAND_TOKENS), -1):
            token = self.tokens[at]
            if token.kind == "other":
                break
            before = self.tokens[at - 1] if at - 1 > previous else None
            begins = prose.is_start(token)
            if token.is_sign("-"):
                # In "is -3 + 4" the minus is a sign; in "900 of them - 3" it is a difference.
                begins = before is None or not prose.is_word(before) or not self.tokens[at + 1].spaced
            if begins and (before is None or prose.is_word(before) or before.is_sign(prose.BULLET, *"([{⦃⌊⌈)]}⦄⌋⌉")):
                found.append(at)
        return found[:MAX_STARTS][::-1]

    def _begins_well(self, start: int, previous: int) -> bool:
        """Whether no token before an expression belongs to it."""
        if start - 1 == previous or self._is_next(start, previous):
            return True
        if self._goes_on(start, previous):
            return False
        if any(token.is_sign("+", "-", "*", "/", "^") for token in self.tokens[previous + 1 : start]):
            return False
        token = self.tokens[start - 1]
        if token.kind == "letters":
            return len(token.text) > 1 and token.text.lower() not in prose.MODIFIERS and self.tokens[start].spaced
        if prose.is_word(token):
            earlier = self.tokens[start - 2].text if start > 1 else ""
            if token.text == "又" or (earlier == "分" and token.text == "之"):
                return False  # In 1又1/2 and 3分之4, the number behind these characters is a part of a larger number.
            blocked = token.text in prose.MODIFIER_CHARACTERS or token.text in prose.NUMERAL_CHARACTERS
            return not blocked and earlier not in prose.NUMERAL_CHARACTERS
        return token.is_sign(prose.BULLET) or token.kind == "open"

    def _is_next(self, start: int, previous: int) -> bool:
        """Whether an expression follows a whole statement and "and": in `3 * 4 = 12 and 4 * 5 = 20`."""
        if previous < 0 or not self.tokens[previous].is_sign(*prose.RELATIONS):
            return False
        *between, last = self.tokens[previous + 1 : start]
        plain = all(token.kind == "number" or is_word(token) or is_currency(token) for token in between)
        modified = any(token.text.lower() in prose.MODIFIERS for token in between)
        numbers = sum(token.kind == "number" for token in between)
        return last.text.lower() == "and" and plain and not modified and numbers == 1

    def _goes_on(self, start: int, previous: int) -> bool:
        """Whether a number with a unit stands right before: in `1 hr 15 min`, 15 min is only a part of the amount."""
        at = start
        while at - 1 > previous and start - at < LONGEST_NAME and prose.is_word(self.tokens[at - 1]):
            at -= 1
        is_measured = at - 1 > previous and at < start and self.tokens[at - 1].kind == "number"
        return is_measured and bool(units_named(self.tokens[at:start]))
