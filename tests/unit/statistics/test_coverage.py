"""Whether the interval does what it promises, on experiments whose truth is known.

Each kind of score has 200 experiments of each of four sizes: of 200 alone, a coverage of exactly 95 % would leave
93-97 % one time in five. `tests/bench/coverage.py` shows every size by itself, and other methods beside this one.
"""

import numpy as np
import pytest

from tests.support.worlds import World
from touchstone.statistics import PairedDifference, paired_difference

SEEDS = 200
DRAWS = 1_999
SOURCES = (10, 15, 25, 40)


def results(world: World) -> list[PairedDifference]:
    return [
        paired_difference(world.experiment(sources, np.random.default_rng((sources, seed))), draws=DRAWS, seed=seed)
        for sources in SOURCES
        for seed in range(SEEDS)
    ]


@pytest.mark.parametrize("steps", [1, 3], ids=["right or wrong", "depth 0-3"])
def test_the_interval_covers_the_true_difference_in_93_to_97_percent(steps: int) -> None:
    world = World(name="different", steps=steps, effect=0.1)
    covered = [
        result.interval[0] <= world.truth <= result.interval[1]
        for result in results(world)
        if result.interval is not None
    ]
    assert len(covered) == SEEDS * len(SOURCES)
    assert 0.93 <= sum(covered) / len(covered) <= 0.97


@pytest.mark.parametrize("steps", [1, 3], ids=["right or wrong", "depth 0-3"])
def test_where_there_is_no_difference_at_most_7_percent_show_one(steps: int) -> None:
    shown = [result.shown for result in results(World(name="equal", steps=steps))]
    assert sum(shown) / len(shown) <= 0.07
