"""Figures as reports write and draw them for people. A missing figure is a dash, never a 0.

Differences and their intervals are drawn on one scale for all respects: 0 in the middle, B's side on the right.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from touchstone import figures
from touchstone.statistics.multiple import FAMILY_LEVEL
from touchstone.surfaces.experiments.conclusion import Replication, VariantComparison

NOTHING = "–"
DECIMALS = 1
MOST_POINTS = 100
"""The whole scale of a score: the largest difference that there can be."""
SMALLEST = 0.0001
"""A figure nearer to 0 than this is shown as 0."""
WIDTH, MIDDLE, MARGIN = 240.0, 120.0, 8.0
ENDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0)
"""The points of 100 at which a scale may end. It ends at the first that has room for all differences and intervals."""


def score(value: float | None) -> str:
    """A score or a mean (0-100)."""
    if value is None:
        return NOTHING
    return figures.score(value, DECIMALS) if value >= 1 else _minus(_written(value))


def detectable(value: float | None) -> str:
    """The smallest difference that would be found. No difference is larger than the whole scale."""
    return f"> {MOST_POINTS}" if value is not None and value > MOST_POINTS else score(value)


def points(value: float | None) -> str:
    """A difference in points of 100, with its sign."""
    if value is None:
        return NOTHING
    written = _written(value)
    return _minus(written if float(written) <= 0 else f"+{written}")


def interval(bounds: tuple[float, float] | None) -> str:
    """An interval of differences, in points of 100."""
    return NOTHING if bounds is None else f"{points(bounds[0])} to {points(bounds[1])}"


def between_runs(replication: Replication | None) -> str:
    """The standard deviation of a difference between runs, in points of 100; "" if the same was asked once."""
    if replication is None:
        return ""
    return NOTHING if replication.variance is None else f"± {_written(sqrt(replication.variance))}"


def p_value(value: float | None) -> str:
    """A p-value."""
    return NOTHING if value is None else figures.p_value(value, level=FAMILY_LEVEL)


def share(value: float | None) -> str:
    """A share (0-1) in per cent."""
    return NOTHING if value is None else figures.percent(value, unit=" %")


def were(number: int, one: str) -> str:
    """A number of things with its verb in the past: `1 was a tie`, `2 were ties`."""
    return f"1 was a {one}" if number == 1 else f"{number:,} were {one}s"


def _written(value: float) -> str:
    """A rounded figure. If it would be rounded to 0, it is shown with its first digit, since its sign may matter."""
    rounded = round(value, DECIMALS)
    if not rounded and abs(value) >= SMALLEST:
        return f"{value:.1g}"
    return f"{rounded + 0.0:.{DECIMALS}f}"  # the sum is never -0.0


def _minus(text: str) -> str:
    return text.replace("-", "−")


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
    return next((end for end in ENDS if end >= furthest), ENDS[-1])


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
