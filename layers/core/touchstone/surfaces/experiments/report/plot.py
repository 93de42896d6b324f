"""Where a difference and its interval are drawn.

All respects share one scale: 0 in the middle, B's side on the right.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.surfaces.experiments.conclusion import VariantComparison

WIDTH, MIDDLE, MARGIN = 240.0, 120.0, 8.0
LARGEST = 100.0
ENDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, LARGEST)
"""The points of 100 at which a scale may end. It ends at the first that has room for all differences and intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnDifference:
    """A difference drawn at `x`, and its interval from `low` to `high`, which are None if there is no interval."""

    x: float
    low: float | None
    high: float | None


def scale_of(comparisons: Iterable[VariantComparison]) -> float:
    """How many points of 100 the scale reaches to either side."""
    values = [abs(value) for one in comparisons for value in (one.difference, *(one.interval or ())) if value]
    furthest = max(values, default=0.0)
    return next((end for end in ENDS if end >= furthest), LARGEST)


def mark_of(comparison: VariantComparison, scale: float) -> DrawnDifference | None:
    """Where a comparison is drawn; None if nothing was compared."""
    if comparison.difference is None:
        return None
    low, high = (None, None) if comparison.interval is None else (_x(bound, scale) for bound in comparison.interval)
    return DrawnDifference(x=_x(comparison.difference, scale), low=low, high=high)


def _x(value: float, scale: float) -> float:
    """A place on the scale. A value beyond the scale (of an interval wider than all scores) is drawn at its end."""
    inside = max(-scale, min(scale, value))
    return round(MIDDLE + inside / scale * (MIDDLE - MARGIN), 1)
