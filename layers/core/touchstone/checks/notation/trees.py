"""The form of an expression that has been read: a small tree of exact numbers, names and operations, bounded in size.

NotAnExpressionError      the text is not one expression of the grammar, or can be read in two ways
└── OutOfBoundsError      the text is larger than anything that is read or evaluated
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

LENGTH_LIMIT = 2_000
"""The most characters of an expression; the longest honest answers seen have about 300."""
TOKEN_LIMIT = 400
"""The most tokens of an expression; this bounds the size of the tree and all work on it."""
DIGIT_LIMIT = 400
"""The most digits of a number; this keeps all arithmetic on it within microseconds."""


class NotAnExpressionError(ValueError):
    """The text is not one expression of the grammar, is ambiguous, or exceeds a bound."""


class OutOfBoundsError(NotAnExpressionError):
    """The text or a number in it is larger than anything that is read or evaluated."""


def value_or_none[**P, R](function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None:
    """The result of a function; None if the function raises NotAnExpressionError."""
    try:
        return function(*args, **kwargs)
    except NotAnExpressionError:
        return None


class Expression:
    """The base of numbers, names and operations: the questions that every tree can answer about itself."""

    __slots__ = ()

    @property
    def parts(self) -> list["Tree"]:
        """The tree itself and all trees in it."""
        found: list[Tree] = [self]  # type: ignore[list-item]  # there are no others
        for part in found:
            if isinstance(part, Apply):
                found.extend(part.arguments)
        return found

    @property
    def names(self) -> frozenset[str]:
        """Every name in the tree, constants included."""
        return frozenset(part.name for part in self.parts if isinstance(part, Name))

    @property
    def variables(self) -> frozenset[str]:
        """The names in the tree that are not constants."""
        return self.names - CONSTANTS

    @property
    def is_constant(self) -> bool:
        """Whether no variable occurs in the tree."""
        return not self.variables

    @property
    def operations(self) -> frozenset[str]:
        """Every operation and function in the tree."""
        return frozenset(part.operation for part in self.parts if isinstance(part, Apply))

    @property
    def has_decimal(self) -> bool:
        """Whether a number with a decimal point occurs in the tree: it may be a rounding."""
        return any(isinstance(part, Number) and part.decimals is not None for part in self.parts)

    def substituted(self, name: str, value: "Tree") -> "Tree":
        """The tree with `value` in place of the name `name`."""
        match self:
            case Name(own) if own == name:
                return value
            case Apply(operation, arguments):
                return Apply(operation, tuple(argument.substituted(name, value) for argument in arguments))
        return self  # type: ignore[return-value]  # there are no others


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """An exact rational number.

    `decimals` is the number of digits written after the point: None without a point, -12 for 9.461e15.
    """

    value: Fraction
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable (`x`, `x_1`, `alpha`, `vec a`) or one of the constants `pi`, `e`, `i` and `oo` (infinity)."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply(Expression):
    """An operation (add, mul, div, pow, neg, pm, mp, root, factorial, binomial, percent, degrees) or a function."""

    operation: str
    arguments: tuple["Tree", ...]


type Tree = Number | Name | Apply

CONSTANTS = frozenset(("pi", "e", "i", "oo"))
"""Names with a fixed value."""
INFINITIES = (Name("oo"), Apply("neg", (Name("oo"),)))
"""The two ends of the number line, which are not numbers."""


def difference(left: Tree, right: Tree) -> Tree:
    """`left - right`."""
    return Apply("add", (left, Apply("neg", (right,))))


def negated(tree: Tree) -> Tree:
    """The tree with the opposite sign; the negative of a number is a number."""
    return Number(-tree.value, tree.decimals) if isinstance(tree, Number) else Apply("neg", (tree,))


def digits(text: str) -> Number:
    """The number that ASCII digits write: `1234.50`, `.5`, `7`. Raises OutOfBoundsError if there are too many."""
    if len(text) > DIGIT_LIMIT:
        raise OutOfBoundsError("more digits than any number that is read")
    if text.isdecimal():
        return Number(Fraction(int(text)))
    whole, point, part = text.partition(".")
    return Number(Fraction(int((whole + part) or "0"), 10 ** len(part)), len(part) if point and part else None)
