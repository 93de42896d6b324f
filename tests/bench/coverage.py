"""How often intervals of 95 % cover a truth that is known, ours beside those that were not chosen.

    uv run python -m tests.bench.coverage [--seeds N] [--draws N] [--only NAME …] [--judges]

First the paired difference: of each world and number of sources the share of experiments whose interval covers the true
difference, and after the stroke how wide it is against CR2's (median); `shown` is how often ours shows a difference,
which is the power where there is one and the error where there is none. `none` is how often there are no bounds.
Then Cohen's kappa, ours beside value ± 1.96 standard errors, and what one paired difference takes. Last, or alone with
`--judges`, what labels promise of a judge: thresholds over 2,000 cards of four kinds of judges, and corrected rates. It
exits with 1 where these miss their bars.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from tests.bench import judge_rates
from tests.support.worlds import World
from touchstone.statistics import ItemPair, cohen_kappa, paired_difference

type Floats = NDArray[np.float64]
type Interval = tuple[float, float] | None
type Method = Callable[[Floats, Floats, NDArray[np.int64]], Interval]
"""Of the sums and sizes of the sources, and the sources drawn for each resample."""

RARELY = {"base": 0.7, "source_spread": 0.1, "item_spread": 0.05, "effect_spread": 0.05, "rare": 0.15}
WORLDS = (
    World(name="right or wrong", effect=0.1),
    World(name="right or wrong, equal"),
    World(name="depth 0-3", steps=3, effect=0.1),
    World(name="depth 0-3, equal", steps=3),
    World(name="nearly all right", base=0.93, source_spread=0.03, item_spread=0.02, effect_spread=0.0, effect=0.02),
    World(name="nearly all right, equal", base=0.93, source_spread=0.03, item_spread=0.02, effect_spread=0.0),
    World(name="1-60 items a source", items=(1, 60), effect=0.1),
    World(name="one item a source", items=(1, 1), steps=3, effect=0.1),
    World(name="few sources carry it", steps=3, together=0.9, effect=-0.05, **RARELY),  # type: ignore[arg-type]
)
SOURCES = (6, 10, 15, 25, 40)
KAPPAS = [(base, kappa, count) for base in (0.5, 0.9) for kappa in (0.6, 0.8, 0.95) for count in (20, 50, 100, 300)]


def cluster_robust(sums: Floats, sizes: Floats) -> tuple[float, float, float]:
    """The mean, its CR2 standard error, and Satterthwaite's degrees of freedom (Pustejovsky and Tipton, 2018)."""
    count = sizes.sum()
    mean = sums.sum() / count
    adjusted = 1 / (1 - sizes / count)
    error = np.sqrt(((sums - mean * sizes) ** 2 * adjusted).sum()) / count
    crossed = adjusted * sizes**2
    trace = (sizes**2).sum() + (crossed.sum() ** 2 - (crossed**2).sum()) / count**2
    return float(mean), float(error), float(count**2 / trace)


def cr2(sums: Floats, sizes: Floats, _: NDArray[np.int64]) -> Interval:
    mean, error, freedom = cluster_robust(sums, sizes)
    reach = float(stdtrit(freedom, 0.975)) * error
    return (mean - reach, mean + reach)


def percentile(sums: Floats, sizes: Floats, drawn: NDArray[np.int64]) -> Interval:
    lower, upper = np.quantile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), (0.025, 0.975))
    return (float(lower), float(upper))


def bca(sums: Floats, sizes: Floats, drawn: NDArray[np.int64]) -> Interval:
    """Efron's bias-corrected and accelerated bootstrap, the acceleration from leaving out one source at a time."""
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    mean = sums.sum() / sizes.sum()
    below = np.mean(means < mean) + np.mean(means == mean) / 2
    bias = ndtri(np.clip(below, 1 / len(means), 1 - 1 / len(means)))
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    pull = without.mean() - without
    spread = (pull**2).sum() ** 1.5
    acceleration = (pull**3).sum() / (6 * spread) if spread else 0.0
    shifted = bias + ndtri(np.array((0.025, 0.975)))
    lower, upper = np.quantile(means, ndtr(bias + shifted / (1 - acceleration * shifted)))
    return (float(lower), float(upper))


def studentized(sums: Floats, sizes: Floats, drawn: NDArray[np.int64]) -> Interval:
    """The symmetric percentile-t bootstrap; none where more than 5 % of the resamples have no spread."""
    mean, error, _ = cluster_robust(sums, sizes)
    some, many = sums[drawn], sizes[drawn]
    counts = many.sum(axis=1)
    means = some.sum(axis=1) / counts
    rest = some - means[:, None] * many
    errors = np.sqrt((rest**2 / (1 - many / counts[:, None])).sum(axis=1)) / counts
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(np.abs(means - mean) <= 1e-9 * error, 0.0, np.abs(means - mean) / errors)
    rank = math.floor(0.05 * (len(away) + 1))
    reach = float(np.partition(away, len(away) - rank)[len(away) - rank]) * error
    return (mean - reach, mean + reach) if math.isfinite(reach) else None


