"""The interval of a share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.statistics.intervals import score_interval, wilson_interval, wilson_lower


@pytest.mark.parametrize(
    ("successes", "trials", "lower", "upper"),
    [
        # Newcombe, "Two-sided confidence intervals for the single proportion", Stat. Med. 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_published_values_come_out(successes: int, trials: int, lower: float, upper: float) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((lower, upper), abs=5e-5)


def test_without_trials_nothing_is_known() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_lower(0, 0) == 0.0


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (1, 0), (0, -1)])
def test_impossible_counts_are_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="impossible"):
        wilson_interval(successes, trials)


@pytest.mark.parametrize(("share", "trials"), [(-0.1, 5.0), (1.1, 5.0), (0.5, 0.0), (float("nan"), 5.0)])
def test_an_impossible_share_is_refused(share: float, trials: float) -> None:
    with pytest.raises(ValueError, match="impossible"):
        score_interval(share, trials)


@given(st.floats(0, 1), st.floats(1e-3, 1e9))
def test_a_share_lies_inside_its_interval_however_little_it_is_worth(share: float, trials: float) -> None:
    lower, upper = score_interval(share, trials)
    assert 0.0 <= lower <= share <= upper <= 1.0


@given(st.integers(min_value=1, max_value=10**9), st.floats(0, 1))
def test_the_share_lies_inside_its_interval_and_that_inside_0_to_1(trials: int, part: float) -> None:
    successes = round(trials * part)
    lower, upper = wilson_interval(successes, trials)
    assert 0.0 <= lower <= successes / trials <= upper <= 1.0


@given(st.integers(min_value=0, max_value=10_000), st.integers(min_value=2, max_value=100))
def test_more_trials_of_the_same_share_are_worth_more(half: int, factor: int) -> None:
    few = wilson_lower(half + 1, 2 * half + 2)
    many = wilson_lower(factor * (half + 1), factor * (2 * half + 2))
    assert many > few


@given(st.integers(min_value=1, max_value=10_000), st.data())
def test_the_bounds_of_a_share_and_its_complement_mirror(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(min_value=0, max_value=trials))
    lower, upper = wilson_interval(successes, trials)
    mirrored = wilson_interval(trials - successes, trials)
    assert mirrored == pytest.approx((1 - upper, 1 - lower), abs=1e-12)
