"""Integer counts about a judge: tallies that can be added and subtracted exactly.

A tally is a sum over verdicts, calls and labels. When a thing changes, its old tally is subtracted and its new tally is
added. The sum is then the same as a count of everything from the beginning.
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
"""Microseconds in a millisecond."""
BILLIONTHS = 1_000_000_000
"""Billionths of a dollar in a dollar. A verdict of a fast model costs some hundred-thousandths of a dollar: millionths
would be too coarse to add up."""

CHECKS = "checks"
"""The model in the key of a card whose verdicts were decided by checks."""
LEVELS = (1.0, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6)
"""The confidences at which a threshold may lie. They are fixed before any label is seen. Models tell most of their
confidences above 0.9. No level lies at 0.5 or below: a judge that contradicts itself is given such a confidence."""
FINE_LEVELS = LEVELS[:4]
"""The levels inside the last bin. They have sums of their own."""

type BinSum = Literal["count", "right", "confidence"]
type LevelSum = Literal["count", "right"]
type Sample = Literal["random", "unsure", "chosen"]
"""How a thing came to be labelled: drawn at random from all verdicts, drawn from the verdicts that a judge was not sure
of, or chosen by the person who labelled it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKey:
    """The judge whose card it is, and the kind of verdict.

    `model` is the model that answered, or what decides without one (`checks`, `retrieved`). `tier` is the tier as which
    it was asked, null if it has none. `prompt_version` is the version of its prompt, null if it is not known or there
    is none. `kind` is the kind of the verdict (`quick_verify`, …).
    """

    model: str
    tier: str | None
    prompt_version: str | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTally:
    """Sums of whole numbers, from which a card is computed.

    `cells` counts things by the judge's word and the person's word. `undecided` things have a label and no verdict.
    `bins` holds the sums of `BinCounts` by bin, and `squares` the sum of (confidence - outcome)² in millionths², both
    over labelled verdicts that told a confidence. `both_orders` verdicts were given in two orders, and `flips` of them
    differ. `one_order` verdicts were asked for in two orders and lack one of them, or both.

    `sampled` counts the part of `cells` that was drawn at random. `said` counts all verdicts by their word, with a
    label or without. `levels` holds the labelled verdicts by the highest of `FINE_LEVELS` that their confidence
    reaches. `panels` counts things that several judges, this one among them, voted on, by the sorted words of the
    votes. For things that several people labelled, `people_pairs` counts the pairs of people and `people_agreed` the
    pairs that agree. The sums of this paragraph leave out labels and verdicts of earlier releases.

    Of the calls that were paid for, `answered` brought a usable reply, `unreadable` an unusable one, `failed` none.
    `cached` replies made no call. `latency_us` is the sum of the microseconds of the answered calls that were measured,
    which are `timed`. `cost_nano_usd` is the sum of the cost, in billionths of a dollar, of all calls except the
    `unpriced` ones, whose price is not known.
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
        """The sum of both tallies."""
        return self._with(other, 1)

    def __sub__(self, other: Self) -> Self:
        """This tally less `other`."""
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
"""The fields of a tally that are mappings: many sums, each with a name of its own."""
PLAIN_SUMS = tuple(each.name for each in fields(CardTally) if each.name not in NAMED_SUMS)
"""The fields of a tally that are one number each."""


def label_tally(
    verdict: str | None, label: str, confidence: float | None, *, sample: Sample | None = "chosen"
) -> CardTally:
    """The tally of one label: `label` is the person's word, `verdict` the judge's, None if the judge gave none.

    `confidence` (0-1) is counted with six decimals; None if the judge told none. `sample` None: the label was given in
    an earlier release, and counts only for the sums of that release. Raises `InputError` for a confidence outside 0-1.
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
    reached = next((level for level, least in enumerate(FINE_LEVELS) if millionths >= round(least * MILLIONTHS)), None)
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
    """The tally of several people's labels of one thing: the pairs of people, and the pairs that agree."""
    pairs = list(combinations(labels, 2))
    return CardTally(people_pairs=len(pairs), people_agreed=sum(one == other for one, other in pairs))


def levels_of(tally: CardTally) -> tuple[LevelCounts, ...]:
    """The labelled verdicts at each of `LEVELS` and above, the highest level first."""
    fine = {least: place for place, least in enumerate(FINE_LEVELS)}
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
    """The counts by verdict and label, reduced to two classes: `positive` and everything else."""
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
    """The tally of a verdict that was asked for in two orders.

    Both verdicts name the thing, not the place at which it stood. None: the judge gave no verdict in this order.
    """
    if verdict is None or swapped is None:
        return CardTally(one_order=1)
    return CardTally(both_orders=1, flips=int(verdict != swapped))


type CallOutcome = Literal["answered", "unreadable", "failed"]


def call_tally(outcome: CallOutcome, *, latency_ms: float | None, cost_usd: float | None) -> CardTally:
    """The tally of one call.

    `latency_ms` is None if it was not measured, `cost_usd` if no price is known.
    """
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
    """The sums by name, with `sign` before those of `other`.

    A sum of 0 is left out, so that equal tallies are equal.
    """
    sums = {name: one.get(name, 0) + sign * other.get(name, 0) for name in (*one, *other)}
    return {name: value for name, value in sums.items() if value}


def bins_of(tally: CardTally) -> tuple[BinCounts, ...]:
    """The sums of all bins, the lowest confidence first."""
    return tuple(map(tally.of_bin, range(BINS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A thing that a judge was asked to give one of `classes`. A person may give it one, too.

    `verdict` is the judge's class, None if it gave none. `confidence` (0-1) is how sure the judge said it was, None if
    it did not say. `judge` is the key of the card for which the label counts, None if no judge was asked. `votes` are
    the verdicts of other judges that were asked before and were not sure enough to decide. `rated_as` names the rates
    that the label corrects as well, None if there are none.
    """

    classes: tuple[str, ...]
    verdict: str | None
    confidence: float | None
    judge: JudgeKey | None
    votes: tuple["JudgedVote", ...] = ()
    rated_as: "RatedAs | None" = None


class JudgedVote(Strict):
    """One judge's verdict on a thing. `confidence` is 0-1, None if the judge did not state it itself."""

    verdict: str
    confidence: float | None
    judge: JudgeKey


class RatedAs(Strict):
    """Whose correctness a verdict on an answer counts for: the model that answered, and the kind of question.

    None in a field: not known.
    """

    provider: str
    model: str
    subject: str | None = None
    difficulty: str | None = None
