"""The kinds of values that `reading` makes of answers and that `touchstone.checks.equivalence` compares."""

from dataclasses import dataclass

from touchstone.checks.notation.trees import Tree
from touchstone.checks.notation.units import Unit


@dataclass(frozen=True, slots=True)
class Quantity:
    """One expression, with all readings of the unit behind it (empty without a unit).

    `bare`: the whole text as one expression, if its last letters may be a unit or a name (`5 m`); otherwise None.
    `letters`: letters that are no known unit stand apart behind a number (`5 q`); they may be a unit all the same.
    `measured`: the quantity is one of the two ends of a value with its uncertainty (`5 ± 0.1 cm`), or one of two
    values. `listed`: a number with commas, which may be a list (`100,200,300`). `rate`: a rate in everyday form
    (`每小时60公里`, `15 g/100 mL`); its number alone may be meant in several ways.
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
    """A list, set, tuple or system, told apart by `brackets`: "", "⦃⦄", "()" or "[]", "⟦⟧".

    `decimal` is the reading of `3,5` as one number with a decimal comma; None if there is no such reading.
    """

    values: tuple["Value", ...]
    brackets: str = ""
    decimal: Quantity | None = None

    @property
    def ordered(self) -> bool:
        """Whether the order of the members belongs to the value, as in a point."""
        return self.brackets in ("()", "[]")


@dataclass(frozen=True, slots=True)
class Solutions:
    """Alternatives; each gives values to one or more left sides: `x = 1 or x = 2`, `k = 45, n = 2`, `f(x) = 2x`."""

    alternatives: tuple[tuple[tuple[str, "Value"], ...], ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval. A bound of None is infinite; a closed bound belongs to the interval."""

    low: Tree | None
    high: Tree | None
    low_closed: bool = False
    high_closed: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A union of intervals of the real line; empty without intervals. `variable` is None for a bare interval."""

    intervals: tuple[Interval, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """Two sides with a sign (=, < or <=) that give neither a named value nor an interval, for example a line."""

    left: Tree
    right: Tree
    sign: str = "="


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix as rows of cells."""

    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two or more terms: `3 : 4 : 5`. `things` are the names of what is counted: 3 boys : 5 girls."""

    terms: tuple[Tree, ...]
    things: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Division:
    """A whole quotient and its remainder: 5 R 2."""

    quotient: int
    remainder: int


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as seconds after midnight.

    `half`: the text does not say which half of the day is meant. `ratio`: the other reading of `8:30`, as a ratio.
    `zone`: the time zone as it is written, `UTC+2`; "" if the text names none.
    """

    seconds: int
    half: bool = False
    ratio: Ratio | None = None
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Date:
    """A day; `year` or `day` is None if the text does not say it."""

    year: int | None
    month: int
    day: int | None


@dataclass(frozen=True, slots=True)
class Weekday:
    """A day of the week, in English."""

    name: str


@dataclass(frozen=True, slots=True)
class Species:
    """A number (`count`) of one chemical formula: its `parts` as written, and how often each element occurs (`atoms`).

    `loose`: digits stand before a charge without a mark, and may belong to it: Fe3+ is Fe^{3+}, but NH4+ is NH_4^+.
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
    """The letters that were chosen in a multiple-choice item, in capitals.

    `sequence`: the letters as written, if they are the first ones of the alphabet and may be an order of steps, or if
    one comes twice, as in the answers to several questions (ABA).
    """

    letters: frozenset[str]
    sequence: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """A truth value: 对, 错, true, false, yes, no."""

    true: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Text that is not mathematics, without case, articles and punctuation; or, as written, text that was not read.

    `plain`: nothing in the text is a number or a sign, so all of it was understood as words. `written` is the text with
    its case; "" if its case says nothing.
    """

    text: str
    plain: bool = True
    written: str = ""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A text with several readings (`C(5,2)` is a point or a number); the other side shows which reading is meant."""

    readings: tuple["Value", ...]


type Value = (
    Quantity | Items | Solutions | Region | Condition | Matrix | Ratio | Division | Clock | Date | Weekday | Formula
    | Choice | Truth | Words | Ambiguous
)  # fmt: skip

EMPTY = Region(())
REALS = Region((Interval(None, None),))