METHODS: dict[str, Method] = {"CR2 t": cr2, "percentile": percentile, "BCa": bca, "studentized": studentized}


def differences(world: World, seeds: int, draws: int) -> None:
    for sources in SOURCES:
        found: dict[str, list[Interval]] = {name: [] for name in ("wild", *METHODS)}
        shown = 0
        for seed in range(seeds):
            generator = np.random.default_rng((sources, seed))  # apart from the one that draws the weights
            pairs = world.experiment(sources, generator)
            ours = paired_difference(pairs, draws=draws, seed=seed)
            shown += ours.shown
            found["wild"].append(ours.interval)
            sums, sizes = by_source(pairs)
            drawn = generator.integers(sources, size=(draws, sources))
            for name, method in METHODS.items():
                found[name].append(method(sums, sizes, drawn))
        usual = np.median([upper - lower for lower, upper in bounded(found["CR2 t"])])
        cells = [f"{cell(intervals, world.truth, float(usual)):>20}" for intervals in found.values()]
        print(f"{world.name:24}{sources:4}{100 * shown / seeds:8.1f}", *cells, flush=True)


def by_source(pairs: Sequence[ItemPair]) -> tuple[Floats, Floats]:
    """The sums of the differences and the numbers of items, of each source."""
    sources, place = np.unique([pair.source for pair in pairs], return_inverse=True)
    apart = np.array([(pair.b or 0.0) - (pair.a or 0.0) for pair in pairs])
    return np.bincount(place, apart, len(sources)), np.bincount(place, minlength=len(sources)).astype(np.float64)


def bounded(intervals: Sequence[Interval]) -> list[tuple[float, float]]:
    return [interval for interval in intervals if interval is not None]


def cell(intervals: Sequence[Interval], truth: float, usual: float) -> str:
    """The coverage of the intervals with bounds, their width against the usual one, and how many have none."""
    some = bounded(intervals)
    covered = sum(lower - 1e-9 <= truth <= upper + 1e-9 for lower, upper in some)
    width = float(np.median([upper - lower for lower, upper in some])) / usual
    without = len(intervals) - len(some)
    return f"{100 * covered / len(some):.1f}/{width:.2f}" + (
        f" none {100 * without / len(intervals):.0f}%" * (without > 0)
    )


def kappas(seeds: int) -> None:
    print("\nshare of the larger class, kappa, things labelled: ours, value ± 1.96 standard errors, undefined")
    generator = np.random.default_rng(0)
    for base, kappa, count in KAPPAS:
        apart = np.array((base, 1 - base))
        chances = kappa * np.diag(apart) + (1 - kappa) * np.outer(apart, apart)
        ours = plain = defined = 0
        for table in generator.multinomial(count, chances.ravel(), size=seeds):
            result = cohen_kappa(
                [pair for pair, times in zip(("aa", "ab", "ba", "bb"), table, strict=True) for _ in range(times)]  # type: ignore[misc]
            )
            if result.value is None or result.interval is None or result.standard_error is None:
                continue
            defined += 1
            ours += result.interval[0] <= kappa <= result.interval[1]
            plain += abs(result.value - kappa) <= 1.96 * result.standard_error
        print(
            f"{base:5}{kappa:6}{count:5}{100 * ours / defined:8.1f}{100 * plain / defined:8.1f}"
            f"{100 * (1 - defined / seeds):8.1f}",
            flush=True,
        )


def pace() -> None:
    pairs = World(name="400 items", items=(10, 10)).experiment(40, np.random.default_rng(0))
    took = []
    for _ in range(9):
        began = time.perf_counter()
        paired_difference(pairs)
        took.append(time.perf_counter() - began)
    print(
        f"\n9,999 draws of 400 items from 40 sources: {1000 * min(took):.0f} ms at best, {1000 * took[0]:.0f} ms first"
    )


def main() -> None:
    options = argparse.ArgumentParser(description="How often intervals cover a truth that is known.")
    options.add_argument("--seeds", type=int, default=1_000)
    options.add_argument("--draws", type=int, default=1_999)
    options.add_argument("--only", nargs="*", help="names of worlds, or beginnings of them")
    options.add_argument("--judges", action="store_true", help="only what labels promise of a judge")
    given = options.parse_args()
    if not given.judges:
        experiments(given)
    kept = [judge_rates.thresholds(2 * given.seeds), judge_rates.corrections(5 * given.seeds)]
    sys.exit(0 if all(kept) else 1)


def experiments(given: argparse.Namespace) -> None:
    print(f"{'world':24}{'from':>4}{'shown':>8}", *(f"{name:>20}" for name in ("wild (ours)", *METHODS)))
    for world in WORLDS:
        if not given.only or world.name.startswith(tuple(given.only)):
            differences(world, given.seeds, given.draws)
    kappas(given.seeds)
    pace()


if __name__ == "__main__":
    main()
