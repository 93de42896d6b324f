"""Pairing the items of two variants."""

import pytest

from touchstone.errors import InputError
from touchstone.statistics import ItemPair, pair_items


def test_items_are_paired_by_their_id() -> None:
    sources = {"q1": "chapter 1", "q2": "chapter 1", "q3": "chapter 2"}
    pairs = pair_items(a={"q1": 1.0, "q2": None, "q3": 0.0}, b={"q3": 1.0, "q2": 0.5, "q1": 0.0}, sources=sources)
    assert set(pairs) == {
        ItemPair(source="chapter 1", a=1.0, b=0.0),
        ItemPair(source="chapter 1", a=None, b=0.5),
        ItemPair(source="chapter 2", a=0.0, b=1.0),
    }


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        ({"q1": 1.0}, {"q1": 1.0, "q2": 0.0}, "Variant A lacks 1 .*'q2'"),
        ({"q1": 1.0, "q2": None, "q3": 1.0}, {"q1": 1.0}, "Variant B lacks 2 .*'q2'"),
        ({"q9": 1.0}, {"q9": 1.0}, "'q9' has no source"),
    ],
)
def test_an_unpaired_comparison_is_refused(
    a: dict[str, float | None], b: dict[str, float | None], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        pair_items(a=a, b=b, sources={"q1": "chapter 1", "q2": "chapter 1", "q3": "chapter 2"})
