"""The paired difference of two variants."""

import math
import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.worlds import PAIRS, World, pairs_of
from touchstone.errors import InputError
from touchstone.statistics import ItemPair, holm, paired_difference

FEW = 999
"""Draws enough for a property that holds of any number of them."""


def test_the_difference_is_b_less_a_over_the_items_that_have_both() -> None:
    pairs = [
        ItemPair(source="one", a=50.0, b=70.0),
        ItemPair(source="one", a=60.0, b=None),
        ItemPair(source="two", a=None, b=0.0),
        ItemPair(source="two", a=80.0, b=90.0),
        ItemPair(source="three", a=None, b=None),
    ]
    result = paired_difference(pairs)
    assert (result.difference, result.a_mean, result.b_mean) == (15.0, 65.0, 80.0)
    assert (result.items, result.unscored, result.sources) == (2, 3, 2)


def test_the_interval_is_the_one_worked_out_from_all_possible_weights() -> None:
    """Six sources have 6⁶ = 46656 equally likely draws, so that the bounds can be found without chance."""
    differences = [[3.0, 5.0], [1.0], [4.0, 6.0, 2.0], [-1.0, 2.0], [5.0], [2.0, 7.0]]
    result = paired_difference(pairs_of(differences), draws=199_999)
    assert result.difference == pytest.approx(36 / 11)
    sums, sizes = np.array([sum(values) for values in differences]), np.array([len(values) for values in differences])
    weights = [sign * math.sqrt(square) for square in (0.5, 1.0, 1.5) for sign in (-1, 1)]
    draws = np.array(list(product(weights, repeat=6)))

    def p_value(delta: float) -> float:
        """The share of draws as far from 0 as what was observed; one that outweighs all sources rejects nothing."""
        as_far = np.abs(draws @ (sums - delta * sizes)) >= abs(36 - delta * 11) - 1e-9
        return float(np.mean(as_far | (np.abs(draws @ sizes) >= 11 - 1e-9)))

    assert result.interval is not None
    assert result.p_value == pytest.approx(p_value(0.0), abs=0.003)
    lower, upper = result.interval
    for bound, outward in ((lower, -1), (upper, 1)):
        near = 0.02 * (upper - lower)
        assert p_value(bound - outward * near) > 0.05 > p_value(bound + outward * near)


def test_the_standard_error_of_equal_sources_is_that_of_their_means() -> None:
    result = paired_difference(pairs_of([[1.0, 3.0], [5.0, 5.0], [0.0, 4.0]]))
    assert result.standard_error == pytest.approx(float(np.std([2.0, 5.0, 2.0], ddof=1)) / math.sqrt(3))


@pytest.mark.parametrize("sources", [1, 2, 3, 4])
def test_too_few_sources_have_a_difference_and_no_interval(sources: int) -> None:
    result = paired_difference(pairs_of([[1.0, 2.0, 4.0 + place] for place in range(sources)]))
    assert result.difference is not None
    assert (result.interval, result.p_value, result.shown) == (None, None, False)
    assert (result.standard_error is None) == (sources == 1)


def test_a_source_that_holds_most_of_the_items_leaves_no_bounds() -> None:
    result = paired_difference(pairs_of([[float(value) for value in range(100)], [1.0], [2.0], [3.0], [4.0], [5.0]]))
    assert (result.interval, result.p_value, result.shown) == (None, None, False)


def test_nothing_scored_under_both_is_no_comparison() -> None:
    result = paired_difference([ItemPair(source="one", a=1.0, b=None)])
    assert (result.difference, result.interval, result.p_value, result.a_mean) == (None, None, None, None)
    assert (result.items, result.unscored, result.sources) == (0, 1, 0)


@pytest.mark.parametrize(("value", "shown"), [(0.0, False), (0.1, True), (-30.0, True)])
def test_equal_differences_are_a_point(value: float, shown: bool) -> None:
    result = paired_difference(pairs_of([[value] * 3] * 8))
    assert result.difference == pytest.approx(value)
    assert result.interval == pytest.approx((value, value))
    assert result.shown is shown
    assert result.p_value is not None
    assert (result.p_value <= 0.05) is shown


