"""The minimum detectable effect."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests.support.worlds import PAIRS, World, pairs_of
from touchstone.statistics import ItemPair, minimum_detectable_effect, paired_difference, sources_needed
from touchstone.statistics.paired import smallest_p_value


def test_a_design_worked_by_hand() -> None:
    # Four sources of two items, means 2, 4, 6, 8: mean squares 2·20/3 between and 4·2/4 within, so that the variances
    # are 2 within and (40/3 - 2)/2 = 17/3 between; t of 0.975 and of 0.8 with 3 degrees of freedom: 3.18245, 0.97847.
    result = minimum_detectable_effect(pairs_of([[1.0, 3.0], [3.0, 5.0], [5.0, 7.0], [7.0, 9.0]]))
    assert (result.items, result.sources) == (8, 4)
    assert result.icc == pytest.approx((17 / 3) / (17 / 3 + 2))
    assert result.standard_deviation == pytest.approx(math.sqrt(23 / 3))
    assert result.design_effect == pytest.approx(1 + (17 / 3) / (23 / 3))
    assert result.effect == pytest.approx((3.18245 + 0.97847) * math.sqrt(40 / 3 / 8), abs=1e-4)


def test_items_that_hang_together_count_as_fewer() -> None:
    together = minimum_detectable_effect(pairs_of([[0.0] * 10, [10.0] * 10] * 5))
    apart = minimum_detectable_effect(pairs_of([[0.0, 10.0] * 5] * 10))
    assert together.icc == pytest.approx(1.0)
    assert together.design_effect == pytest.approx(10.0)
    assert (apart.icc, apart.design_effect) == (0.0, 1.0)
    assert together.effect is not None
    assert apart.effect is not None
    assert together.effect > 3 * apart.effect


def test_one_item_a_source_has_no_correlation_to_estimate() -> None:
    result = minimum_detectable_effect(pairs_of([[1.0], [2.0], [3.0], [4.0], [5.0]]))
    assert (result.icc, result.design_effect) == (None, 1.0)
    # t of 0.975 and of 0.8 with 4 degrees of freedom: 2.77645, 0.94096; standard error √(2.5 / 5).
    assert result.effect == pytest.approx((2.77645 + 0.94096) * math.sqrt(0.5), abs=1e-4)


@pytest.mark.parametrize("differences", [[], [[1.0, 2.0]], [[0.1] * 3] * 6])
def test_where_nothing_varies_between_sources_nothing_can_be_said(differences: list[list[float]]) -> None:
    result = minimum_detectable_effect(pairs_of(differences))
    assert (result.effect, result.standard_deviation, result.icc, result.design_effect) == (None, None, None, None)
    assert result.sources == len(differences)


@pytest.mark.parametrize(("sources", "steps"), [(12, 3), (30, 1)])
def test_an_effect_of_that_size_is_found_about_four_times_of_five(sources: int, steps: int) -> None:
    """The effect is estimated from 60 experiments and then put into 200 others."""
    equal = World(name="equal", steps=steps, base=0.45)
    effects = [
        minimum_detectable_effect(equal.experiment(sources, np.random.default_rng([1, seed]))).effect
        for seed in range(60)
    ]
    usual = float(np.median([effect for effect in effects if effect is not None]))
    different = World(name="different", steps=steps, base=0.45, effect=usual / 100)
    shown = sum(
        paired_difference(different.experiment(sources, np.random.default_rng(seed)), draws=999).shown
        for seed in range(200)
    )
    assert 0.72 <= shown / 200 <= 0.88


@settings(deadline=None)  # the first use loads scipy
@given(PAIRS)
def test_more_power_needs_a_larger_effect_and_the_difference_found_plays_no_part(pairs: list[ItemPair]) -> None:
    usual = minimum_detectable_effect(pairs)
    shifted = [ItemPair(source=pair.source, a=pair.a, b=None if pair.b is None else pair.b + 40.0) for pair in pairs]
    assert minimum_detectable_effect(shifted).effect == pytest.approx(usual.effect)
    if usual.effect is not None:
        surer = minimum_detectable_effect(pairs, power=0.9).effect
        assert surer is not None
        assert surer > usual.effect > 0


@settings(deadline=None)  # the first use loads scipy
@given(PAIRS)
def test_the_share_between_sources_is_a_share(pairs: list[ItemPair]) -> None:
    result = minimum_detectable_effect(pairs)
    assert result.icc is None or 0 <= result.icc <= 1
    assert result.design_effect is None or result.design_effect >= 1


@pytest.mark.parametrize(("power", "significance"), [(0.4, 0.05), (1.0, 0.05), (0.8, 0.0), (0.8, 1.0)])
def test_an_impossible_design_is_refused(power: float, significance: float) -> None:
    with pytest.raises(ValueError, match="power"):
        minimum_detectable_effect([], power=power, significance=significance)


@pytest.mark.parametrize("sources", [5, 6, 8, 10])
def test_of_equal_differences_only_more_sources_make_a_smaller_p_value(sources: int) -> None:
    result = paired_difference(pairs_of([[-50.0, -50.0]] * sources), draws=99_999)
    assert result.p_value == pytest.approx(smallest_p_value(sources), rel=0.1)
    assert smallest_p_value(sources) > smallest_p_value(sources + 1)


@pytest.mark.parametrize(("significance", "needed"), [(0.05, 5), (0.01, 7), (0.005, 8), (1e-9, 20)])
def test_equal_differences_need_as_many_sources_as_can_have_the_p_value(significance: float, needed: int) -> None:
    assert sources_needed(pairs_of([[-50.0]] * 6), significance=significance) == needed


def test_with_the_sources_that_are_needed_a_difference_is_found_about_four_times_of_five() -> None:
    """The number is estimated from 60 experiments of eight sources, and 200 others are then made with so many."""
    world = World(name="small", steps=3, base=0.45, effect=0.05)
    told = [
        sources_needed(_shifted(world.experiment(8, np.random.default_rng([2, seed])), world.truth))
        for seed in range(60)
    ]
    usual = round(float(np.median([10_001 if one is None else one for one in told])))
    assert 20 <= usual <= 80
    shown = sum(
        paired_difference(world.experiment(usual, np.random.default_rng(seed)), draws=999).shown for seed in range(200)
    )
    assert 0.7 <= shown / 200 <= 0.9


def _shifted(pairs: list[ItemPair], truth: float) -> list[ItemPair]:
    """The pairs as spread as they are, with the true difference as their mean."""
    scored = [(pair.a, pair.b) for pair in pairs if pair.a is not None and pair.b is not None]
    off = truth - sum(b - a for a, b in scored) / len(scored)
    return [ItemPair(source=pair.source, a=pair.a, b=None if pair.b is None else pair.b + off) for pair in pairs]


@pytest.mark.parametrize("differences", [[], [[1.0, 2.0]], [[0.0]] * 6, [[1.0], [-1.0]] * 4, [[1000.0], [-999.9]] * 9])
def test_what_no_number_of_sources_would_show_is_not_promised(differences: list[list[float]]) -> None:
    assert sources_needed(pairs_of(differences)) is None
