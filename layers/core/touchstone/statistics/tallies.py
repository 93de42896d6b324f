"""What is counted of a judge, as integers: tallies that can be added and taken back exactly.

A tally is a sum over verdicts, calls and labels. Whoever changes one thing adds the tally of it as it is and subtracts
that of what it was; the sum is then what a count of everything from the beginning would give.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any, Literal, Self

from touchstone.errors import InputError
from touchstone.statistics.calibration import BINS, MILLIONTHS, BinCounts, place_of
from touchstone.statistics.corrected import VerdictCells
from touchstone.statistics.thresholds import LevelCounts
from touchstone.strict import Strict

MICROSECONDS = 1_000
"""In a millisecond."""
BILLIONTHS = 1_000_000_000
"""A verdict of a fast model costs some hundred-thousandths of a dollar: a millionth would be too coarse to add up."""

CHECKS = "checks"
"""Stands for the model of a card where checks decided."""
LEVELS = (1.0, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6)
"""The confidences at which a threshold may lie, fixed before any label is seen. Models tell most of theirs above 0.9.
None lies at 0.5 or below, where a judge that contradicts itself is put."""
FINE = LEVELS[:4]
"""Those of them inside the last bin, which have sums of their own."""

type BinSum = Literal["count", "right", "confidence"]
type LevelSum = Literal["count", "right"]
type Sample = Literal["random", "unsure", "chosen"]
"""How it came that a thing was labelled: drawn at random from all verdicts, drawn from those that a judge was not sure
of, or chosen by the person who labelled it."""


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

    `sampled` are those of the `cells` that were drawn at random, and `said` counts all verdicts by their word, with a
    label or without. `levels` holds the labelled verdicts by the highest of `FINE` that their confidence reaches. Of
    things that several judges voted on, this one among them, `panels` counts those that got these words, sorted. Of
    things that several people labelled, `people_pairs` counts the pairs of people, `people_agreed` those that agree.
    Labels and verdicts of earlier releases are in none of these.

    Of calls that were paid for, `answered` brought a reply that could be used, `unreadable` one that could not,
    `failed` none; replies that were `cached` made no call. `latency_us` adds up the microseconds of the answered calls
    that were `timed`, `cost_nano_usd` the billionths of a dollar of all but `unpriced` ones, whose price is not known.
    """

    cells: Mapping[tuple[str, str], int] = field(default_factory=dict)
    bins: Mapping[tuple[int, BinSum], int] = field(default_factory=dict)
    sampled: Mapping[tuple[str, str], int] = field(default_factory=dict)
    said: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[tuple[int, LevelSum], int] = field(default_factory=dict)
    panels: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    people_pairs: int = 0
    people_agreed: int = 0
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
        named: dict[str, Any] = {
            name: _summed(getattr(self, name), getattr(other, name), sign) for name in sorted(NAMED_SUMS)
        }
        return type(self)(**named, **plain)


NAMED_SUMS = frozenset({"cells", "bins", "sampled", "said", "levels", "panels"})
"""The sums of a tally that are many, each with a name of its own."""
PLAIN_SUMS = tuple(each.name for each in fields(CardTally) if each.name not in NAMED_SUMS)
"""The sums of a tally that are one number each."""


def label_tally(
    verdict: str | None, label: str, confidence: float | None, *, sample: Sample | None = "chosen"
) -> CardTally:
    """What one label counts: a person's word for a thing, and the judge's (None: it gave none) with its confidence.

    Of a confidence (0-1) six decimals count, None where the judge told none. `sample` None: a label of an earlier
    release, which counts what it counted there. Raises `InputError` for another confidence.
    """
    if verdict is None:
        return CardTally(undecided=1)
    cells = {(verdict, label): 1}
    sampled = cells if sample == "random" else {}
    if confidence is None:
        return CardTally(cells=cells, sampled=sampled)
    if not 0 <= confidence <= 1:
        raise InputError(f"A confidence must lie between 0 and 1, not at {confidence}.", where="confidence")
    millionths, right = round(confidence * MILLIONTHS), verdict == label
    place = place_of(millionths)
    reached = next((level for level, least in enumerate(FINE) if millionths >= round(least * MILLIONTHS)), None)
    levels: dict[tuple[int, LevelSum], int] = {}
    if reached is not None and sample is not None:
        levels = {(reached, "count"): 1, (reached, "right"): int(right)}
    return CardTally(
        cells=cells,
        sampled=sampled,
        levels=levels,
        bins={(place, "count"): 1, (place, "right"): int(right), (place, "confidence"): millionths},
        squares=(millionths - right * MILLIONTHS) ** 2,
    )


def people_tally(labels: Sequence[str]) -> CardTally:
    """What the labels of several people count that are of one thing: the pairs of them, and how many of these agree."""
    pairs = list(combinations(labels, 2))
    return CardTally(people_pairs=len(pairs), people_agreed=sum(one == other for one, other in pairs))


def levels_of(tally: CardTally) -> tuple[LevelCounts, ...]:
    """The labelled verdicts at each of `LEVELS` and above, the most confident first."""
    fine = {least: place for place, least in enumerate(FINE)}
    found = []
    for least in LEVELS:
        if (place := fine.get(least)) is not None:
            sums: Mapping[tuple[int, Any], int] = tally.levels
            places = range(place + 1)
        else:
            sums, places = tally.bins, range(place_of(round(least * MILLIONTHS)), BINS)
        labels, agreed = (sum(sums.get((each, name), 0) for each in places) for name in ("count", "right"))
        found.append(LevelCounts(confidence=least, labels=labels, agreed=agreed))
    return tuple(found)


def cells_of(cells: Mapping[tuple[str, str], int], positive: str) -> VerdictCells:
    """Counts by verdict and label, as those of one class and of all others."""
    sums = {(said, so): 0 for said in (True, False) for so in (True, False)}
    for (verdict, label), times in cells.items():
        sums[verdict == positive, label == positive] += times
    return VerdictCells(
        both=sums[True, True],
        judge_only=sums[True, False],
        person_only=sums[False, True],
        neither=sums[False, False],
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
    not say. `judge` is whose card the label counts for, None where nobody was asked. `votes` are what other judges
    said of it before, who were not sure enough to decide. `rated_as` is whose rates its label corrects
    too, None where it is nobody's.
    """

    classes: tuple[str, ...]
    verdict: str | None
    confidence: float | None
    judge: JudgeKey | None
    votes: tuple["JudgedVote", ...] = ()
    rated_as: "RatedAs | None" = None


class JudgedVote(Strict):
    """What one judge said of a thing, with how sure it was (0-1), None where that is not its own word."""

    verdict: str
    confidence: float | None
    judge: JudgeKey


class RatedAs(Strict):
    """Whose correctness a verdict on an answer counts for: who gave the answer, and to what. None: not known."""

    provider: str
    model: str
    subject: str | None = None
    difficulty: str | None = None
