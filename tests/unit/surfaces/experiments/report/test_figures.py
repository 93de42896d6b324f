"""Figures as people read them."""

import pytest

from tests.support.experiment_reports import ALIKE, COMPARISON, NOTHING
from touchstone.figures import counted
from touchstone.surfaces.experiments.conclusion import VariantComparison
from touchstone.surfaces.experiments.report import figures
from touchstone.surfaces.experiments.report.figures import ENDS, mark_of, scale_of


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0.0"),
        (-0.0, "0.0"),
        (1e-9, "0.0"),
        (12.34, "+12.3"),
        (-3.0, "−3.0"),
        (0.02, "+0.02"),
        (-0.04, "−0.04"),
    ],
)
def test_a_difference_has_its_sign_and_is_never_a_false_zero(value: float | None, shown: str) -> None:
    assert figures.points(value) == shown


def test_what_there_is_not_is_a_dash_and_no_zero() -> None:
    nothing = (figures.score(None), figures.interval(None), figures.p_value(None), figures.share(None))
    assert set(nothing) == {"–"}


def test_other_figures() -> None:
    assert (figures.p_value(0.0004), figures.p_value(0.0012)) == ("< 0.001", "0.001")
    assert (figures.detectable(4.5), figures.detectable(121.1), figures.detectable(None)) == ("4.5", "> 100", "–")
    assert (figures.were(1, "tie"), figures.were(7, "tie")) == ("1 was a tie", "7 were ties")
    assert (counted(1, "pair"), counted(1200, "pair")) == ("1 pair", "1,200 pairs")


def test_all_rows_are_drawn_on_one_scale_with_0_in_the_middle() -> None:
    rows = [VariantComparison(**COMPARISON), VariantComparison(**ALIKE), VariantComparison(**NOTHING)]
    scale = scale_of(rows)
    assert scale == 20.0
    mark = mark_of(rows[0], scale)
    assert mark is not None
    assert mark.low is not None
    assert mark.high is not None
    assert 120 < mark.low < mark.x < mark.high <= 232
    assert mark_of(rows[2], scale) is None
    assert scale_of([]) == 1.0


def test_an_interval_wider_than_all_scores_ends_with_the_scale() -> None:
    wide = VariantComparison(**COMPARISON | {"interval": (-150.0, 400.0)})
    assert scale_of([wide]) == ENDS[-1]
    mark = mark_of(wide, ENDS[-1])
    assert mark is not None
    assert (mark.low, mark.high) == (8.0, 232.0)


def test_a_difference_without_an_interval_is_a_point() -> None:
    mark = mark_of(VariantComparison(**COMPARISON | {"interval": None}), 20.0)
    assert mark is not None
    assert (mark.low, mark.high) == (None, None)
