"""Corrected rates: what a judge counted, corrected by the labels that people gave to some of its verdicts.

A rate counted from verdicts alone is off by the judge's mistakes, and its interval says nothing of them. There are two
corrections, both from counts:

labels of a random sample of the verdicts ──> PPI++: right whatever the judge's mistakes are
labels of verdicts that people chose     ──> Rogan and Gladen: right if the judge makes the same mistakes elsewhere
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Literal

from touchstone.statistics.intervals import Z_95, score_interval

SMOOTHING = 1.0
"""Added to each cell before a variance is computed. Otherwise the variance would be 0 if a judge made no mistake among
30 labels. With it the intervals cover the truth in 95 % of simulations, from 30 labels on."""
MIN_YOUDEN = 0.1
"""The smallest sensitivity + specificity - 1 at which a judge's rate says anything. Below it a correction divides by
noise."""
MIN_CORRECTING_LABELS = 30
"""With fewer labels nothing is corrected: the coverage of the intervals holds from this number of labels on."""
MOST_TIMES = 1_000
"""More than this many times the labels at hand are never asked for."""

type Correction = Literal["ppi++", "rogan_gladen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCells:
    """Labelled things by the judge's verdict and the person's label, each positive or negative (right or wrong).

    `judge_only` things are positive for the judge only, `person_only` things for the person only.
    """

    both: float = 0
    judge_only: float = 0
    person_only: float = 0
    neither: float = 0

    @property
    def labels(self) -> float:
        """The number of all labels."""
        return self.both + self.judge_only + self.person_only + self.neither

    def scaled(self, factor: float) -> "VerdictCells":
        """The cells with every count multiplied by `factor`."""
        return VerdictCells(
            both=self.both * factor,
            judge_only=self.judge_only * factor,
            person_only=self.person_only * factor,
            neither=self.neither * factor,
        )


UNLABELLED = VerdictCells()
"""The cells if nobody gave a label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """A rate (0-1) as it would be if people had judged everything, with its interval of 95 %.

    `labels` is the number of labels that it rests on. `to_halve` is how many more would halve the interval. It is null
    if no number would: the number of verdicts, or the judge itself, then keeps the interval wide.
    """

    method: Correction
    rate: float
    interval: tuple[float, float]
    labels: int
    to_halve: int | None


def corrected_rate(*, positive: int, verdicts: int, sample: VerdictCells, chosen: VerdictCells) -> CorrectedRate | None:
    """The corrected share of positives among all `verdicts`, of which the judge calls `positive` positive.

    `sample` are the labels of a random sample of these verdicts, `chosen` all other labels of the same judge. The
    sample alone decides if it has `MIN_CORRECTING_LABELS` labels: the labels that people chose to give would bias it.
    None if both together have fewer.
    """
    called_so = sample.both + sample.judge_only
    among_them = called_so <= positive and sample.labels - called_so <= verdicts - positive
    if sample.labels >= MIN_CORRECTING_LABELS and among_them:
        return _with_need("ppi++", sample, verdicts, lambda cells: ppi(positive, verdicts, cells))
    every = VerdictCells(
        both=sample.both + chosen.both,
        judge_only=sample.judge_only + chosen.judge_only,
        person_only=sample.person_only + chosen.person_only,
        neither=sample.neither + chosen.neither,
    )
    if every.labels < MIN_CORRECTING_LABELS or not verdicts:
        return None
    return _with_need("rogan_gladen", every, None, lambda cells: rogan_gladen(positive, verdicts, cells))


