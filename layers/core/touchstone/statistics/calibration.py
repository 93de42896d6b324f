"""Calibration: whether a judge that says 0.8 is right four times of five."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from touchstone.errors import InputError
from touchstone.statistics.intervals import wilson_interval

BINS = 10
"""The usual number of bins. Each is a tenth wide."""
MILLIONTHS = 1_000_000
"""Stored sums of confidences are sums of whole millionths, so that they are exact in any order of addition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The verdicts whose confidence is at least `lower` and below `upper`. The last bin holds 1.0 too.

    `confidence` is their mean confidence, and `accuracy` is the share that was right; both are 0-1. `interval` is the
    Wilson interval of 95 % of `accuracy`. All three are null in an empty bin. A judge is calibrated if `accuracy` is
    near `confidence`.
    """

    lower: float
    upper: float
    count: int
    confidence: float | None
    accuracy: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BinCounts:
    """The sums over the verdicts of a bin: the number, the number that was right, the confidences in millionths."""

    count: int = 0
    right: int = 0
    confidence: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """A reliability diagram.

    `ece` is the expected calibration error: how much confidence and accuracy differ on average. `brier` is the mean
    squared difference between confidence and outcome. Both are 0-1, lower is better, and they are null without labelled
    verdicts. `labelled` verdicts are counted in the bins. `unlabelled` verdicts lack a confidence or a label.
    """

    bins: tuple[Bin, ...]
    ece: float | None
    brier: float | None
    labelled: int
    unlabelled: int


def reliability(verdicts: Iterable[tuple[float | None, bool | None]], *, bins: int = BINS) -> Reliability:
    """The reliability diagram of verdicts: each a confidence (0-1) and whether a person's label says that it was right.

    C. Guo, G. Pleiss, Y. Sun, K. Weinberger, "On calibration of modern neural networks", ICML 2017: over bins of equal
    width, ECE = Σ |bin| / n × |accuracy - confidence|. G. W. Brier, Mon. Weather Rev. 78 (1950), 1-3. With few verdicts
    the ECE is above 0 by chance alone; the intervals of the bins show this.

    Raises `InputError` for a confidence outside 0-1 and `ValueError` if `bins` is below 1.
    """
    if bins < 1:
        raise ValueError(f"A diagram has at least one bin, not {bins}")
    given = list(verdicts)
    labelled = [(confidence, right) for confidence, right in given if confidence is not None and right is not None]
    held: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for confidence, right in labelled:
        if not 0 <= confidence <= 1:
            raise InputError(f"A confidence must lie between 0 and 1, not at {confidence}.", where="confidence")
        held[_place(confidence, bins)].append((confidence, right))
    sums = [
        (len(inside), sum(right for _, right in inside), math.fsum(confidence for confidence, _ in inside))
        for inside in held
    ]
    squares = math.fsum((confidence - right) ** 2 for confidence, right in labelled)
    return _reliability(sums, squares=squares, unlabelled=len(given) - len(labelled))


def reliability_of_counts(bins: Sequence[BinCounts], *, squares: int, unlabelled: int = 0) -> Reliability:
    """The same as `reliability`, from sums.

    `squares` is the sum of (confidence - outcome)² over all verdicts, with confidence and outcome in millionths.
    """
    sums = [(each.count, each.right, each.confidence / MILLIONTHS) for each in bins]
    return _reliability(sums, squares=squares / MILLIONTHS**2, unlabelled=unlabelled)


def place_of(millionths: int) -> int:
    """The number of the usual bin that holds a confidence: 0 is the first, `BINS` - 1 the last."""
    return min(millionths * BINS // MILLIONTHS, BINS - 1)


def _reliability(sums: Sequence[tuple[int, int, float]], *, squares: float, unlabelled: int) -> Reliability:
    """The diagram from one triple for each bin: its count, the number that was right, the sum of the confidences."""
    bins = len(sums)
    diagram = tuple(
        _bin(place / bins, (place + 1) / bins, count=count, right=right, confidence=confidence)
        for place, (count, right, confidence) in enumerate(sums)
    )
    labelled = sum(each.count for each in diagram)
    gaps = (
        each.count * abs(each.accuracy - each.confidence)
        for each in diagram
        if each.accuracy is not None and each.confidence is not None
    )
    return Reliability(
        bins=diagram,
        ece=math.fsum(gaps) / labelled if labelled else None,
        brier=squares / labelled if labelled else None,
        labelled=labelled,
        unlabelled=unlabelled,
    )


def _place(confidence: float, bins: int) -> int:
    """The number of the bin whose edges, as shown, hold the confidence.

    The product alone is not enough: 0.29 × 100 is less than 29 in binary fractions.
    """
    place = min(int(confidence * bins), bins - 1)
    if place + 1 < bins and confidence >= (place + 1) / bins:
        return place + 1
    return place - 1 if confidence < place / bins else place


def _bin(lower: float, upper: float, *, count: int, right: int, confidence: float) -> Bin:
    return Bin(
        lower=lower,
        upper=upper,
        count=count,
        confidence=confidence / count if count else None,
        accuracy=right / count if count else None,
        interval=wilson_interval(right, count) if count else None,
    )
