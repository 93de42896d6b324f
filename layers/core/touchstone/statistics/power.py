"""The effect that an experiment of a given size can show, and the size needed to show the difference it sees."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.statistics.paired import (
    COUNTED_SOURCES,
    FEWEST_SOURCES,
    ItemPair,
    differences_by_source,
    smallest_p_value,
)

POWER = 0.8
"""The chance with which the experiment must find the effect."""
SIGNIFICANCE = 0.05
"""How often the experiment may declare an effect where there is none."""
MOST_SOURCES = 10_000
"""The largest number of sources that is worth telling. If more would be needed, no number is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableEffect:
    """The smallest effect that the size at hand can show.

    `effect` is the smallest true difference, of either sign and in the unit of the scores, that is found with a chance
    of `power` at two-sided `significance`. `standard_deviation` is that of the differences of items. `icc`, the
    intraclass correlation, is the share of their variance that lies between sources, 0-1. `design_effect` (at least 1)
    is the factor by which more items are needed than if they were independent. `effect`, `standard_deviation` and
    `design_effect` are None with fewer than two sources or if all differences are equal. `icc` is None in these cases,
    and if no source has two items.
    """

    effect: float | None
    standard_deviation: float | None
    icc: float | None
    design_effect: float | None
    power: float
    significance: float
    items: int
    sources: int


def minimum_detectable_effect(
    pairs: Iterable[ItemPair], *, power: float = POWER, significance: float = SIGNIFICANCE
) -> DetectableEffect:
    """The minimum detectable effect for the number, the sources and the spread of these pairs.

    The difference that the pairs show does not matter. H. S. Bloom, Eval. Rev. 19 (1995), 547-556: (t of 1 -
    significance/2 + t of power) × the standard error, both quantiles with one degree of freedom fewer than there are
    sources. The standard error is sd × √(design effect / items) with L. Kish's design effect 1 + (Σn²/Σn - 1) × icc for
    sources of n items. The icc is the estimate from a one-way analysis of variance (A. Donner, Int. Stat. Rev. 54
    (1986), 67-82), 0 if the estimate is negative.

    Raises `ValueError` unless power is 0.5-1 and significance 0-1.
    """
    if not (0.5 <= power < 1 and 0 < significance < 1):  # noqa: PLR2004 - below one half the quantile turns negative
        raise ValueError(f"No experiment has power {power} at significance {significance}")
    by_source = differences_by_source(pairs)
    items, sources = sum(map(len, by_source)), len(by_source)
    within, between = _variances(by_source)
    variance = (within or 0.0) + between
    if not variance:
        return DetectableEffect(
            effect=None, standard_deviation=None, icc=None, design_effect=None,
            power=power, significance=significance, items=items, sources=sources,
        )  # fmt: skip
    from scipy.special import stdtrit

    icc = None if within is None else between / variance
    design_effect = 1 + (math.fsum(len(values) ** 2 for values in by_source) / items - 1) * (icc or 0.0)
    quantiles = float(stdtrit(sources - 1, 1 - significance / 2) + stdtrit(sources - 1, power))
    return DetectableEffect(
        effect=quantiles * math.sqrt(variance * design_effect / items),
        standard_deviation=math.sqrt(variance),
        icc=icc,
        design_effect=design_effect,
        power=power,
        significance=significance,
        items=items,
        sources=sources,
    )


def sources_needed(
    pairs: Iterable[ItemPair], *, power: float = POWER, significance: float = SIGNIFICANCE
) -> int | None:
    """The number of sources, old and new, that would show the difference of these pairs with a chance of `power`.

    New sources are assumed to be like these: as many items, as different, the same mean difference. The number is the
    smallest k for which (t of 1 - significance/2 + t of power) × the spread of sources / √k is at most the difference,
    as in `minimum_detectable_effect`, and for which `paired_difference` can have so small a p-value at all. None if
    there is no difference, if there are fewer than two sources (they tell nothing of the spread), or if more than
    `MOST_SOURCES` would be needed. Raises `ValueError` as `minimum_detectable_effect` does.
    """
    given = list(pairs)
    found = minimum_detectable_effect(given, power=power, significance=significance)
    values = [value for group in differences_by_source(given) for value in group]
    difference = abs(math.fsum(values) / len(values)) if values else 0.0
    if not difference or found.sources < 2:  # noqa: PLR2004 - nothing tells how sources differ
        return None
    fewest = next(
        (k for k in range(FEWEST_SOURCES, COUNTED_SOURCES) if smallest_p_value(k) <= significance), COUNTED_SOURCES
    )
    if found.standard_deviation is None or found.design_effect is None:
        return fewest  # all differences are equal
    import numpy as np
    from scipy.special import stdtrit

    spread = found.standard_deviation * math.sqrt(found.design_effect * found.sources / found.items)
    counts = np.arange(fewest, MOST_SOURCES + 1)
    quantiles = stdtrit(counts - 1, 1 - significance / 2) + stdtrit(counts - 1, power)
    enough = np.flatnonzero(quantiles * spread / np.sqrt(counts) <= difference)
    return int(counts[enough[0]]) if len(enough) else None


def _variances(by_source: list[list[float]]) -> tuple[float | None, float]:
    """The variances (within sources, between sources).

    If no source has two items, or all values are equal, the first is None and the second is the whole variance. With
    fewer than two sources they are None and 0.
    """
    items, sources = sum(map(len, by_source)), len(by_source)
    if sources < 2:  # noqa: PLR2004 - nothing tells how sources differ
        return (None, 0.0)
    values = [value for group in by_source for value in group]
    if min(values) == max(values):  # rounded means would leave a variance where there is none
        return (None, 0.0)
    mean = math.fsum(values) / items
    means = [math.fsum(group) / len(group) for group in by_source]
    around = math.fsum(len(group) * (each - mean) ** 2 for group, each in zip(by_source, means, strict=True))
    if items == sources:
        return (None, around / (sources - 1))
    inside = math.fsum((value - each) ** 2 for group, each in zip(by_source, means, strict=True) for value in group)
    within = inside / (items - sources)
    usual_size = (items - math.fsum(len(group) ** 2 for group in by_source) / items) / (sources - 1)
    between = (around / (sources - 1) - within) / usual_size
    if between < 0:
        return ((inside + around) / (items - 1), 0.0)
    return (within, between)