def ppi(positive: float, verdicts: float, cells: VerdictCells) -> tuple[float, float, float]:
    """The share of positives by PPI++, with its interval of 95 %: (rate, lower, upper), all 0-1.

    A. Angelopoulos, J. Duchi, T. Zrnic, "PPI++: efficient prediction-powered inference" (arXiv 2311.01453), for a mean:
    rate = ȳ + λ (f̄_rest - f̄_labelled), with λ = cov(y, f) / ((1 + n / N) var(f)), y a label, f a verdict, n labels
    and N verdicts without a label. Its variance is var(y - λ f) / n + λ² var(f) / N. The interval is Wilson's interval
    of the rate, which stays inside 0-1; its number of trials is the one that gives the rate that variance. `cells` are
    a random sample of the verdicts.
    """
    labels = cells.labels
    rest = verdicts - labels
    found = (cells.both + cells.person_only) / labels
    if rest <= 0:
        return (found, *score_interval(found, labels))
    both, judge_only = cells.both + SMOOTHING, cells.judge_only + SMOOTHING
    total = labels + 4 * SMOOTHING
    judge_share, person_share = (both + judge_only) / total, (both + cells.person_only + SMOOTHING) / total
    together, spread = both / total - judge_share * person_share, judge_share * (1 - judge_share)
    # Scaled cells can hold more positives, or more others, than there are; the rest then has none of them.
    rest_positive = min(rest, max(0, positive - cells.both - cells.judge_only))
    weight = min(1.0, max(0.0, together / (spread * (1 + labels / rest))))
    rate = found + weight * (rest_positive / rest - (cells.both + cells.judge_only) / labels)
    rate = min(1.0, max(0.0, rate))
    rest_share = (rest_positive + SMOOTHING) / (rest + 2 * SMOOTHING)
    variance = (person_share * (1 - person_share) - 2 * weight * together + weight**2 * spread) / labels
    variance += weight**2 * rest_share * (1 - rest_share) / rest
    edge = min(1 - 0.5 / total, max(0.5 / total, rate))
    return (rate, *score_interval(rate, edge * (1 - edge) / variance))


def rogan_gladen(positive: float, verdicts: float, cells: VerdictCells) -> tuple[float, float, float]:
    """The share of positives by the judge's sensitivity and specificity among the labels: (rate, lower, upper), 0-1.

    W. Rogan, B. Gladen, "Estimating prevalence from the results of a screening test", Am. J. Epidemiol. 107 (1978),
    71-76: (share + specificity - 1) / (sensitivity + specificity - 1). Where people gave labels of one kind only, the
    other kind tells nothing, and the centre of the interval takes its place. The interval is that of Z. Lang, J.
    Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and specificity", Prev.
    Vet. Med. 113 (2014), 13-22, which adds counts to all three shares. If the judge is hardly better than chance, its
    verdicts say nothing, and the interval is (0, 1).
    """
    of_people, of_others = cells.both + cells.person_only, cells.judge_only + cells.neither
    share = (positive + Z_95**2 / 2) / (verdicts + Z_95**2)
    sensitivity, specificity = (cells.both + 1) / (of_people + 2), (cells.neither + 1) / (of_others + 2)
    youden = sensitivity + specificity - 1
    if youden < MIN_YOUDEN:
        return (positive / verdicts, 0.0, 1.0)
    centre = (share + specificity - 1) / youden
    of_sensitivity = sensitivity * (1 - sensitivity) / (of_people + 2)
    of_specificity = specificity * (1 - specificity) / (of_others + 2)
    shift = 2 * Z_95**2 * (centre * of_sensitivity - (1 - centre) * of_specificity)
    variance = share * (1 - share) / (verdicts + Z_95**2)
    variance += centre**2 * of_sensitivity + (1 - centre) ** 2 * of_specificity
    reach = Z_95 * sqrt(variance) / youden
    lower, upper = (min(1.0, max(0.0, centre + shift + side * reach)) for side in (-1, 1))
    rate = centre
    if of_people and of_others and (told := cells.both / of_people + cells.neither / of_others - 1) >= MIN_YOUDEN:
        rate = (positive / verdicts + cells.neither / of_others - 1) / told
    return (min(upper, max(lower, rate)), lower, upper)


def _with_need(
    method: Correction,
    cells: VerdictCells,
    most: int | None,
    rate_of: Callable[[VerdictCells], tuple[float, float, float]],
) -> CorrectedRate:
    """The corrected rate, with the number of further labels like these that would halve its interval.

    `most` is the most labels that there can be, None for no limit.
    """
    rate, lower, upper = rate_of(cells)
    aim = (upper - lower) / 2

    def halves(factor: float) -> bool:
        _, low, high = rate_of(cells.scaled(factor))
        return high - low <= aim

    low, high = 1.0, float(MOST_TIMES) if most is None else min(MOST_TIMES, most / cells.labels)
    to_halve = None
    if halves(high):
        while (high - low) * cells.labels > 1:
            middle = (low + high) / 2
            low, high = (low, middle) if halves(middle) else (middle, high)
        to_halve = ceil((high - 1) * cells.labels)
    return CorrectedRate(method=method, rate=rate, interval=(lower, upper), labels=int(cells.labels), to_halve=to_halve)
