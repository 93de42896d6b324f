"""Reliability diagrams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import InputError
from touchstone.statistics import reliability, wilson_interval

VERDICTS = st.lists(st.tuples(st.none() | st.floats(0, 1), st.none() | st.booleans()), max_size=60)


def test_a_small_diagram_worked_by_hand() -> None:
    verdicts: list[tuple[float | None, bool | None]] = [
        (0.9, True), (0.8, True), (0.7, False), (0.6, True), (0.2, False), (0.4, True), (None, True), (0.5, None),
    ]  # fmt: skip
    diagram = reliability(verdicts, bins=2)
    low, high = diagram.bins
    assert (low.count, low.accuracy, high.count, high.accuracy) == (2, 0.5, 4, 0.75)
    assert (low.confidence, high.confidence) == pytest.approx((0.3, 0.75))
    assert high.interval == wilson_interval(3, 4)
    # (2 × |0.5 - 0.3| + 4 × |0.75 - 0.75|) / 6, and the squares 0.01 + 0.04 + 0.49 + 0.16 + 0.04 + 0.36 over 6.
    assert diagram.ece == pytest.approx(0.4 / 6)
    assert diagram.brier == pytest.approx(1.10 / 6)
    assert (diagram.labelled, diagram.unlabelled) == (6, 2)


@pytest.mark.parametrize(("confidence", "place"), [(0.0, 0), (0.1, 1), (0.29, 29), (0.57, 57), (0.999, 99), (1.0, 99)])
def test_an_edge_belongs_to_the_bin_above_it(confidence: float, place: int) -> None:
    bins = 100 if place > 9 else 10
    diagram = reliability([(confidence, True)], bins=bins)
    assert [where for where, each in enumerate(diagram.bins) if each.count] == [place]


def test_an_empty_bin_says_nothing() -> None:
    diagram = reliability([])
    assert len(diagram.bins) == 10
    assert {(each.confidence, each.accuracy, each.interval) for each in diagram.bins} == {(None, None, None)}
    assert (diagram.ece, diagram.brier) == (None, None)


def test_a_judge_that_is_always_sure_and_always_wrong_is_as_far_off_as_can_be() -> None:
    diagram = reliability([(1.0, False)] * 7)
    assert (diagram.ece, diagram.brier) == (1.0, 1.0)


@given(VERDICTS, st.integers(1, 25))
def test_each_verdict_is_in_the_one_bin_whose_edges_hold_it(
    verdicts: list[tuple[float | None, bool | None]], bins: int
) -> None:
    diagram = reliability(verdicts, bins=bins)
    assert sum(each.count for each in diagram.bins) == diagram.labelled == len(verdicts) - diagram.unlabelled
    for each in diagram.bins:
        inside = [
            confidence
            for confidence, right in verdicts
            if confidence is not None
            and right is not None
            and each.lower <= confidence
            and (confidence < each.upper or each.upper == 1.0)
        ]
        assert each.count == len(inside)
    assert diagram.ece is None or 0 <= diagram.ece <= 1 + 1e-12


@given(VERDICTS)
def test_the_order_of_the_verdicts_changes_nothing(verdicts: list[tuple[float | None, bool | None]]) -> None:
    assert reliability(verdicts[::-1]) == reliability(verdicts)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_an_impossible_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        reliability([(confidence, True)])


def test_a_diagram_without_bins_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one bin"):
        reliability([], bins=0)
