"""How sure judges must be: kept in one item, which nobody who counted less writes over."""

from typing import TYPE_CHECKING, Any

import pytest

from touchstone.errors import StoreError
from touchstone.judges.sureness import SureFrom
from touchstone.records.thresholds import Thresholds

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

GEMINI = ("gemini-3.8-flash", "0" * 16)


@pytest.fixture
def thresholds(table: "Table") -> Thresholds:
    return Thresholds(table, pause=lambda _: None)


def sure(labels: int, confidence: float | None = 0.9) -> SureFrom:
    return SureFrom(confidence=confidence, labels=labels, wanted=0.95, card="c" * 16, version="v" * 8)


def test_what_labels_say_is_kept_for_its_tenant_alone(thresholds: Thresholds) -> None:
    told = {GEMINI: sure(212), ("checks", None): sure(100, None)}
    thresholds.keep("acme", lambda: told, wanted=0.95)
    assert thresholds.read("acme", wanted=0.95) == told
    assert thresholds.read("rival", wanted=0.95) == {}
    thresholds.keep("acme", dict, wanted=0.95)
    assert thresholds.read("acme", wanted=0.95) == {}


@pytest.mark.parametrize("told", [{}, {GEMINI: sure(212)}])
def test_what_another_agreement_was_wanted_for_is_to_be_counted_again(
    thresholds: Thresholds, told: dict[Any, SureFrom]
) -> None:
    thresholds.keep("acme", lambda: told, wanted=0.95)
    assert thresholds.read("acme", wanted=0.9) is None
    assert thresholds.read("acme", wanted=0.95) == told
    thresholds.keep("acme", lambda: told, wanted=0.9)
    assert thresholds.read("acme", wanted=0.9) == told


def test_what_an_earlier_release_kept_tells_its_agreement_by_its_judges(thresholds: Thresholds, table: "Table") -> None:
    thresholds.keep("acme", lambda: {GEMINI: sure(212)}, wanted=0.95)
    (item,) = table.scan()["Items"]
    table.put_item(Item={name: value for name, value in item.items() if name != "wanted"})
    assert thresholds.read("acme", wanted=0.95) == {GEMINI: sure(212)}
    assert thresholds.read("acme", wanted=0.9) is None
    table.put_item(Item={**{name: value for name, value in item.items() if name != "wanted"}, "judges": "[]"})
    assert thresholds.read("acme", wanted=0.9) is None, "of no judge an earlier release told no agreement either"


def test_what_is_kept_already_is_not_written_again(thresholds: Thresholds, table: "Table") -> None:
    for _ in range(2):
        thresholds.keep("acme", dict, wanted=0.95)
        (item,) = table.scan()["Items"]
    thresholds.keep("acme", dict, wanted=0.95)
    assert table.scan()["Items"] == [item]


def test_whoever_counted_less_counts_again(thresholds: Thresholds, table: "Table") -> None:
    others = Thresholds(table, pause=lambda _: None)
    counted: list[int] = []
    thresholds.keep("acme", lambda: {GEMINI: sure(1)}, wanted=0.95)

    def count() -> dict[Any, SureFrom]:
        counted.append(1)
        if len(counted) == 1:  # somebody else's label is counted and kept before this count is
            others.keep("acme", lambda: {GEMINI: sure(3)}, wanted=0.95)
            return {GEMINI: sure(2)}
        return {GEMINI: sure(3)}

    thresholds.keep("acme", count, wanted=0.95)
    assert len(counted) == 2
    assert thresholds.read("acme", wanted=0.95) == {GEMINI: sure(3)}


def test_thresholds_that_others_change_each_time_are_told_so(thresholds: Thresholds, table: "Table") -> None:
    others = Thresholds(table, pause=lambda _: None)
    numbers = iter(range(1_000))

    def count() -> dict[Any, SureFrom]:
        others.keep("acme", lambda: {GEMINI: sure(next(numbers))}, wanted=0.95)
        return {GEMINI: sure(2_000)}

    with pytest.raises(StoreError, match="safe to repeat"):
        thresholds.keep("acme", count, wanted=0.95)
