"""Judge cards: what labels that people gave, and the calls themselves, say of a judge."""

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
"""Below that an interval of kappa spans half of its range: a number would be read as more than it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEnoughLabels:
    """Stands where figures would be that rest on labels: there are `labels` of them, and `needed` would do."""

    labels: int
    needed: int = MIN_LABELS
    state: Literal["not_enough_labels"] = "not_enough_labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share, 0-1, with its Wilson interval of 95 %; both are None where there was nothing (`of` is 0)."""

    value: float | None
    interval: tuple[float, float] | None
    count: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFigures:
    """How a judge does on one class.

    `precision`: of the things that the judge calls so, those that people do. `recall`: of those that people call so,
    the ones that the judge does.
    """

    label: str
    precision: Share
    recall: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How the judge's verdicts agree with people's labels: Cohen's kappa, and each class, in alphabetical order."""

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
    """How often a judge gives a class, of all its verdicts with a label or without, and how often people would.

    `corrected` is None where too few labels correct it.
    """

    label: str
    said: Share
    corrected: CorrectedRate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """What the calls were like.

    `calls` were paid for: `answered`, `unreadable` or `failed`; `cached` replies made none. `unreadable_share` is that
    of the replies that came. `latency_ms` is the mean of the calls that were answered, None where none was measured.
    `cost_usd` is what all calls cost but the `unpriced`, whose price is not known. `verdict_cost_usd` is what a verdict
    costs, the calls that brought none included; None where there is no verdict, or a price is not known.
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
    """What is known of a judge.

    `labels` things have a person's label and a verdict; `undecided` ones a label alone, which neither agrees nor
    disagrees with anything. `agreement` rests on at least `MIN_LABELS` labels, `calibration` on as many of those whose
    verdict told a confidence. `people` is how often two people agree who labelled the same thing: no judge can be asked
    to agree with them more often than they do with each other. `alpha` is how those agree who voted on the same things
    as one of several judges, this one among them; it needs no labels. `threshold` is the confidence from which on the
    judge can be relied on. `rates` are how often the judge gives each class, and how often people would.
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


def card(tally: CardTally, *, wanted: float = WANTED_AGREEMENT) -> JudgeCard:
    """The card of what was counted. `wanted` is the agreement (0-1) that its threshold is to show."""
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
    """`count` of `of` as a share."""
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
    said = sum(times for (verdict, _), times in tally.cells.items() if verdict == label)
    so = sum(times for (_, given), times in tally.cells.items() if given == label)
    return ClassFigures(label=label, precision=share(agreed, said), recall=share(agreed, so))


def _rate(tally: CardTally, label: str) -> ClassRate:
    said, verdicts = tally.said[label], sum(tally.said.values())
    sample = cells_of(tally.sampled, label)
    chosen = cells_of({pair: times - tally.sampled.get(pair, 0) for pair, times in tally.cells.items()}, label)
    return ClassRate(
        label=label,
        said=share(said, verdicts),
        corrected=corrected_rate(positive=said, verdicts=verdicts, sample=sample, chosen=chosen),
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
