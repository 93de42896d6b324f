"""The difference between two variants on the same items, and how sure it is.

Items from one source document go well or badly together. So the sources are independent, the items are not: an interval
that treats every item as independent is too narrow, and declares differences that are not there.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from touchstone.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPair:
    """One item's scores under both variants, in any one unit; None for a score that is missing.

    An item is the smallest thing that both variants have. It is a question if both variants have the same questions. If
    each has questions of its own, it is the whole source, with the score of what each variant made of it.
    """

    source: str
    a: float | None
    b: float | None


def pair_items(
    *, a: Mapping[str, float | None], b: Mapping[str, float | None], sources: Mapping[str, str]
) -> tuple[ItemPair, ...]:
    """The items of two variants, paired by id, each with its source document.

    An unscored item is kept with a score of None. Raises `InputError` if one variant lacks an item, since the
    comparison would be unpaired, and if an item has no source.
    """
    for name, lacking in (("A", sorted(b.keys() - a.keys())), ("B", sorted(a.keys() - b.keys()))):
        if lacking:
            raise InputError(
                f"Variant {name} lacks {len(lacking)} of the other's items ({lacking[0]!r} first): give both variants "
                "the same items, with no score where there is none.",
                where=lacking[0],
            )
    for item in a:
        if item not in sources:
            raise InputError(f"Item {item!r} has no source document: name the one it was made from.", where=item)
    return tuple(ItemPair(source=sources[item], a=score, b=b[item]) for item, score in a.items())


def differences_by_source(pairs: Iterable[ItemPair]) -> list[list[float]]:
    """The differences B less A of the items with both scores: one list for each source, sorted by source name.

    Raises `InputError` if a score is not finite.
    """
    held: defaultdict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        if pair.a is not None and pair.b is not None:
            if not math.isfinite(pair.b - pair.a):
                raise InputError(f"A score of source {pair.source!r} is not a finite number.", where=pair.source)
            held[pair.source].append(pair.b - pair.a)
    return [held[source] for source in sorted(held)]


LEVEL = 0.95
"""How often the interval covers the true difference."""
DRAWS = 9_999
"""The number of draws. Draws + 1 is a multiple of 20, so 5 % of it is a whole number. At this number the bounds vary by
about 1 % of the width from seed to seed."""
FEWEST_SOURCES = 5
"""The fewest sources for an interval. With four, one draw in twenty rejects no difference at all: chance would decide
whether the bounds exist."""
WEBB_SQUARES = (0.5, 1.0, 1.5)
"""Squares of the weights: ±√½, ±1 and ±√1½ are equally likely, with mean 0 and variance 1 (see `paired_difference`)."""
COUNTED_SOURCES = 20
"""From this number of sources on, the smallest p-value is below one in a million: small enough for any experiment."""
WEIGHTS_AT_ONCE = 2_000_000
"""The number of weights held in memory at a time (16 MB), so that many sources take more time and not more memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The mean of B less the mean of A over the items that have both scores, in the unit of the scores.

    `difference`, `a_mean` and `b_mean` are None if no item has both scores. `interval` covers the true difference in a
    share `level` of all experiments. It is None with fewer than `FEWEST_SOURCES` sources, or if one source holds so
    large a part of the items that the interval has no bounds. It is a single point if all differences are equal, since
    nothing in the data tells how they vary. `p_value` (0-1) is at most 1 - `level` exactly if the interval excludes 0,
    and None if there is no interval. `standard_error` is None with a single source.

    `items` is the number of items compared. `unscored` items lack a score of one variant or both, and count for
    nothing. `sources` is the number of sources of the compared items.
    """

    difference: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    standard_error: float | None
    a_mean: float | None
    b_mean: float | None
    level: float
    items: int
    unscored: int
    sources: int

    @property
    def shown(self) -> bool:
        """Whether a difference is shown: the interval exists and excludes 0."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def paired_difference(
    pairs: Iterable[ItemPair],
    *,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 0,
    scale: float = math.inf,
) -> PairedDifference:
    """The mean difference of pairs, with a wild bootstrap interval clustered by source and the p-value that fits it.

    The wild cluster bootstrap imposes a difference δ and gives the residuals of each source one random weight. It then
    counts the draws in which the sum of the residuals is as far from 0 as the observed sum. The interval holds every δ
    that is not rejected (A. C. Cameron, J. Gelbach, D. Miller, Rev. Econ. Stat. 90 (2008), 414-427; weights of M. D.
    Webb, Can. J. Econ. 56 (2023), 839-858, for few clusters). The method was chosen by measured coverage
    (`tests/bench/coverage.py`): the percentile and BCa bootstraps cover 90 % with ten sources, and the studentized ones
    lose their bounds where most differences are 0. No method covers enough if a few of many sources carry the whole
    effect and hardly any of them were drawn. The standard error is CR2 of R. Bell and D. McCaffrey, Surv. Methodol. 28
    (2002), 169-181.

    `scale` is the largest possible difference. The interval ends there, which costs it no coverage. The order of pairs
    and of sources changes nothing, and the same seed gives the same result. Raises `InputError` if a score is not
    finite, and `ValueError` for a level outside 0-1 or fewer draws than 1.
    """
    if not 0 < level < 1 or draws < 1:
        raise ValueError(f"No interval of level {level} comes from {draws} draws")
    given = list(pairs)
    scored = [(pair.a, pair.b) for pair in given if pair.a is not None and pair.b is not None]
    count = len(scored)
    by_source = differences_by_source(given)
    difference = math.fsum(value for values in by_source for value in values) / count if count else None
    interval, p_value, error = None, None, None
    if difference is not None and len(by_source) > 1:
        sizes = [len(values) for values in by_source]
        residuals = [math.fsum(value - difference for value in values) for values in by_source]
        error = math.sqrt(
            math.fsum(rest**2 / (1 - size / count) for rest, size in zip(residuals, sizes, strict=True))
        ) / count  # fmt: skip
        if len(by_source) >= FEWEST_SOURCES:
            interval, p_value = _wild_interval(difference, residuals, sizes, level=level, draws=draws, seed=seed)
            interval = interval and (max(interval[0], -scale), min(interval[1], scale))
    return PairedDifference(
        difference=difference,
        interval=interval,
        p_value=p_value,
        standard_error=error,
        a_mean=math.fsum(a for a, _ in scored) / count if count else None,
        b_mean=math.fsum(b for _, b in scored) / count if count else None,
        level=level,
        items=count,
        unscored=len(given) - count,
        sources=len(by_source),
    )


