"""Figures as people read them: only nothing is 0, and only the whole is 100 %."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.figures import figure, p_value, percent, percent_at_least, score, usd


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (percent(0.0), "0%"),
        (percent(0.004), "< 1%"),
        (percent(0.005), "< 1%"),
        (percent(0.5), "50%"),
        (percent(0.996), "> 99%"),
        (percent(1.0), "100%"),
        (percent(0.9996, 1, unit=" %"), "> 99.9 %"),
        (percent(0.999, 1, unit=" %"), "99.9 %"),
        (percent_at_least(0.95496, 1), "95.4%"),
        (percent_at_least(0.95, 1), "95.0%"),
        (percent_at_least(0.57, 1), "57.0%"),
        (percent_at_least(0.9996, 1), "99.9%"),
        (percent_at_least(1.0, 1), "100.0%"),
        (score(99.96, 1), "> 99.9"),
        (score(99.9999, 2), "> 99.99"),
        (score(100.0, 1), "100.0"),
        (p_value(0.0001, level=0.05), "< 0.001"),
        (p_value(0.9998, level=0.05), "> 0.999"),
        (p_value(1.0, level=0.05), "1.000"),
        (p_value(0.0496, level=0.05), "0.050"),
        (p_value(0.05, level=0.05), "0.050"),
        (p_value(0.0504, level=0.05), "> 0.050"),
        (p_value(0.0506, level=0.05), "0.051"),
        (figure(-0.001, 2, most=1), "> -0.01"),
        (figure(1234.567, 2, most=100), "1,234.57"),
        (figure(0.997, 2, most=inf), "1.00"),
        (figure(99.997, 2, most=inf), "100.00"),
        (figure(0.997, 2, most=100), "1.00"),
        (figure(-99.997, 2, most=100), "< -99.99"),
        (figure(-100.0, 2, most=100), "-100.00"),
        (figure(-0.997, 2, most=1), "< -0.99"),
        (figure(59.996, 2, most=100, marks=(50, 60)), "> 59.99"),
        (figure(59.994, 2, most=100, marks=(60,)), "59.99"),
        (figure(60.004, 2, most=100, marks=(60,)), "60.00"),
        (figure(59.9956, 2, most=100, marks=(59.998,)), "> 59.99"),
        (usd(0.0), "$0.00"),
        (usd(0.000031), "$0.000031"),
        (usd(0.00042), "$0.0004"),
        (usd(1234.5), "$1,234.50"),
        (usd(-0.5), "$-0.50"),
        (percent(-0.0, 1), "0.0%"),
    ],
)
def test_rounding_makes_no_part_the_whole_and_nothing_of_no_amount(written: str, text: str) -> None:
    assert written == text


@given(st.floats(0, 1), st.integers(0, 4))
def test_a_share_is_shown_as_nothing_or_the_whole_only_if_it_is(share: float, decimals: int) -> None:
    text = percent(share, decimals, unit="")
    if "<" not in text and ">" not in text:
        assert abs(float(text) - 100 * share) <= 0.5 * 10**-decimals + 1e-9
        assert (float(text) == 0, float(text) == 100) == (share == 0, 100 * share == 100)


@given(st.floats(1e-12, 1e6))
def test_a_known_cost_is_never_shown_as_no_cost(amount: float) -> None:
    shown = float(usd(amount).removeprefix("$").replace(",", ""))
    assert shown == pytest.approx(amount, rel=0.5)
