"""What a comparison of finalists counts for its judge: each pair once, in both orders."""

from collections.abc import Mapping

import pytest

from tests.support.comparisons import FOUND, JUDGE, WAITING
from touchstone.oracle.bands import band_of
from touchstone.oracle.compared import OrderRead, PlacedScore
from touchstone.oracle.comparison import orders_of, with_result
from touchstone.statistics import CardTally, JudgeKey


def order(scores: Mapping[str, int], *, model: str = "m", prompt_version: str = "0" * 16) -> OrderRead:
    said = tuple(
        PlacedScore(label=label, band=band_of(score), score=score, evidence="A passage.", feedback="So.")
        for label, score in scores.items()
    )
    return OrderRead(order=("X", "Y", "Z"), scores=said, provider="p", model=model, prompt_version=prompt_version)


def counted(first: OrderRead, second: OrderRead, labels: str = "XYZ") -> dict[JudgeKey, CardTally]:
    comparison = with_result(WAITING, FOUND)
    return orders_of(
        comparison.model_copy(update={"orders": (first, second), "labels": {each: f"s{each}" for each in labels}})
    )


@pytest.mark.parametrize(
    ("first", "second", "flips"),
    [
        ({"X": 90, "Y": 80, "Z": 70}, {"X": 89, "Y": 71, "Z": 60}, 0),
        ({"X": 90, "Y": 80, "Z": 70}, {"X": 80, "Y": 90, "Z": 70}, 1),
        ({"X": 90, "Y": 80, "Z": 70}, {"X": 70, "Y": 80, "Z": 90}, 3),
        ({"X": 80, "Y": 80, "Z": 80}, {"X": 80, "Y": 80, "Z": 80}, 0),
        ({"X": 80, "Y": 80, "Z": 70}, {"X": 81, "Y": 80, "Z": 70}, 1),
    ],
)
def test_a_pair_flips_where_another_one_is_better_in_the_other_order(
    first: dict[str, int], second: dict[str, int], flips: int
) -> None:
    assert counted(order(first), order(second)) == {JUDGE: CardTally(both_orders=3, flips=flips)}


def test_of_two_finalists_there_is_one_pair() -> None:
    found = counted(order({"X": 90, "Y": 80}), order({"X": 60, "Y": 80}), "XY")
    assert found == {JUDGE: CardTally(both_orders=1, flips=1)}


def test_a_finalist_that_could_not_be_scored_leaves_its_pairs_without_a_verdict() -> None:
    found = counted(order({"X": 90, "Y": 80}), order({"X": 90, "Y": 80}))
    assert found == {JUDGE: CardTally(both_orders=1, one_order=2)}


@pytest.mark.parametrize("other", [{"model": "another"}, {"prompt_version": "1" * 16}])
def test_two_judges_that_gave_an_order_each_flipped_nothing(other: dict[str, str]) -> None:
    scores = {"X": 90, "Y": 80, "Z": 70}
    assert counted(order(scores), order(scores, **other)) == {}


def test_each_of_several_judges_counts_its_own_pairs() -> None:
    scores, other = {"X": 90, "Y": 80, "Z": 70}, {"X": 70, "Y": 80, "Z": 90}
    comparison = with_result(WAITING, FOUND).model_copy(
        update={
            "orders": (order(scores), order(scores), order(scores, model="n"), order(other, model="n")),
            "labels": {each: f"s{each}" for each in "XYZ"},
        }
    )
    assert {key.model: tally.flips for key, tally in orders_of(comparison).items()} == {"m": 0, "n": 3}


def test_what_was_not_compared_counts_no_pair() -> None:
    assert orders_of(WAITING) == {}
