"""What a kind of provable problem is, and the pieces of grammar that kinds share."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from touchstone.checks.findings import Outcome, Proof
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.trees import Apply, Name, NotAnExpressionError, Number, Tree
from touchstone.checks.proofs.sentences import Language, sentence
from touchstone.checks.values.exact import rational

MAX_DEGREE = 16
"""Degree of what is expanded, factored or solved; a textbook's seldom passes 8, and work grows fast with it."""


@dataclass(frozen=True, slots=True)
class Task:
    """A recognised problem: the named parts of its text, the answer to it, and the language to explain in."""

    parts: dict[str, str]
    answer: str
    language: Language

    def __getitem__(self, name: str) -> str:
        return self.parts[name]

    def compared(self, rule: str, line: str, *, equal: bool, correct: str, given: str | None = None) -> Proof:
        """The proof that ends with whether the answer, as `given`, equals what `line` came to."""
        closing = sentence("equal" if equal else "unequal", self.language, given=given or self.answer)
        outcome: Outcome = "proved" if equal else "refuted"
        return Proof(outcome=outcome, rule=rule, derivation=(line, closing), correct_answer=correct)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: the tight patterns that its whole text must match, and the proof of an answer to it.

    `prove` returns None where it cannot decide; it never raises for bad text.
    """

    rule: str
    patterns: tuple[re.Pattern[str], ...]
    prove: Callable[[Task], Proof | None]


_RUN = re.compile(r"\\s([*+])\+?")
"""A run of blanks in a pattern, possessive or not."""


def patterns(*sources: str) -> tuple[re.Pattern[str], ...]:
    """Patterns for whole problems, blind to case.

    A problem's text has no two blanks side by side, so that one is all that a run of them can be: `\\s*` is `\\s?`.
    """
    single = (_RUN.sub(lambda run: r"\s?" if run[1] == "*" else r"\s", source) for source in sources)
    return tuple(re.compile(source, re.IGNORECASE) for source in single)


def tree_of(text: str) -> Tree | None:
    """The expression that the whole of `text` writes, None where it writes none."""
    try:
        return parse(text.strip())
    except NotAnExpressionError:
        return None


def has_whole_powers(tree: Tree) -> bool:
    """Whether every exponent is a whole number, and no power of a power is beyond `MAX_DEGREE`.

    x^(1/2) asks about signs that a rational function never does; a large power of a sum has too many terms.
    """
    return _degree(tree) <= MAX_DEGREE


def _degree(tree: Tree) -> float:
    """A bound on the degree of a rational function, infinite for anything else."""
    match tree:
        case Name():
            return 1
        case Apply(operation="pow", arguments=(base, exponent)):
            return _degree(base) * max(abs(_whole(exponent)), 1)
        case Apply(operation="mul" | "div", arguments=arguments):
            return sum(map(_degree, arguments))
        case Apply(arguments=arguments):
            return max(map(_degree, arguments))
        case _:
            return 0


def _whole(tree: Tree) -> float:
    match tree:
        case Number(value=value) if value.denominator == 1:
            return float(value)
        case Apply(operation="neg", arguments=(inner,)):
            return _whole(inner)
        case _:
            return inf


def is_plain_value(tree: Tree) -> bool:
    """Whether an expression is a number written down (-3, 2/5, 40%), not one still to be worked out."""
    match tree:
        case Number():
            return True
        case Apply(operation="neg" | "percent", arguments=(inner,)):
            return is_plain_value(inner)
        case Apply(operation="div", arguments=(top, bottom)):
            return is_integer(top) and is_integer(bottom)
        case _:
            return False


def is_integer(tree: Tree) -> bool:
    """Whether an expression is a whole number written down."""
    match tree:
        case Number(value=value, decimals=decimals):
            return decimals is None and value.denominator == 1
        case Apply(operation="neg", arguments=(inner,)):
            return is_integer(inner)
        case _:
            return False


def number_of(text: str) -> Number | None:
    """The number that the whole of `text` writes in plain form; `decimals` as written, None for other text."""
    tree = tree_of(text)
    if tree is None or not is_plain_value(tree):
        return None
    try:
        value = rational(tree)
    except NotAnExpressionError:
        return None
    if value is None:
        return None
    return Number(value, _decimals(tree))


def _decimals(tree: Tree) -> int | None:
    match tree:
        case Number(decimals=decimals):
            return decimals
        case Apply(operation="percent", arguments=(inner,)):
            return (_decimals(inner) or 0) + 2
        case Apply(operation="neg", arguments=(inner,)):
            return _decimals(inner)
        case _:
            return None
