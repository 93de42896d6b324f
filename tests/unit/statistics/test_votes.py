"""Several judges of one thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import InputError
from touchstone.statistics import majority, median


@pytest.mark.parametrize(
    ("votes", "label", "split"),
    [
        (["good", "good", "bad"], "good", True),
        (["good", "good", None], "good", False),
        (["good", "bad"], None, True),
        (["a", "a", "b", "c"], None, True),  # the most votes, yet not more than half
        (["good"], "good", False),
        ([None, None], None, False),
        ([], None, False),
    ],
)
def test_a_label_needs_more_than_half_of_the_votes_cast(
    votes: list[str | None], label: str | None, split: bool
) -> None:
    result = majority(votes)
    assert (result.label, result.split) == (label, split)


def test_the_votes_behind_a_split_are_shown() -> None:
    result = majority(["b", "a", "c", "c", None])
    assert result.counts == (("c", 2), ("a", 1), ("b", 1))
    assert (result.cast, result.missing) == (4, 1)


@given(st.lists(st.sampled_from(["x", "y", "z", None])))
def test_who_votes_first_decides_nothing(votes: list[str | None]) -> None:
    assert majority(votes) == majority(votes[::-1])


@pytest.mark.parametrize(
    ("votes", "score", "lowest", "highest", "split"),
    [
        ([70.0, 90.0, 75.0], 75.0, 70.0, 90.0, False),
        ([70.0, 91.0, 75.0], 75.0, 70.0, 91.0, True),
        ([70.0, None, 80.0], 75.0, 70.0, 80.0, False),
        ([60.0], 60.0, 60.0, 60.0, False),
        ([None], None, None, None, False),
    ],
)
def test_the_score_in_the_middle_and_how_far_the_others_lie(
    votes: list[float | None], score: float | None, lowest: float | None, highest: float | None, split: bool
) -> None:
    result = median(votes)
    assert (result.score, result.lowest, result.highest, result.split) == (score, lowest, highest, split)
    assert result.cast + result.missing == len(votes)


def test_how_far_apart_is_a_split_can_be_said_in_another_unit() -> None:
    assert median([0.2, 0.6], split_beyond=0.3).split
    assert not median([0.2, 0.6], split_beyond=0.5).split


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        median([float("nan"), 1.0])