@cache
def smallest_p_value(sources: int) -> float:
    """The smallest p-value that this number of sources of equal size can have: the p-value of equal differences.

    It is the share of draws whose weights outweigh all sources together; such draws reject nothing. It is 0.013 for six
    sources, and half of that with each further source. For more than `COUNTED_SOURCES` sources 0 is returned.
    """
    if sources > COUNTED_SOURCES:
        return 0.0
    sums = Counter({0.0: 1})
    for _ in range(sources):
        after: Counter[float] = Counter()
        for value, times in sums.items():
            for square in WEBB_SQUARES:
                for weight in (math.sqrt(square), -math.sqrt(square)):
                    after[round(value + weight, 9)] += times
        sums = after
    outweighing = sum(times for value, times in sums.items() if abs(value) >= sources - 1e-6)
    return float(outweighing / (2 * len(WEBB_SQUARES)) ** sources)


def _wild_interval(
    difference: float, residuals: Sequence[float], sizes: Sequence[int], *, level: float, draws: int, seed: int
) -> tuple[tuple[float, float] | None, float | None]:
    """The interval and the p-value of "no difference"; None, None if the interval has no bounds.

    A draw with weights w does not reject δ = difference + x while |Σw·residuals - x·Σw·sizes| >= |x|·Σsizes. These x
    are a stretch around x = 0. The ends of the stretches of all draws tell how many draws reject any δ, without a
    search. A draw whose weights outweigh all sources together may reject nothing on either side. It is counted as
    rejecting nothing, which is cautious.
    """
    import numpy as np

    total = sum(sizes)
    rest, weight = _weighted_sums(residuals, sizes, draws=draws, seed=seed)
    away, near = total + weight, total - weight
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(rest >= 0, rest / away, -rest / near)
        down = np.where(rest >= 0, rest / near, -rest / away)
    endless = np.abs(weight) >= total
    up[endless] = down[endless] = math.inf

    # The p-value of δ is (1 + draws that do not reject δ) / (1 + draws). The bound is the last δ whose p-value is above
    # 1 - level.
    rank = math.floor((1 - level) * (draws + 1) + 1e-9)
    if rank < 1:
        return (None, None)
    upper, lower = (float(np.partition(reach, draws - rank)[draws - rank]) for reach in (up, down))
    if math.isinf(upper) or math.isinf(lower):
        return (None, None)
    unrejecting = np.count_nonzero(up >= -difference if difference < 0 else down >= difference)
    return ((difference - lower, difference + upper), (1 + int(unrejecting)) / (draws + 1))


def _weighted_sums(
    residuals: Sequence[float], sizes: Sequence[int], *, draws: int, seed: int
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """The weighted sums of the residuals and of the sizes, one of each for each draw.

    Each source has one weight a draw.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    roots = np.sqrt(WEBB_SQUARES)
    weights = np.concatenate((-roots, roots))
    columns = np.array([residuals, sizes], dtype=np.float64).T
    at_once = max(1, WEIGHTS_AT_ONCE // len(sizes))
    blocks = [
        weights[generator.integers(len(weights), size=(min(at_once, draws - start), len(sizes)), dtype=np.int8)]
        @ columns
        for start in range(0, draws, at_once)
    ]
    sums = np.concatenate(blocks)
    return (sums[:, 0], sums[:, 1])
