"""Whether the interval does what it promises, on experiments whose truth is known: 200 of each, with seeds 0 to 199."""

import numpy as np
import pytest

from tests.unit.statistics.worlds import World
from touchstone.statistics import PairedDifference, paired_difference

SEEDS = 200
DRAWS = 1_999
SETTINGS = [(steps, sources) for steps in (1, 3) for sources in (10, 15, 25, 40)]


def results(world: World, sources: int) -> list[PairedDifference]:
    return [
        paired_difference(world.experiment(sources, np.random.default_rng(seed)), draws=DRAWS, seed=seed)
        for seed in range(SEEDS)
    ]


@pytest.mark.parametrize(("steps", "sources"), SETTINGS)
def test_the_interval_covers_the_true_difference_in_93_to_97_percent(steps: int, sources: int) -> None:
    world = World(name="different", steps=steps, effect=0.1)
    covered = [
        result.interval[0] <= world.truth <= result.interval[1]
        for result in results(world, sources)
        if result.interval is not None
    ]
    assert len(covered) == SEEDS
    assert 0.93 <= sum(covered) / SEEDS <= 0.97


@pytest.mark.parametrize(("steps", "sources"), SETTINGS)
def test_where_there_is_no_difference_at_most_7_percent_show_one(steps: int, sources: int) -> None:
    shown = sum(result.shown for result in results(World(name="equal", steps=steps), sources))
    assert shown / SEEDS <= 0.07
