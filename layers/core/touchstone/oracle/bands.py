"""The five bands of a score, 0-100: a judge names the band first, then a whole number inside it."""

from collections.abc import Mapping
from typing import Literal

type Band = Literal["A", "B", "C", "D", "E"]
HIGHEST = 100

BANDS: Mapping[Band, tuple[int, int]] = {"A": (90, 100), "B": (70, 89), "C": (50, 69), "D": (30, 49), "E": (0, 29)}
"""Lowest and highest score of each band. A: clearly beyond expectations. B: done well. C: basically meets it, mediocre.
D: poor. E: almost no value."""

ELIMINATED_BELOW: Band = "C"
"""At the deadline a contest eliminates each submission that has a dimension in a band below this one."""


def band_of(score: float) -> Band:
    """The band of a score.

    A score between two whole numbers, such as a mean, belongs to the band whose lowest score it reaches. So 89.5 is a
    B. Raises `ValueError` for a score outside 0-100.
    """
    if not 0 <= score <= HIGHEST:
        raise ValueError(f"A score lies between 0 and {HIGHEST}, not at {score}.")
    return next(band for band, (lowest, _) in BANDS.items() if score >= lowest)


def band_contains(band: Band, score: int) -> bool:
    """Whether a score lies in a band."""
    lowest, highest = BANDS[band]
    return lowest <= score <= highest


def is_lower_band(band: Band, other: Band) -> bool:
    """Whether a band is worse than another."""
    return BANDS[band][0] < BANDS[other][0]
