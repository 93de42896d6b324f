"""What an answer can be: the kinds of values that `reading` makes and `touchstone.checks.equivalence` compares."""

from dataclasses import dataclass

from touchstone.checks.notation.trees import Tree
from touchstone.checks.notation.units import Unit


@dataclass(frozen=True, slots=True)
class Quantity:
    """One expression, with all readings of the unit behind it (none without a unit).

    `bare`: the same text as an expression alone, where its last letters are a unit or a name (`5 m`); None elsewhere.
    `letters`: letters stand apart behind a number, and are no unit that is known (`5 q`): they may be one all the same.
    `measured`: one of the two ends of a value with its uncertainty (`5 ± 0.1 cm`), unless these are two values.
    `listed`: a number with commas, which may be a list (`100,200,300`).
    `rate`: a rate as people tell it (`每小时60公里`, `15 g/100 mL`), whose number alone may be meant in several ways.
    """

    tree: Tree
    units: tuple[Unit, ...] = ()
    percent: bool = False
    bare: Tree | None = None
    letters: bool = False
    measured: bool = False
    rate: bool = False
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list, set or tuple, `brackets` as written: "()", "[]", "⦃⦄", "". `decimal`: `3,5` as one number."""

    values: tuple["Value", ...]
    brackets: str = ""
    decimal: Quantity | None = None

    @property
    def ordered(self) -> bool:
        """Whether the order belongs to the value, as in a point."""
        return self.brackets in ("()", "[]")


@dataclass(frozen=True, slots=True)
class Solutions:
    """Alternatives, each with a value for one or more left sides: `x = 1 or x = 2`, `k = 45, n = 2`, `f(x) = 2x`."""

    alternatives: tuple[tuple[tuple[str, "Value"], ...], ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval. A bound None is infinite; a closed one belongs to the interval."""

    low: Tree | None
    high: Tree | None
    low_closed: bool = False
    high_closed: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A union of intervals of the real line; without any it is empty. `variable` is None for a bare interval."""

    intervals: tuple[Interval, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """Two sides with a sign between them (=, < or <=) that are neither a named value nor an interval: a line."""

    left: Tree
    right: Tree
    sign: str = "="


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of cells."""

    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`3 : 4 : 5`."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds after midnight. `half`: half of the day is not said. `ratio`: what `8:30` is where it is no time."""

    seconds: int
    half: bool = False
    ratio: Ratio | None = None


@dataclass(frozen=True, slots=True)
class Date:
    """A day; `year` or `day` is None where it is not said."""

    year: int | None
    month: int
    day: int | None


@dataclass(frozen=True, slots=True)
class Weekday:
    """A day of the week, in English."""

    name: str


@dataclass(frozen=True, slots=True)
class Species:
    """So many of one chemical formula: its `parts` as written, how often each element occurs (`atoms`).

    `loose`: digits stand before an unmarked charge, and may belong to it: Fe3+ is Fe^{3+}, and NH4+ is NH_4^+.
    """

    count: Tree
    parts: tuple[str, ...]
    atoms: tuple[tuple[str, int], ...]
    charge: int = 0
    state: str = ""
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A chemical formula, a sum of several, or the two sides of a reaction (`sides` has one or two members)."""

    sides: tuple[tuple[Species, ...], ...]


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
    """Text that is not mathematics, without case, articles and punctuation; or, as written, text that was not read.

    `plain`: nothing in it is a number or a sign, so that all of it was understood as words. `written` is the text with
    its case, "" where that says nothing.
    """

    text: str
    plain: bool = True
    written: str = ""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A text with several readings (`C(5,2)` is a point or a number): the other side shows which is meant."""

    readings: tuple["Value", ...]


type Value = (
    Quantity | Items | Solutions | Region | Condition | Matrix | Ratio | Clock | Date | Weekday | Formula | Choice
    | Truth | Words | Ambiguous
)  # fmt: skip

EMPTY = Region(())
REALS = Region((Interval(None, None),))
