"""Calibration: whether a judge that says 0.8 is right four times of five."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.errors import InputError
from touchstone.statistics.intervals import wilson_interval

BINS = 10
"""The usual number of bins, each a tenth wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The verdicts whose confidence is at least `lower` and below `upper` (the last bin holds 1.0 too).

    `confidence` is their mean confidence and `accuracy` the share that was right, both 0-1, with the Wilson interval of
    95 %; all three are None in an empty bin. Calibrated: `accuracy` is near `confidence`.
    """

    lower: float
    upper: float
    count: int
    confidence: float | None
    accuracy: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """A reliability diagram.

    `ece`, the expected calibration error, is 0-1: by how much confidence and accuracy differ on average. `brier`, the
    mean squared difference of confidence and outcome, is 0-1. Lower is better; both are None without labelled verdicts.
    `labelled` verdicts are counted in the bins; `unlabelled` ones lack a confidence or a label.
    """

    bins: tuple[Bin, ...]
    ece: float | None
    brier: float | None
    labelled: int
    unlabelled: int


def reliability(verdicts: Iterable[tuple[float | None, bool | None]], *, bins: int = BINS) -> Reliability:
    """The diagram of verdicts, each with its confidence (0-1) and whether a person's label says that it was right.

    C. Guo, G. Pleiss, Y. Sun, K. Weinberger, "On calibration of modern neural networks", ICML 2017: over bins of equal
    width, ECE = Σ |bin| / n × |accuracy - confidence|. G. W. Brier, Mon. Weather Rev. 78 (1950), 1-3. With few verdicts
    the ECE is above 0 by chance alone, which the bins' intervals show.

    Raises `InputError` for a confidence outside 0-1 and `ValueError` without a bin.
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
    diagram = tuple(_bin(place / bins, (place + 1) / bins, inside) for place, inside in enumerate(held))
    count = len(labelled)
    gaps = (
        each.count * abs(each.accuracy - each.confidence)
        for each in diagram
        if each.accuracy is not None and each.confidence is not None
    )
    return Reliability(
        bins=diagram,
        ece=math.fsum(gaps) / count if count else None,
        brier=math.fsum((confidence - right) ** 2 for confidence, right in labelled) / count if count else None,
        labelled=count,
        unlabelled=len(given) - count,
    )


def _place(confidence: float, bins: int) -> int:
    """The bin whose edges, as they are shown, hold the confidence: 0.29 × 100 is less than 29 in binary fractions."""
    place = min(int(confidence * bins), bins - 1)
    if place + 1 < bins and confidence >= (place + 1) / bins:
        return place + 1
    return place - 1 if confidence < place / bins else place


def _bin(lower: float, upper: float, inside: list[tuple[float, bool]]) -> Bin:
    count = len(inside)
    right = sum(right for _, right in inside)
    return Bin(
        lower=lower,
        upper=upper,
        count=count,
        confidence=math.fsum(confidence for confidence, _ in inside) / count if count else None,
        accuracy=right / count if count else None,
        interval=wilson_interval(right, count) if count else None,
    )
