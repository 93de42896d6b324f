"""A tolerance: what counts as an expected number, by exact arithmetic, and that nothing but a number is ever near."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from touchstone.checks import Tolerance, equivalent, explain

ONE_PERCENT = Tolerance(relative=Fraction(1, 100))
HALF = Tolerance(absolute=Fraction(1, 2))
THREE = Tolerance(significant_digits=3)

_tolerances = st.one_of(
    st.builds(lambda value: Tolerance(relative=value), st.fractions(Fraction(1, 1000), Fraction(999, 1000))),
    st.builds(lambda value: Tolerance(absolute=value), st.fractions(Fraction(1, 1000), 1000)),
    st.builds(lambda value: Tolerance(significant_digits=value), st.integers(1, 30)),
)
_numbers = st.fractions(-(10**9), 10**9, max_denominator=10**9)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"relative": Fraction(1, 100), "absolute": Fraction(1)},
        {"absolute": Fraction(1), "significant_digits": 2},
        {"relative": Fraction(0)},
        {"relative": Fraction(-1, 100)},
        {"relative": Fraction(1)},
        {"relative": 0.01},
        {"relative": Fraction(1, 2**2000)},
        {"absolute": Fraction(0)},
        {"absolute": Fraction(-1)},
        {"absolute": Fraction(10**101)},
        {"absolute": float("nan")},
        {"significant_digits": 0},
        {"significant_digits": -3},
        {"significant_digits": 31},
        {"significant_digits": True},
        {"significant_digits": 3.0},
    ],
)
def test_a_tolerance_is_exactly_one_bound_that_means_something(fields: dict[str, Fraction]) -> None:
    with pytest.raises(ValueError, match=r"relative|absolute|significant"):
        Tolerance(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_text", "expected", "tolerance", "verdict"),
    [
        ("9.79", "9.81", None, False),
        ("9.79", "9.81", ONE_PERCENT, True),
        ("9.7119", "9.81", ONE_PERCENT, True),  # the bound itself belongs to it
        ("9.7118", "9.81", ONE_PERCENT, False),
        ("The answer is 9.79.", "9.81", ONE_PERCENT, True),
        ("g = 9.79", "9.81", ONE_PERCENT, True),
        ('6.01"', "6 s", ONE_PERCENT, None),  # seconds, or inches
        ('6.01"', "6 in", ONE_PERCENT, True),
        ("10.31", "9.81", HALF, True),
        ("10.32", "9.81", HALF, False),
        ("9.806", "9.81", THREE, True),
        ("9.79", "9.81", THREE, False),
        ("9.995", "10", THREE, True),  # half away from zero: 9.995 becomes 10.0
        ("-9.995", "-10", THREE, True),
        ("9.994", "10", THREE, False),
        ("1/3", "0.333", None, None),
        ("1/3", "0.333", THREE, True),
        ("0.3", "1/3", ONE_PERCENT, False),
    ],
)
def test_a_number_within_the_tolerance_counts_and_one_beyond_it_does_not(
    given_text: str, expected: str, tolerance: Tolerance | None, verdict: bool | None
) -> None:
    assert equivalent(given_text, expected, tolerance=tolerance) is verdict


@pytest.mark.parametrize(
    ("given_text", "expected", "tolerance", "verdict"),
    [
        ("979 cm/s^2", "9.81 m/s^2", ONE_PERCENT, True),
        ("9.79 cm/s^2", "9.81 m/s^2", ONE_PERCENT, False),
        ("1040 m", "1 km", HALF, True),  # half a kilometre, since the key is in kilometres
        ("1.04 km", "1000 m", HALF, False),  # half a metre
        ("5 kg", "5.01 m", ONE_PERCENT, False),
        ("18 apples", "18.1 apples", ONE_PERCENT, True),
        ("18 apples", "18.1 oranges", ONE_PERCENT, None),
        ("18 apples", "18.1", ONE_PERCENT, True),
    ],
)
def test_quantities_are_compared_in_the_unit_of_the_expected_one(
    given_text: str, expected: str, tolerance: Tolerance, verdict: bool | None
) -> None:
    assert equivalent(given_text, expected, tolerance=tolerance) is verdict


@pytest.mark.parametrize(
    ("given_text", "expected", "tolerance", "verdict"),
    [
        ("28.1%", "28%", ONE_PERCENT, True),
        ("0.281", "28%", ONE_PERCENT, True),
        ("28.4%", "28%", HALF, True),  # half a percentage point
        ("29%", "28%", HALF, False),
        ("28.1%", "28", ONE_PERCENT, None),  # whether 28 % and 28 are the same depends on the question
        ("28.1%", "0.28", ONE_PERCENT, True),
        ("35%", "28%", ONE_PERCENT, False),
    ],
)
def test_percentages(given_text: str, expected: str, tolerance: Tolerance, verdict: bool | None) -> None:
    assert equivalent(given_text, expected, tolerance=tolerance) is verdict


@pytest.mark.parametrize("tolerance", [ONE_PERCENT, THREE])
def test_a_wrong_sign_is_wrong_and_an_expected_zero_admits_only_zero(tolerance: Tolerance) -> None:
    assert equivalent("-9.81", "9.81", tolerance=tolerance) is False
    assert equivalent("9.81", "-9.81", tolerance=tolerance) is False
    assert equivalent("0.0001", "0", tolerance=tolerance) is False
    assert equivalent("0", "0.0001", tolerance=tolerance) is False
    assert equivalent("0.0", "0", tolerance=tolerance) is True


def test_an_expected_zero_has_an_absolute_neighbourhood() -> None:
    assert equivalent("-0.5", "0", tolerance=HALF) is True
    assert equivalent("-0.51", "0", tolerance=HALF) is False


@pytest.mark.parametrize("tolerance", [ONE_PERCENT, HALF, THREE])
@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("red", "green"),
        ("A", "B"),
        ("true", "false"),
        ("9.8, 1", "9.81, 1"),
        ("(9.81, 1)", "(9.82, 1)"),
        ("x = 1 or x = 2", "x = 1.001 or x = 2"),
        ("x + 1", "x + 1.001"),
        ("[0, 1]", "[0, 1.001]"),
        ("y = 2x", "y = 2.001x"),
    ],
)
def test_a_tolerance_never_makes_anything_but_numbers_equal(
    given_text: str, expected: str, tolerance: Tolerance
) -> None:
    assert equivalent(given_text, expected, tolerance=tolerance) is not True


@pytest.mark.parametrize(
    ("given_text", "expected", "tolerance", "verdict"),
    [
        ("1.41", "√2", ONE_PERCENT, True),
        ("1.42", r"\sqrt{2}", ONE_PERCENT, True),
        ("√2", "1.41", ONE_PERCENT, True),
        ("1.5", "sqrt(2)", ONE_PERCENT, False),
        ("-1.41", "√2", ONE_PERCENT, False),
        ("3.14", "π", THREE, True),
        ("3.15", "π", THREE, False),
        ("3.14", "pi", THREE, True),
        ("141 cm", r"$\sqrt{2}$ m", ONE_PERCENT, True),
        ("151 cm", r"$\sqrt{2}$ m", ONE_PERCENT, False),
        ("7.4", "e^2", ONE_PERCENT, True),
        (r"\frac{\sqrt{8}}{2}", "√2", Tolerance(absolute=Fraction(1, 10**6)), True),
        ("x + 1.41", "x + √2", ONE_PERCENT, None),
        ("x + 1.45", "x + √2", ONE_PERCENT, False),
        ("1.41", "√(-2)", ONE_PERCENT, None),
        ("1.70", "log 50", ONE_PERCENT, None),  # its base is not said
        ("3.91", "log 50", ONE_PERCENT, None),
        ("7", "-log(10^-7)", ONE_PERCENT, None),
        ("1.70", "lg 50", ONE_PERCENT, True),
        ("3.91", "ln 50", ONE_PERCENT, True),
        ("pie", "8.5", ONE_PERCENT, None),
        ("ee", "7.39", ONE_PERCENT, None),
    ],
)
def test_a_number_without_an_exact_value_is_as_near_as_its_digits(
    given_text: str, expected: str, tolerance: Tolerance, verdict: bool | None
) -> None:
    assert equivalent(given_text, expected, tolerance=tolerance) is verdict


def test_a_constant_that_takes_too_long_is_left_open() -> None:
    assert equivalent("1", "9^(9^(9^9))", tolerance=ONE_PERCENT) is None


@given(_numbers, _tolerances)
def test_every_tolerance_holds_of_the_number_itself(number: Fraction, tolerance: Tolerance) -> None:
    assert tolerance.holds(number, number)


@given(_numbers, _numbers, _tolerances)
def test_a_tolerance_without_a_neighbourhood_of_zero_keeps_the_sign(
    one: Fraction, other: Fraction, tolerance: Tolerance
) -> None:
    assume(tolerance.absolute is None and tolerance.holds(one, other))
    assert (one > 0, one < 0) == (other > 0, other < 0)


@given(_numbers, st.fractions(0, 1, max_denominator=10**6), st.integers(1, 30), st.integers(-60, 60))
def test_significant_digits_do_not_depend_on_the_scale(
    number: Fraction, shift: Fraction, digits: int, power: int
) -> None:
    tolerance, scale = Tolerance(significant_digits=digits), Fraction(10) ** power
    other = number * (1 + shift / 10**digits)
    assert tolerance.holds(number, other) == tolerance.holds(number * scale, other * scale)


@pytest.mark.parametrize(
    ("given_text", "expected", "because"),
    [
        ("1.41", "√2", "The one lies within the tolerance of the other."),
        ("3.14", "pi", "The one lies within the tolerance of the other."),
        ("9.81", "9.81", "The two are equal, exactly."),
    ],
)
def test_what_a_tolerance_decided_is_said(given_text: str, expected: str, because: str) -> None:
    assert explain(given_text, expected, tolerance=ONE_PERCENT).because == because


def test_a_comma_that_may_be_decimal_is_described_as_such() -> None:
    assert explain("1,5", "1.5").given == "a list of 2: a value: 1; a value: 5, or with a decimal comma a value: 1.5"
