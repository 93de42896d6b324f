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


def parts_of(tree: Tree) -> list[Tree]:
    """`tree` and everything in it."""
    found = [tree]
    for part in found:
        if isinstance(part, Apply):
            found.extend(part.arguments)
    return found


def names_in(tree: Tree) -> frozenset[str]:
    """Every name in `tree`, constants included."""
    return frozenset(part.name for part in parts_of(tree) if isinstance(part, Name))


def names_of(tree: Tree) -> frozenset[str]:
    """The variables of `tree`."""
    return names_in(tree) - CONSTANTS


def is_constant(tree: Tree) -> bool:
    """Whether no variable occurs in `tree`."""
    return not names_of(tree)


def operations_in(tree: Tree) -> frozenset[str]:
    """Every operation and function in `tree`."""
    return frozenset(part.operation for part in parts_of(tree) if isinstance(part, Apply))


def has_decimal(tree: Tree) -> bool:
    """Whether a number with a decimal point occurs in `tree`: it may be a rounding."""
    return any(isinstance(part, Number) and part.decimals is not None for part in parts_of(tree))


def substituted(tree: Tree, name: str, value: Tree) -> Tree:
    """`tree` with `value` in place of a name."""
    match tree:
        case Name(own) if own == name:
            return value
        case Apply(operation, arguments):
            return Apply(operation, tuple(substituted(argument, name, value) for argument in arguments))
    return tree


def size(tree: Tree) -> int:
    """How many numbers, names and operations `tree` has."""
    return len(parts_of(tree))


def digits(text: str) -> Number:
    """The number that ASCII digits write: `1234.50`, `.5`, `7`. Raises OutOfBoundsError past the bound."""
    if len(text) > DIGIT_LIMIT:
        raise OutOfBoundsError("more digits than any number that is read")
    if text.isdecimal():
        return Number(Fraction(int(text)))
    whole, point, part = text.partition(".")
    return Number(Fraction(int((whole + part) or "0"), 10 ** len(part)), len(part) if point and part else None)
