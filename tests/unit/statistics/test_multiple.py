"""Holm's correction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import InputError
from touchstone.statistics import holm

P_VALUES = st.dictionaries(st.text(min_size=1, max_size=3), st.none() | st.floats(0, 1), max_size=8)


def test_the_worked_example_comes_out() -> None:
    # Wikipedia, "Holm-Bonferroni method", example: p-values 0.01, 0.04, 0.03, 0.005 at 0.05 reject H4 and H1 alone.
    result = holm({"H1": 0.01, "H2": 0.04, "H3": 0.03, "H4": 0.005})
    assert {name: each.adjusted for name, each in result.items()} == pytest.approx(
        {"H1": 0.03, "H2": 0.06, "H3": 0.06, "H4": 0.02}
    )
    assert [name for name, each in result.items() if each.rejected] == ["H1", "H4"]


def test_a_metric_without_a_test_is_no_part_of_the_family() -> None:
    result = holm({"tested": 0.04, "untested": None})
    assert (result["tested"].adjusted, result["tested"].rejected) == (0.04, True)
    assert (result["untested"].adjusted, result["untested"].rejected) == (None, False)


@given(P_VALUES)
def test_a_larger_p_value_is_never_corrected_to_a_smaller_one(p_values: dict[str, float | None]) -> None:
    pairs = sorted(
        (each.p_value, each.adjusted)
        for each in holm(p_values).values()
        if each.p_value is not None and each.adjusted is not None
    )
    adjusted = [after for _, after in pairs]
    assert adjusted == sorted(adjusted)
    assert all(before <= after <= min(1.0, len(pairs) * before) + 1e-15 for before, after in pairs)


@given(P_VALUES)
def test_the_order_of_the_metrics_changes_nothing(p_values: dict[str, float | None]) -> None:
    assert holm(dict(reversed(p_values.items()))) == holm(p_values)


@given(P_VALUES)
def test_what_is_rejected_is_rejected_alone_too(p_values: dict[str, float | None]) -> None:
    for each in holm(p_values, level=0.1).values():
        assert not each.rejected or (each.p_value is not None and each.p_value <= 0.1)


def test_the_names_keep_the_order_they_came_in() -> None:
    assert list(holm({"z": 0.5, "a": 0.01, "m": None})) == ["z", "a", "m"]


@pytest.mark.parametrize("p_value", [-0.01, 1.01, float("nan")])
def test_an_impossible_p_value_is_refused_by_name(p_value: float) -> None:
    with pytest.raises(InputError, match="quiz_clarity"):
        holm({"quiz_clarity": p_value})


def test_an_impossible_level_is_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        holm({}, level=1.0)
