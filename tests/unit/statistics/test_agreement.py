"""Agreement, against worked examples that were published."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import InputError
from touchstone.statistics import cohen_kappa, flip_rate, interval_alpha, nominal_alpha, wilson_interval
from touchstone.statistics.agreement import nominal_alpha_of_counts

LABELS = st.sampled_from(["CORRECT", "INCORRECT", "ERROR", None])
PAIRS = st.lists(st.tuples(LABELS, LABELS), max_size=40)
UNITS = st.lists(st.lists(LABELS, max_size=5), max_size=12)

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: four observers, twelve units.
FOUR_OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
# The computational example of the article "Krippendorff's alpha" in Wikipedia: three coders, fifteen units.
THREE_CODERS = (
    (None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3),
    (1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None),
    (None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4),
)
# The same paper, section A: two observers and a dichotomy.
DICHOTOMY = ((0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0))


def table(*rows: tuple[int, ...]) -> list[tuple[str | None, str | None]]:
    """The pairs of labels behind a square table of counts."""
    return [
        (str(one), str(other)) for one, row in enumerate(rows) for other, count in enumerate(row) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("rows", "value", "error"),
    [
        # Bonett, R package statpsych, `ci.kappa(.05, 31, 12, 4, 58)`.
        (((31, 12), (4, 58)), 0.6756757, 0.07344761),
        # Meyer and others, R package vcd, `Kappa(SexualFun)`; Agresti, Categorical Data Analysis (1990), p. 366.
        (((7, 7, 2, 3), (2, 8, 3, 7), (1, 5, 4, 9), (2, 8, 9, 14)), 0.1293, 0.0686),
        # Agresti, Categorical Data Analysis (2013), section 11.5: two pathologists and 118 slides.
        (((22, 2, 2, 0), (5, 7, 14, 0), (0, 2, 36, 0), (0, 1, 17, 10)), 0.493, 0.057),
    ],
)
def test_kappa_and_its_standard_error_are_the_published_ones(
    rows: tuple[tuple[int, ...], ...], value: float, error: float
) -> None:
    kappa = cohen_kappa(table(*rows))
    assert kappa.value == pytest.approx(value, abs=5e-4)
    assert kappa.standard_error == pytest.approx(error, abs=5e-4)


def test_with_many_labels_the_interval_of_kappa_is_1_96_standard_errors_each_way() -> None:
    kappa = cohen_kappa(table((310, 120), (40, 580)) * 10)
    assert kappa.value is not None
    assert kappa.standard_error is not None
    reach = 1.96 * kappa.standard_error
    assert kappa.interval == pytest.approx((kappa.value - reach, kappa.value + reach), abs=1e-3)


def test_few_labels_in_complete_agreement_leave_kappa_uncertain() -> None:
    kappa = cohen_kappa(table((5, 0), (0, 5)))
    assert kappa.value == 1.0
    assert kappa.interval is not None
    # po lies in Wilson's interval of 10 of 10, which begins at 0.7225; half of it is chance.
    assert kappa.interval == pytest.approx((2 * wilson_interval(10, 10)[0] - 1, 1.0))
    assert kappa.interval[0] == pytest.approx(0.445, abs=5e-4)


@pytest.mark.parametrize("pairs", [[], [("A", None)], [("A", "A")] * 9])
def test_kappa_is_undefined_where_chance_alone_would_agree(pairs: list[tuple[str | None, str | None]]) -> None:
    kappa = cohen_kappa(pairs)
    assert (kappa.value, kappa.interval, kappa.standard_error) == (None, None, None)


def test_a_judge_that_failed_is_no_label() -> None:
    pairs: list[tuple[str | None, str | None]] = [("A", "A"), ("B", "B"), ("A", None), (None, None)]
    kappa = cohen_kappa(pairs)
    assert (kappa.value, kappa.observed, kappa.paired, kappa.unpaired) == (1.0, 1.0, 2, 2)


@given(PAIRS)
def test_the_interval_holds_kappa_and_both_lie_between_minus_1_and_1(
    pairs: list[tuple[str | None, str | None]],
) -> None:
    kappa = cohen_kappa(pairs)
    if kappa.value is None:
        assert kappa.interval is None
    else:
        assert kappa.interval is not None
        assert -1 <= kappa.interval[0] <= kappa.value <= kappa.interval[1] <= 1


@given(PAIRS)
def test_kappa_does_not_depend_on_the_order_of_things_or_of_the_two(pairs: list[tuple[str | None, str | None]]) -> None:
    swapped = [(other, one) for one, other in reversed(pairs)]
    before, after = cohen_kappa(pairs), cohen_kappa(swapped)
    assert after.value == before.value
    assert after.interval == pytest.approx(before.interval, abs=1e-12)
    assert after.paired == before.paired


@pytest.mark.parametrize(
    ("judges", "nominal", "interval"),
    [(FOUR_OBSERVERS, 0.743, 0.849), (THREE_CODERS, 0.691, 0.811), (DICHOTOMY, 0.095, 0.095)],
)
def test_alpha_is_the_published_one(
    judges: tuple[tuple[int | None, ...], ...], nominal: float, interval: float
) -> None:
    units = list(zip(*judges, strict=True))
    labels = [[None if vote is None else str(vote) for vote in unit] for unit in units]
    assert nominal_alpha(labels).value == pytest.approx(nominal, abs=5e-4)
    assert interval_alpha(units).value == pytest.approx(interval, abs=5e-4)


def test_units_with_fewer_than_two_votes_are_counted_apart() -> None:
    alpha = nominal_alpha([["A", "A", None], ["B", None, "B"], ["A", None, None], [None, None, None]])
    assert (alpha.value, alpha.units, alpha.votes, alpha.unpaired) == (1.0, 2, 4, 2)


@pytest.mark.parametrize("units", [[], [["A"]], [["A", "A"], ["A", "A"]]])
def test_alpha_is_undefined_where_nothing_varies(units: list[list[str | None]]) -> None:
    assert nominal_alpha(units).value is None


def test_equal_scores_vary_in_nothing_whatever_their_mean_is_rounded_to() -> None:
    assert interval_alpha([[0.1, 0.1, 0.1], [0.1, 0.1]]).value is None


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(InputError, match="finite"):
        interval_alpha([[1.0, score]])


@given(UNITS)
def test_alpha_is_at_most_1_and_knows_neither_judges_nor_order(units: list[list[str | None]]) -> None:
    alpha = nominal_alpha(units)
    assert alpha.value is None or alpha.value <= 1
    assert nominal_alpha([list(reversed(unit)) for unit in reversed(units)]).value == pytest.approx(alpha.value)


@given(
    st.lists(st.lists(st.none() | st.integers(0, 100), max_size=4), max_size=10),
    st.integers(1, 9),
    st.integers(-50, 50),
)
def test_alpha_of_scores_does_not_depend_on_their_unit(units: list[list[int | None]], scale: int, shift: int) -> None:
    rescaled = [[None if vote is None else scale * vote + shift for vote in unit] for unit in units]
    assert interval_alpha(rescaled).value == pytest.approx(interval_alpha(units).value, abs=1e-9)


def test_of_two_labels_alpha_is_the_same_by_either_difference() -> None:
    units = list(zip(*DICHOTOMY, strict=True))
    assert nominal_alpha([[str(vote) for vote in unit] for unit in units]).value == pytest.approx(
        interval_alpha(units).value
    )


def test_verdicts_that_do_not_survive_the_swap_are_flips_and_failed_ones_are_not_counted() -> None:
    verdicts: list[tuple[str | None, str | None]] = [("a", "a"), ("a", "b"), ("tie", "b"), ("tie", "tie"), ("a", None)]
    rate = flip_rate(verdicts)
    assert (rate.rate, rate.flipped, rate.judged, rate.unjudged) == (0.5, 2, 4, 1)
    assert rate.interval == wilson_interval(2, 4)


def test_without_a_pair_judged_twice_there_is_no_flip_rate() -> None:
    rate = flip_rate([("a", None), (None, None)])
    assert (rate.rate, rate.interval, rate.judged, rate.unjudged) == (None, None, 0, 2)


PANELS = st.lists(st.lists(st.sampled_from(["right", "wrong"]), min_size=1, max_size=3).map(sorted).map(tuple))


@given(PANELS)
def test_alpha_of_counted_votes_is_that_of_the_votes(units: list[tuple[str, ...]]) -> None:
    counted, whole = nominal_alpha_of_counts(Counter(units)), nominal_alpha(units)
    assert (counted.units, counted.votes, counted.unpaired) == (whole.units, whole.votes, whole.unpaired)
    assert counted.value == (None if whole.value is None else pytest.approx(whole.value))
