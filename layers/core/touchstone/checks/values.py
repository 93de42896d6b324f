"""What an answer can be: the kinds of values that `reading` makes and `comparison` compares."""

from dataclasses import dataclass

from touchstone.checks.tokens import Tree
from touchstone.checks.units import Unit


@dataclass(frozen=True, slots=True)
class Scalar:
    """One expression, with all readings of the unit behind it (none without a unit)."""

    tree: Tree
    units: tuple[Unit, ...] = ()
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """Several values: a list or set (`ordered` False) or a tuple. `brackets` as written: "()", "[]", "⦃⦄" or "".

    `decimal`: the one number that `3,5` is where the comma is a decimal comma.
    """

    values: tuple["Value", ...]
    brackets: str = ""
    decimal: Scalar | None = None

    @property
    def ordered(self) -> bool:
        """Whether the order belongs to the value, as in a point."""
        return self.brackets in ("()", "[]")


@dataclass(frozen=True, slots=True)
class Solutions:
    """Alternatives, each with a value for one or more left sides: `x = 1 or x = 2`, `k = 45, n = 2`, `f(x) = 2x`."""

    alternatives: tuple[tuple[tuple[str, "Value"], ...], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """One interval. A bound None is infinite; a closed one belongs to the interval."""

    low: Tree | None
    high: Tree | None
    low_closed: bool = False
    high_closed: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A union of intervals of the real line; without any it is empty. `variable` is None for a bare interval."""

    intervals: tuple[Bounds, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = right` in general position: a line, a curve, a condition."""

    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Inequality:
    """`left < right`, or `left <= right` where not `strict`, that is no interval of one variable."""

    left: Tree
    right: Tree
    strict: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of cells."""

    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`3 : 4 : 5`. `clock` where it may as well be a time of day (`8:30`)."""

    terms: tuple[Tree, ...]
    clock: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The letters chosen of a multiple-choice item, in capitals."""

    letters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Truth:
    """对, 错, true, false, yes, no."""

    true: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Text that is not mathematics, without case, articles and punctuation."""

    text: str


type Value = Scalar | Items | Solutions | Region | Equation | Inequality | Matrix | Ratio | Choice | Truth | Words

EMPTY = Region(())
REALS = Region((Bounds(None, None),))
