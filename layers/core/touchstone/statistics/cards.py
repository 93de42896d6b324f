"""Judge cards: what people's labels, and the calls themselves, say of a judge."""

from dataclasses import dataclass
from typing import Literal

from touchstone.statistics.agreement import (
    Alpha,
    FlipRate,
    Kappa,
    flip_rate_of_counts,
    kappa_of_counts,
    nominal_alpha_of_counts,
)
from touchstone.statistics.calibration import Reliability, reliability_of_counts
from touchstone.statistics.corrected import CorrectedRate, corrected_rate
from touchstone.statistics.intervals import wilson_interval
from touchstone.statistics.tallies import BILLIONTHS, MICROSECONDS, CardTally, bins_of, cells_of, levels_of
from touchstone.statistics.thresholds import WANTED_AGREEMENT, ConfidenceThreshold, threshold_of

MIN_LABELS = 30
"""With fewer labels, an interval of kappa spans half of its range: readers would take the number for more than it
is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEnoughLabels:
    """Takes the place of figures that need labels: there are `labels` labels, and `needed` labels are enough."""

    labels: int
    needed: int = MIN_LABELS
    state: Literal["not_enough_labels"] = "not_enough_labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share, 0-1, with its Wilson interval of 95 %. Both are null if there was nothing to count (`of` is 0)."""

    value: float | None
    interval: tuple[float, float] | None
    count: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFigures:
    """The figures of a judge for one class.

    `precision` is the share of the things that people put in the class, among those that the judge put in it. `recall`
    is the share of the things that the judge put in the class, among those that people put in it.
    """

    label: str
    precision: Share
    recall: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How the judge's verdicts agree with people's labels: Cohen's kappa, and each class in alphabetical order."""

    kappa: Kappa
    classes: tuple[ClassFigures, ...]
    state: Literal["measured"] = "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Whether the judge is right as often as its confidence says."""

    diagram: Reliability
    state: Literal["measured"] = "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRate:
    """How often a judge gives a class, and how often people would, over all its verdicts with or without a label.

    `corrected` is null if there are too few labels to correct it.
    """

    label: str
    said: Share
    corrected: CorrectedRate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """The figures of the calls.

    `calls` are the calls that were paid for: `answered`, `unreadable` or `failed`. `cached` replies needed no call.
    `unreadable_share` is the share of the replies that could not be read. `latency_ms` is the mean of the answered
    calls, null if none was measured. `cost_usd` is what all calls cost, without the `unpriced` calls, whose price is
    not known. `verdict_cost_usd` is what one verdict costs, including the calls that brought none; null if there is no
    verdict, or a price is not known.
    """

    calls: int
    answered: int
    unreadable: int
    failed: int
    cached: int
    unreadable_share: Share
    latency_ms: float | None
    cost_usd: float
    unpriced: int
    verdict_cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCard:
    """Everything that is known of a judge.

    `labels` things have a person's label and a verdict. `undecided` things have a label and no verdict, so they neither
    agree nor disagree with anything. `agreement` rests on at least `MIN_LABELS` labels. `calibration` rests on at least
    as many labels of verdicts that told a confidence. `people` is how often two people agree who labelled the same
    thing: no judge can be asked to agree with people more often than people agree with each other. `alpha` is the
    agreement of several judges, this one among them, that voted on the same things; it needs no labels. `threshold` is
    the confidence from which on the judge can be relied on. `rates` says how often the judge gives each class, and how
    often people would.
    """

    labels: int
    undecided: int
    agreement: Agreement | NotEnoughLabels
    people: Share
    alpha: Alpha
    threshold: ConfidenceThreshold
    rates: tuple[ClassRate, ...]
    calibration: Calibration | NotEnoughLabels
    flips: FlipRate
    calls: CallFigures


def judge_card(tally: CardTally, *, wanted: float = WANTED_AGREEMENT) -> JudgeCard:
    """The card of a tally. `wanted` is the agreement (0-1) that the threshold of the card must show."""
    labels = sum(tally.cells.values())
    return JudgeCard(
        labels=labels,
        undecided=tally.undecided,
        agreement=_agreement(tally) if labels >= MIN_LABELS else NotEnoughLabels(labels=labels),
        people=share(tally.people_agreed, tally.people_pairs),
        alpha=nominal_alpha_of_counts(tally.panels),
        threshold=threshold_of(levels_of(tally), wanted=wanted),
        rates=tuple(_rate(tally, label) for label in sorted(tally.said)),
        calibration=_calibration(tally, labels),
        flips=flip_rate_of_counts(flipped=tally.flips, judged=tally.both_orders, unjudged=tally.one_order),
        calls=_calls(tally),
    )


def share(count: int, of: int) -> Share:
    """The share `count` / `of`, with its interval."""
    if not of:
        return Share(value=None, interval=None, count=count, of=of)
    return Share(value=count / of, interval=wilson_interval(count, of), count=count, of=of)


def _agreement(tally: CardTally) -> Agreement:
    classes = sorted({word for cell in tally.cells for word in cell})
    return Agreement(
        kappa=kappa_of_counts(tally.cells, unpaired=tally.undecided),
        classes=tuple(_class(tally, label) for label in classes),
    )


def _calibration(tally: CardTally, labels: int) -> Calibration | NotEnoughLabels:
    bins = bins_of(tally)
    confident = sum(each.count for each in bins)
    if confident < MIN_LABELS:
        return NotEnoughLabels(labels=confident)
    diagram = reliability_of_counts(bins, squares=tally.squares, unlabelled=labels - confident)
    return Calibration(diagram=diagram)


def _class(tally: CardTally, label: str) -> ClassFigures:
    agreed = tally.cells.get((label, label), 0)
    judged = sum(times for (verdict, _), times in tally.cells.items() if verdict == label)
    so = sum(times for (_, given), times in tally.cells.items() if given == label)
    return ClassFigures(label=label, precision=share(agreed, judged), recall=share(agreed, so))


def _rate(tally: CardTally, label: str) -> ClassRate:
    given, verdicts = tally.said[label], sum(tally.said.values())
    sample = cells_of(tally.sampled, label)
    chosen = cells_of({pair: times - tally.sampled.get(pair, 0) for pair, times in tally.cells.items()}, label)
    return ClassRate(
        label=label,
        said=share(given, verdicts),
        corrected=corrected_rate(positive=given, verdicts=verdicts, sample=sample, chosen=chosen),
    )


def _calls(tally: CardTally) -> CallFigures:
    cost = tally.cost_nano_usd / BILLIONTHS
    known = tally.answered and not tally.unpriced
    return CallFigures(
        calls=tally.answered + tally.unreadable + tally.failed,
        answered=tally.answered,
        unreadable=tally.unreadable,
        failed=tally.failed,
        cached=tally.cached,
        unreadable_share=share(tally.unreadable, tally.answered + tally.unreadable),
        latency_ms=tally.latency_us / MICROSECONDS / tally.timed if tally.timed else None,
        cost_usd=cost,
        unpriced=tally.unpriced,
        verdict_cost_usd=cost / tally.answered if known else None,
    )