@settings(deadline=None)
@given(PAIRS, st.randoms(use_true_random=False), st.integers(0, 5))
def test_neither_the_order_of_items_nor_that_of_sources_changes_anything(
    pairs: list[ItemPair], chance: random.Random, seed: int
) -> None:
    shuffled = list(pairs)
    chance.shuffle(shuffled)
    assert paired_difference(shuffled, draws=FEW, seed=seed) == paired_difference(pairs, draws=FEW, seed=seed)


@settings(deadline=None)
@given(PAIRS)
def test_the_interval_holds_the_difference_and_excludes_0_where_the_p_value_says_so(pairs: list[ItemPair]) -> None:
    result = paired_difference(pairs, draws=FEW)
    if result.interval is None:
        assert result.p_value is None
        return
    assert result.difference is not None
    assert result.p_value is not None
    assert result.interval[0] <= result.difference <= result.interval[1]
    assert result.shown == (result.p_value <= 0.05)
    # What is declared after the correction over the metrics always has an interval that excludes 0.
    assert holm({"metric": result.p_value})["metric"].rejected == result.shown


@settings(deadline=None)
@given(PAIRS)
def test_swapping_the_variants_mirrors_everything(pairs: list[ItemPair]) -> None:
    result = paired_difference(pairs, draws=FEW)
    swapped = paired_difference([ItemPair(source=pair.source, a=pair.b, b=pair.a) for pair in pairs], draws=FEW)
    assert (swapped.a_mean, swapped.b_mean) == (result.b_mean, result.a_mean)
    assert swapped.p_value == pytest.approx(result.p_value, abs=2 / (FEW + 1))
    if result.interval is not None:
        lower, upper = result.interval
        assert swapped.interval == pytest.approx((-upper, -lower), abs=1e-9)


@settings(deadline=None)
@given(PAIRS, st.sampled_from([0.25, 2.0, 100.0]), st.integers(-20, 20))
def test_the_unit_of_the_scores_is_that_of_the_interval(pairs: list[ItemPair], scale: float, shift: int) -> None:
    result = paired_difference(pairs, draws=FEW)
    rescaled = paired_difference(
        [
            ItemPair(
                source=pair.source,
                a=None if pair.a is None else scale * pair.a,
                b=None if pair.b is None else scale * (pair.b + shift),
            )
            for pair in pairs
        ],
        draws=FEW,
    )
    if result.interval is None:
        assert rescaled.interval is None
    else:
        assert rescaled.interval == pytest.approx(tuple(scale * (bound + shift) for bound in result.interval), abs=1e-7)


def test_a_seed_repeats_and_another_differs_little() -> None:
    pairs = World(name="binary").experiment(20, np.random.default_rng(5))
    first = paired_difference(pairs)
    assert paired_difference(pairs) == first
    other = paired_difference(pairs, seed=1)
    assert other != first
    assert first.interval is not None
    assert other.interval == pytest.approx(first.interval, abs=0.05 * (first.interval[1] - first.interval[0]))


def test_more_sources_than_fit_in_memory_at_once_come_out_as_well() -> None:
    pairs = World(name="binary", items=(1, 2)).experiment(3_000, np.random.default_rng(2))
    result = paired_difference(pairs, draws=1_999)
    assert result.interval is not None
    assert result.standard_error is not None
    # So many sources are as good as normal.
    assert result.interval[1] - result.interval[0] == pytest.approx(2 * 1.96 * result.standard_error, rel=0.08)


def test_a_wider_level_has_a_wider_interval() -> None:
    pairs = World(name="binary").experiment(20, np.random.default_rng(5))
    usual, wide = paired_difference(pairs), paired_difference(pairs, level=0.99)
    assert usual.interval is not None
    assert wide.interval is not None
    assert wide.interval[0] < usual.interval[0] < usual.interval[1] < wide.interval[1]
    assert wide.p_value == usual.p_value


def test_too_few_draws_for_the_level_give_no_interval() -> None:
    pairs = World(name="binary").experiment(20, np.random.default_rng(5))
    assert paired_difference(pairs, level=0.999, draws=99).interval is None


@pytest.mark.parametrize(("level", "draws"), [(0.0, 99), (1.0, 99), (0.95, 0)])
def test_an_impossible_level_or_number_of_draws_is_refused(level: float, draws: int) -> None:
    with pytest.raises(ValueError, match="interval"):
        paired_difference([], level=level, draws=draws)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused_with_its_source(score: float) -> None:
    with pytest.raises(InputError, match="chapter 3"):
        paired_difference([ItemPair(source="chapter 3", a=1.0, b=score)])
