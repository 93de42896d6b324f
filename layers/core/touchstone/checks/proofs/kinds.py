"""A kind of provable problem: its patterns, its solver, and the comparison of an answer with the solution."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction

from touchstone.checks.algebra.expressions import Algebra
from touchstone.checks.equivalence.comparison import Comparison
from touchstone.checks.equivalence.elsewhere import ways_elsewhere
from touchstone.checks.findings import Outcome, Proof
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree, value_or_none
from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Condition, Quantity, Solutions, Value, Words
from touchstone.checks.values.rounding import quantum
from touchstone.limits import Allowance
from touchstone.packaged import own_sources, own_table
from touchstone.text.language import Language

DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
"""A comma between digits: 1,234 means 1.234 in texts with a decimal comma."""
_DECIMAL = re.compile(r"\.\d")
_FUNCTIONS = frozenset("yfghFG")
"""First letters of names that a function's expression may be given: y, y', f(x), F(x)."""
_SENTENCES: dict[str, dict[Language, str]] = own_table(__file__, "sentences.json")
WORDS: dict[str, list[str]] = own_table(__file__, "words.json")
"""Words that answers and problems use, by their meaning."""
_PROBLEMS = own_sources(__file__, "problems.json")


@dataclass(frozen=True, slots=True)
class ProofTask:
    """A recognised problem and its answer.

    `rule` is the kind of the problem and `parts` are its named parts. `answer` is the answer's text, `given` its value.
    `time` is the time left for algebra.
    """

    rule: str
    parts: dict[str, str]
    answer: str
    given: Value
    language: Language
    time: Allowance

    def __getitem__(self, name: str) -> str:
        return self.parts[name]

    def line(self, key: str, /, **values: object) -> str:
        """One line of the derivation, in the language of the problem."""
        return _SENTENCES[key][self.language].format(**values)

    def proof(self, same: bool | None, correct: str | None, *lines: str) -> Proof | None:
        """The proof with these lines as its derivation.

        None if it is not known whether the answer is correct (`same` is None), if the answer has another value
        elsewhere, or if a refutation may rest on a misreading.
        """
        if same is None or (not same and self.answer.endswith("!")):
            return None  # The ! of 5! may be an exclamation mark.
        if any(way != self.answer for way in ways_elsewhere(self.answer, "", same=True).values()):
            return None  # 3-1/2 may be three and a half.
        # If a decimal was evaluated while the answer was read, its rounding is no longer visible: |x| < 1.414.
        lost = not isinstance(self.given, Words) and len(_DECIMAL.findall(self.answer)) > _decimals(self.given)
        if lost and not same:
            return None
        outcome: Outcome = "proved" if same else "refuted"
        return Proof(outcome=outcome, rule=self.rule, derivation=lines, correct_answer=correct)

    def compared(self, line: str, correct: str, *, whole: bool = True) -> Proof | None:
        """The proof for a problem with the number `correct` as its answer, as `line` says; `whole` is as in `same`."""
        quantity, wanted = self.quantity(), tree_of(correct)
        if quantity is None or wanted is None or quantity.tree.names - {"pi", "e"}:
            return None
        if any(unit.dimension for unit in quantity.units):
            return None
        same = self.same(quantity, Quantity(wanted), whole=whole)
        if not same and (quantity.percent or DECIMAL_COMMA.search(self.answer)):
            return None
        return self.proof(same, correct, line, self.line("equal" if same else "unequal", given=self.answer))

    def same(self, given: Quantity, correct: Quantity, *, whole: bool = False) -> bool | None:
        """Whether the two have the same value. None also if `given` may be `correct`, rounded or cut off.

        A decimal may be such a rounding; so may a whole number if `whole` is set, but not a fraction. An expression
        with a decimal (1.414/2) may be off by any amount: it is never different.
        """
        same, stated = Comparison(self.time).same(given, correct), rational(given.tree)
        step = quantum(given.tree)
        if step is None and given.tree.has_decimal:
            return same or None
        step = step or (Fraction(1) if whole and stated is not None and stated.denominator == 1 else None)
        if same is None or stated is None or step is None:
            return same
        exact = Algebra(self.time).bounds(correct.tree)
        rounded = exact is not None and abs(stated - exact[0]) < step and (exact[0] / step).denominator != 1
        return None if rounded else same

    def quantity(self) -> Quantity | None:
        """The single number or quantity that the answer gives, with or without a name; None for any other answer."""
        match self.given:
            case Quantity() as quantity:
                return quantity
            case Solutions(alternatives=(((_, Quantity() as quantity),),)):
                return quantity
        return None

    def expression(self, wanted: Tree) -> Tree | None:
        """The expression that the answer gives for `wanted`; None for any other answer.

        It may stand alone, behind a name that `wanted` does not use, behind `wanted =`, or behind dy/dx =.
        """
        match self.given:
            case Quantity(units=(), tree=tree) | Quantity(bare=Apply() as tree):
                return tree
            case Solutions((((name, Quantity(tree=tree, units=())),),)) if name[0] in _FUNCTIONS - wanted.names:
                return tree
            case Condition(left=left, right=right, sign="=") if left == wanted:
                return right
            case Condition(Apply("div", (Apply(_, (Name("d"), _)), Apply(_, (Name("d"), _)))), right, "="):
                return right  # dy/dx = …
            case Words(plain=True):
                return tree_of(self.answer)
        return None


def _decimals(value: object) -> int:
    """How many numbers with a decimal point a value contains."""
    if isinstance(value, Number):
        return int(value.decimals is not None)
    if isinstance(value, tuple):
        return sum(map(_decimals, value))
    return sum(_decimals(getattr(value, field.name)) for field in fields(value)) if is_dataclass(value) else 0


type Solver = Callable[[ProofTask], Proof | None]


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A kind of problem: patterns that must match the whole problem, and the function that proves an answer.

    The function returns None or raises NotAnExpressionError if it cannot decide.
    """

    rule: str
    patterns: tuple[re.Pattern[str], ...]
    prove: Solver


KINDS: list[ProblemKind] = []
"""All kinds, in the order in which they are tried."""


def kind(rule: str) -> Callable[[Solver], Solver]:
    """Register the decorated function as the solver of the kind `rule`.

    The kind's patterns ignore case and see problems in which every white space is a single blank.
    """

    def registered(prove: Solver) -> Solver:
        KINDS.append(ProblemKind(rule, tuple(re.compile(source, re.IGNORECASE) for source in _PROBLEMS[rule]), prove))
        return prove

    return registered


def tree_of(text: str) -> Tree | None:
    """The expression that the whole of `text` is; None if it is no expression."""
    return value_or_none(parse, text.strip())


def value_of(text: str) -> Fraction:
    """The rational number that the whole of `text` is. Raises NotAnExpressionError if it is none."""
    value = rational(parse(text))
    if value is None:
        raise NotAnExpressionError("not a rational number")
    return value
