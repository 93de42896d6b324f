"""What an expression is once it is read: a small tree of exact numbers, names and operations, with bounds on its size.

NotAnExpressionError      the text is not one expression of the grammar, or can be read in two ways
└── OutOfBoundsError      it is larger than anything that is read or evaluated
"""

from dataclasses import dataclass
from fractions import Fraction

LENGTH_LIMIT = 2_000
"""Characters of one expression; the longest honest answers seen have about 300."""
TOKEN_LIMIT = 400
"""Tokens of one expression; bounds the size of the tree and all work on it."""
DIGIT_LIMIT = 400
"""Digits of one number; keeps all arithmetic on it in microseconds."""


class NotAnExpressionError(ValueError):
    """The text is not one expression of the grammar, is ambiguous, or exceeds a bound."""


class OutOfBoundsError(NotAnExpressionError):
    """The text or a number in it is larger than anything that is read or evaluated."""


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational. `decimals` counts the digits written after a decimal point, None for an integer.

    It is below 0 where the last digit written is worth more than one: -12 for 9.461e15.
    """

    value: Fraction
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A variable (`x`, `x_1`, `alpha`, `vec a`) or one of the constants `pi`, `e`, `i` and `oo` (infinity)."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation (add, mul, div, pow, neg, pm, mp, root, factorial, binomial, percent, degrees) or a function."""

    operation: str
    arguments: tuple["Tree", ...]


type Tree = Number | Name | Apply

CONSTANTS = frozenset(("pi", "e", "i", "oo"))
"""Names with a value of their own."""


def negated(tree: Tree) -> Tree:
    """`-tree`, a number for a number."""
    return Number(-tree.value, tree.decimals) if isinstance(tree, Number) else Apply("neg", (tree,))


def is_constant(tree: Tree) -> bool:
    """Whether no variable occurs in `tree`."""
    match tree:
        case Number():
            return True
        case Name(name):
            return name in CONSTANTS
        case Apply(arguments=arguments):
            return all(map(is_constant, arguments))


def names_of(tree: Tree) -> frozenset[str]:
    """The variables of `tree`."""
    match tree:
        case Name(name) if name not in CONSTANTS:
            return frozenset((name,))
        case Apply(arguments=arguments):
            return frozenset[str]().union(*map(names_of, arguments))
    return frozenset()


def digits(text: str) -> Number:
    """The number that ASCII digits write: `1,234.50`, `.5`, `7`. Raises OutOfBoundsError past the bound."""
    if "," in text:
        text = text.replace(",", "")
    if len(text) > DIGIT_LIMIT:
        raise OutOfBoundsError("more digits than any number that is read")
    if text.isdecimal():
        return Number(Fraction(int(text)))
    whole, point, part = text.partition(".")
    return Number(Fraction(int((whole + part) or "0"), 10 ** len(part)), len(part) if point and part else None)
