"""What is counted of a judge, as integers: tallies that can be added and taken back exactly.

A tally is a sum over verdicts, calls and labels. Whoever changes one thing adds the tally of it as it is and subtracts
that of what it was; the sum is then what a count of everything from the beginning would give.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, Self

from touchstone.errors import InputError
from touchstone.statistics.calibration import BINS, MILLIONTHS, BinCounts, place_of

MICROSECONDS = 1_000
"""In a millisecond."""
BILLIONTHS = 1_000_000_000
"""A verdict of a fast model costs some hundred-thousandths of a dollar: a millionth would be too coarse to add up."""

CHECKS = "checks"
"""Stands for the model of a card where checks decided."""

type BinSum = Literal["count", "right", "confidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKey:
    """Whose card it is, and of what.

    `model` is the one that answered, or what decides without one (`checks`, `retrieved`). `tier` is what it was asked
    as, None for what has none. `prompt_version` tells which prompt it was asked by, None where that is not known, or
    there is none. `kind` is that of the verdict (`quick_verify`, …).
    """

    model: str
    tier: str | None
    prompt_version: str | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTally:
    """Sums of whole numbers, from which a card is computed.

    `cells` counts the things that the judge gave the first word, and a person the second. `undecided` things have a
    label and no verdict. `bins` holds the sums of `BinCounts` by bin, and `squares` those of (confidence - outcome)²
    in millionths², over labelled verdicts that told their confidence. `both_orders` verdicts were asked for in two
    orders, `flips` of them differ, `one_order` lack a verdict in one of them.

    Of calls that were paid for, `answered` brought a reply that could be used, `unreadable` one that could not,
    `failed` none; replies that were `cached` made no call. `latency_us` adds up the microseconds of the answered calls
    that were `timed`, `cost_nano_usd` the billionths of a dollar of all but `unpriced` ones, whose price is not known.
    """

    cells: Mapping[tuple[str, str], int] = field(default_factory=dict)
    bins: Mapping[tuple[int, BinSum], int] = field(default_factory=dict)
    squares: int = 0
    undecided: int = 0
    both_orders: int = 0
    one_order: int = 0
    flips: int = 0
    answered: int = 0
    unreadable: int = 0
    failed: int = 0
    cached: int = 0
    timed: int = 0
    latency_us: int = 0
    cost_nano_usd: int = 0
    unpriced: int = 0

    def __add__(self, other: Self) -> Self:
        """Both together."""
        return self._with(other, 1)

    def __sub__(self, other: Self) -> Self:
        """This one without what `other` counts."""
        return self._with(other, -1)

    def of_bin(self, place: int) -> BinCounts:
        """The sums of one bin."""
        return BinCounts(
            count=self.bins.get((place, "count"), 0),
            right=self.bins.get((place, "right"), 0),
            confidence=self.bins.get((place, "confidence"), 0),
        )

    def _with(self, other: Self, sign: int) -> Self:
        plain = {name: getattr(self, name) + sign * getattr(other, name) for name in PLAIN_SUMS}
        return type(self)(
            cells=_summed(self.cells, other.cells, sign), bins=_summed(self.bins, other.bins, sign), **plain
        )


PLAIN_SUMS = tuple(each.name for each in fields(CardTally) if each.name not in {"cells", "bins"})
"""The sums of a tally that are one number each."""


def label_tally(verdict: str | None, label: str, confidence: float | None) -> CardTally:
    """What one label counts: a person's word for a thing, and the judge's (None: it gave none) with its confidence.

    Of a confidence (0-1) six decimals count, None where the judge told none. Raises `InputError` for another one.
    """
    if verdict is None:
        return CardTally(undecided=1)
    cells = {(verdict, label): 1}
    if confidence is None:
        return CardTally(cells=cells)
    if not 0 <= confidence <= 1:
        raise InputError(f"A confidence must lie between 0 and 1, not at {confidence}.", where="confidence")
    millionths, right = round(confidence * MILLIONTHS), verdict == label
    place = place_of(millionths)
    return CardTally(
        cells=cells,
        bins={(place, "count"): 1, (place, "right"): int(right), (place, "confidence"): millionths},
        squares=(millionths - right * MILLIONTHS) ** 2,
    )


def order_tally(verdict: str | None, swapped: str | None) -> CardTally:
    """What a verdict counts that was asked for in two orders; both name the same thing, not the place it stood at."""
    if verdict is None or swapped is None:
        return CardTally(one_order=1)
    return CardTally(both_orders=1, flips=int(verdict != swapped))


type CallOutcome = Literal["answered", "unreadable", "failed"]


def call_tally(outcome: CallOutcome, *, latency_ms: float | None, cost_usd: float | None) -> CardTally:
    """What a call counts. `latency_ms` None: it was not measured; `cost_usd` None: no price is known."""
    timed = outcome == "answered" and latency_ms is not None
    return CardTally(
        answered=int(outcome == "answered"),
        unreadable=int(outcome == "unreadable"),
        failed=int(outcome == "failed"),
        timed=int(timed),
        latency_us=round(latency_ms * MICROSECONDS) if timed and latency_ms is not None else 0,
        cost_nano_usd=0 if cost_usd is None else round(cost_usd * BILLIONTHS),
        unpriced=int(cost_usd is None),
    )


def _summed[Name](one: Mapping[Name, int], other: Mapping[Name, int], sign: int) -> dict[Name, int]:
    """The sums by name; what comes to nothing is left out, so that equal sums are equal."""
    sums = {name: one.get(name, 0) + sign * other.get(name, 0) for name in (*one, *other)}
    return {name: value for name, value in sums.items() if value}


def bins_of(tally: CardTally) -> tuple[BinCounts, ...]:
    """The sums of all bins, the least confident first."""
    return tuple(map(tally.of_bin, range(BINS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A thing that a judge was to give one of `classes`, and that a person may give one too.

    `verdict` is the judge's, None where it gave none; `confidence` (0-1) is how sure it said it was, None where it did
    not say. `judge` is whose card the label counts for, None where nobody was asked.
    """

    classes: tuple[str, ...]
    verdict: str | None
    confidence: float | None
    judge: JudgeKey | None
