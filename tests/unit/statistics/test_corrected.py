"""Rates corrected by labels: where the truth is known the interval covers it, and it never leaves 0 to 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.judge_worlds import chosen_labels, labelled_verdicts
from touchstone.statistics import VerdictCells, corrected_rate, wilson_interval
from touchstone.statistics.corrected import ppi, rogan_gladen
from touchstone.statistics.tallies import cells_of

RUNS = 100
NOBODY = VerdictCells()
COUNTS = st.integers(0, 300)
CELLS = st.builds(VerdictCells, both=COUNTS, judge_only=COUNTS, person_only=COUNTS, neither=COUNTS)


def by_ppi_on_lists(positive: int, verdicts: int, cells: VerdictCells) -> tuple[float, float]:
    """The rate and its standard error as the paper writes them, of lists of zeros and ones, without our smoothing."""
    counts = [int(each) for each in (cells.both, cells.judge_only, cells.person_only, cells.neither)]
    said = np.repeat([1.0, 1.0, 0.0, 0.0], counts)
    so = np.repeat([1.0, 0.0, 1.0, 0.0], counts)
    labels, rest = len(so), verdicts - len(so)
    others = np.zeros(rest)
    others[: positive - int(said.sum())] = 1.0
    spread = np.concatenate([said, others]).var()
    weight = float(np.cov(said, so, bias=True)[0, 1] / ((1 + labels / rest) * spread))
    rate = weight * others.mean() + (so - weight * said).mean()
    variance = weight**2 * others.var() / rest + (so - weight * said).var() / labels
    return float(rate), float(np.sqrt(variance))


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.6, 0.9), (0.9, 0.6), (0.99, 0.99)])
def test_with_many_labels_it_is_what_the_paper_computes(sensitivity: float, specificity: float) -> None:
    positive, cells = labelled_verdicts(
        verdicts=5_000,
        labels=1_000,
        share=0.7,
        sensitivity=sensitivity,
        specificity=specificity,
        draw=np.random.default_rng(1),
    )
    rate, error = by_ppi_on_lists(positive, 5_000, cells)
    found, lower, upper = ppi(positive, 5_000, cells)
    assert found == pytest.approx(rate, abs=0.002)
    assert (upper - lower) / 2 == pytest.approx(1.96 * error, rel=0.06)


@pytest.mark.parametrize("labels", [30, 100, 1_000])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.6, 0.6), (0.8, 0.9), (0.99, 0.6)])
def test_a_random_sample_covers_the_truth_where_the_verdicts_alone_never_do(
    labels: int, sensitivity: float, specificity: float
) -> None:
    draw = np.random.default_rng((labels, int(100 * sensitivity)))
    covered = alone = 0
    for _ in range(RUNS):
        positive, cells = labelled_verdicts(
            verdicts=3_000, labels=labels, share=0.8, sensitivity=sensitivity, specificity=specificity, draw=draw
        )
        found = corrected_rate(positive=positive, verdicts=3_000, sample=cells, chosen=NOBODY)
        assert found is not None
        assert found.method == "ppi++"
        covered += found.interval[0] <= 0.8 <= found.interval[1]
        lower, upper = wilson_interval(positive, 3_000)
        alone += lower <= 0.8 <= upper
    assert covered >= 0.9 * RUNS
    assert alone <= 0.5 * RUNS


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.7, 0.9), (0.95, 0.8)])
def test_labels_that_people_chose_correct_by_the_mistakes_among_them(sensitivity: float, specificity: float) -> None:
    draw = np.random.default_rng(7)
    covered = 0
    for _ in range(RUNS):
        positive, _ = labelled_verdicts(
            verdicts=3_000, labels=1, share=0.8, sensitivity=sensitivity, specificity=specificity, draw=draw
        )
        cells = chosen_labels(positive=60, negative=60, sensitivity=sensitivity, specificity=specificity, draw=draw)
        found = corrected_rate(positive=positive, verdicts=3_000, sample=NOBODY, chosen=cells)
        assert found is not None
        assert found.method == "rogan_gladen"
        covered += found.interval[0] <= 0.8 <= found.interval[1]
    assert covered >= 0.9 * RUNS


@given(CELLS, CELLS, st.integers(0, 3_000), st.integers(0, 3_000))
def test_whatever_was_counted_the_interval_holds_the_rate_and_stays_inside_0_to_1(
    sample: VerdictCells, chosen: VerdictCells, more_positive: int, more_negative: int
) -> None:
    positive = int(sample.both + sample.judge_only) + more_positive
    verdicts = int(sample.labels) + more_positive + more_negative
    found = corrected_rate(positive=positive, verdicts=verdicts, sample=sample, chosen=chosen)
    if found is None:
        assert sample.labels < 30
    else:
        lower, upper = found.interval
        assert 0.0 <= lower <= found.rate <= upper <= 1.0
        assert found.to_halve is None or found.to_halve > 0


def test_what_people_chose_never_touches_a_rate_that_a_random_sample_corrects() -> None:
    sample = VerdictCells(both=60, judge_only=5, person_only=2, neither=33)
    upset = VerdictCells(both=0, judge_only=500, person_only=0, neither=0)
    alone = corrected_rate(positive=650, verdicts=1_000, sample=sample, chosen=NOBODY)
    assert corrected_rate(positive=650, verdicts=1_000, sample=sample, chosen=upset) == alone


def test_as_many_more_labels_as_it_asks_for_halve_the_interval() -> None:
    cells = VerdictCells(both=60, judge_only=10, person_only=5, neither=25)
    found = corrected_rate(positive=70_000, verdicts=100_000, sample=cells, chosen=NOBODY)
    assert found is not None
    assert found.to_halve is not None
    assert 250 <= found.to_halve <= 350  # the interval narrows with the root of the number
    _, lower, upper = ppi(70_000, 100_000, cells.scaled(1 + found.to_halve / 100))
    assert upper - lower <= (found.interval[1] - found.interval[0]) / 2 + 1e-9


def test_a_judge_that_tosses_a_coin_says_nothing_of_a_rate() -> None:
    _, lower, upper = rogan_gladen(500, 1_000, VerdictCells(both=50, judge_only=50, person_only=50, neither=50))
    assert (lower, upper) == (0.0, 1.0)
    few = VerdictCells(both=20, judge_only=3, person_only=2, neither=4)
    assert corrected_rate(positive=500, verdicts=1_000, sample=NOBODY, chosen=few) is None


@pytest.mark.parametrize(
    ("positive", "verdicts", "cells"),
    [
        (35, 60, VerdictCells(both=35)),
        (325, 500, VerdictCells(neither=175)),
        (3_317, 5_000, VerdictCells(both=6, judge_only=3, neither=200)),
    ],
)
def test_a_sample_that_more_labels_could_not_go_on_like_still_tells_what_halves_its_interval(
    positive: int, verdicts: int, cells: VerdictCells
) -> None:
    found = corrected_rate(positive=positive, verdicts=verdicts, sample=cells, chosen=NOBODY)
    assert found is not None
    assert found.to_halve is None or found.labels + found.to_halve <= verdicts


@pytest.mark.parametrize(
    ("positive", "cells", "rate"),
    [
        (950, VerdictCells(both=15, neither=15), 0.95),  # no mistake among the labels: what the judge counted
        (50, VerdictCells(both=15, neither=15), 0.05),
        (700, VerdictCells(both=40, judge_only=5, person_only=10, neither=45), (0.7 + 0.9 - 1) / (0.8 + 0.9 - 1)),
    ],
)
def test_chosen_labels_give_the_rate_of_rogan_and_gladen(positive: int, cells: VerdictCells, rate: float) -> None:
    found = corrected_rate(positive=positive, verdicts=1_000, sample=NOBODY, chosen=cells)
    assert found is not None
    assert found.rate == pytest.approx(rate, abs=1e-12)


def test_cells_of_several_classes_are_those_of_one_and_all_others() -> None:
    cells = {("CLEAR", "CLEAR"): 3, ("CLEAR", "ERROR"): 1, ("AMBIGUOUS", "CLEAR"): 2, ("AMBIGUOUS", "ERROR"): 4}
    assert cells_of(cells, "CLEAR") == VerdictCells(both=3, judge_only=1, person_only=2, neither=4)


@pytest.mark.parametrize("positive", [5, 95])
def test_labels_of_more_verdicts_than_there_are_left_are_no_sample_of_them(positive: int) -> None:
    sample = VerdictCells(both=40, judge_only=10, person_only=10, neither=40)
    found = corrected_rate(positive=positive, verdicts=100, sample=sample, chosen=NOBODY)
    assert found is not None
    assert (found.method, found.labels) == ("rogan_gladen", 100)
