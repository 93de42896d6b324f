from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.checks.values.exact import rational
from touchstone.checks.values.kinds import Quantity
from touchstone.checks.values.reading import read

READ = {
    "7": 7, "-1,234.5": Fraction(-2469, 2), "12 000": 12000, "1.234,5": Fraction(2469, 2), ".5": Fraction(1, 2),
    r"0.\overline{3}": Fraction(1, 3), r"1.2\overline{34}": Fraction(611, 495), r"0.\dot{3}": Fraction(1, 3),
    "零": 0, "十": 10, "十五": 15, "一百零五": 105, "两万三": 23000, "两万零三": 20003, "一亿": 10**8, "三千": 3000,
    "二〇二四": 2024, "负二": -2, "一半": Fraction(1, 2), "三点一四": Fraction(157, 50), "零点五": Fraction(1, 2),
    "二分之一": Fraction(1, 2), "百分之五十": Fraction(1, 2), "百分之12.5": Fraction(1, 8),
    "三又二分之一": Fraction(7, 2), "3万": 30000, "1.5亿": 15 * 10**7, "2千": 2000, "壹佰": 100,
    "seven": 7, "twenty-one": 21, "Three hundred and five": 305, "two thousand": 2000, "one half": Fraction(1, 2),
    "2.5 million": 2_500_000, "a dozen": 12, "dozen": 12, "a hundred": 100, "two dozen": 24,
}  # fmt: skip
NOT_READ = [
    "",
    "x",
    "1,23",
    "1 2",
    "and",
    "二分之零点",
    "零分之一",
    "点五",
    "三点",
    "又一",
    "万又",
    "five apples",
    "3,5",
]


def numeral(text: str) -> Fraction | None:
    value = read(text)
    return rational(value.tree) if isinstance(value, Quantity) and not value.units else None


@pytest.mark.parametrize(("text", "value"), READ.items())
def test_reads_numbers_in_digits_and_words(text: str, value: Fraction | int | None) -> None:
    assert numeral(text) == value


@pytest.mark.parametrize("text", NOT_READ)
def test_reads_nothing_else(text: str) -> None:
    assert numeral(text) is None


DIGITS = "零一二三四五六七八九"


def _chinese(number: int) -> str:
    """`number` below ten thousand as it is said in full."""
    if number == 0:
        return "零"
    words, gap = "", False
    for power, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // power % 10
        if digit:
            words += ("零" if gap and words else "") + DIGITS[digit] + unit
        gap = not digit
    return words


@given(st.integers(0, 9999), st.integers(0, 9999))
def test_every_chinese_integer_is_read_back(high: int, low: int) -> None:
    assert numeral(_chinese(low)) == low
    if high and low >= 1000:
        assert numeral(f"{_chinese(high)}万{_chinese(low)}") == high * 10_000 + low
