"""The five bands of a score."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.oracle.bands import BANDS, ELIMINATED_BELOW, HIGHEST, Band, band_contains, band_of, is_lower_band

EDGES = [
    ("A", 90, 100),
    ("B", 70, 89),
    ("C", 50, 69),
    ("D", 30, 49),
    ("E", 0, 29),
]


@pytest.mark.parametrize(("band", "lowest", "highest"), EDGES)
def test_a_band_holds_its_edges_and_nothing_beyond(band: Band, lowest: int, highest: int) -> None:
    assert (band_of(lowest), band_of(highest)) == (band, band)
    assert [band_contains(band, score) for score in (lowest - 1, lowest, highest, highest + 1)] == [
        False,
        True,
        True,
        False,
    ]


@given(st.integers(0, HIGHEST))
def test_every_whole_score_lies_in_one_band_alone(score: int) -> None:
    assert [band for band in BANDS if band_contains(band, score)] == [band_of(score)]


@pytest.mark.parametrize(("score", "band"), [(89.5, "B"), (69.999, "C"), (29.5, "E"), (90.0, "A"), (0.0, "E")])
def test_a_mean_between_two_bands_belongs_to_the_lower(score: float, band: Band) -> None:
    assert band_of(score) == band


@given(st.floats(0, HIGHEST), st.floats(0, HIGHEST))
def test_a_higher_score_is_never_in_a_worse_band(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert not is_lower_band(band_of(high), band_of(low))


@pytest.mark.parametrize("score", [-0.001, 100.001, 1e9, float("nan"), float("inf")])
def test_what_is_no_score_has_no_band(score: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        band_of(score)


def test_bands_are_ordered_from_the_best() -> None:
    assert [is_lower_band(worse, better) for better, worse in itertools.pairwise(BANDS)] == [True] * 4
    assert not any(is_lower_band(band, band) for band in BANDS)
    assert [band for band in BANDS if is_lower_band(band, ELIMINATED_BELOW)] == ["D", "E"]
