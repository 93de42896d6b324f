"""What algebra proves, and what it leaves open, below the level of answers."""

from fractions import Fraction

import pytest
import sympy

from touchstone.checks.algebra.conditions import same_condition
from touchstone.checks.algebra.evaluation import number_of
from touchstone.checks.algebra.identity import is_zero, same_expression
from touchstone.checks.notation.syntax import parse
from touchstone.checks.notation.tokens import tokens_of
from touchstone.checks.notation.trees import NotAnExpressionError
from touchstone.checks.values.exact import bound, rational
from touchstone.checks.values.intervals import bounds
from touchstone.checks.values.rounding import quantum


@pytest.mark.parametrize(
    ("text", "value"), [("1/4", 0.25), ("-2", -2), (r"-\sqrt{4}", -2), (r"\pi", 3.141592653589793)]
)
def test_constants_have_numbers(text: str, value: float) -> None:
    number = number_of(parse(text))
    assert number is not None
    assert abs(number - Fraction(value)) < Fraction(1, 10**15)


@pytest.mark.parametrize(
    "text", ["x", "1/0", r"\sqrt{-1}", "i", r"\infty", r"\ln 0", "e^{e^{e^{9}}}", "(10^{9}+1/2)!", "0^{-1}"]
)
def test_what_has_no_real_number_has_none(text: str) -> None:
    assert number_of(parse(text)) is None


def test_only_a_decimal_has_a_last_digit() -> None:
    assert quantum(parse("-1.25")) == Fraction(1, 100)
    assert quantum(parse("12.5%")) == Fraction(1, 1000)
    assert quantum(parse("1.5*10^{-3}")) == Fraction(1, 10_000)
    assert quantum(parse("2*1.5")) == Fraction(1, 5)
    assert quantum(parse("1/4")) is None
    assert quantum(parse("3*10^{5}")) is None


@pytest.mark.parametrize("text", ["2^{5000}", "501!", r"\binom{900}{3}", "2^{x}^{y}^{z}", r"x^{9999}", "e^{99999}"])
def test_numbers_beyond_the_bounds_are_refused_before_they_are_made(text: str) -> None:
    with pytest.raises(NotAnExpressionError):
        bound(parse(text))


def test_an_undefined_value_is_not_rational() -> None:
    for text in ("1/0", "0^{0}", "0^{-1}", "2^{1/2}", "(-1)!", r"\sqrt{-4}", r"\binom{-1}{2}", r"\sin 1"):
        assert rational(parse(text)) is None


def test_agreement_by_numbers_alone_proves_nothing() -> None:
    tiny = parse(r"\sqrt{2}+2^{-1000}"), parse(r"\sqrt{2}")
    assert same_expression(*tiny) is None
    assert is_zero(sympy.sqrt(2) * sympy.sqrt(3) - sympy.sqrt(6))
    assert not is_zero(sympy.Symbol("x") + sympy.Integer(1))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2x-y+1", "y-2x-1", True),
        ("y-1/x", "xy-1", True),
        ("y/x-2", "y-2x", None),
        ("(x-1)(y-1)", "x-1", False),
        (r"y-\frac{1}{\sin x}", r"y\sin x-1", None),
        ("x-x", "0*y", None),
    ],
)
def test_conditions_hold_for_the_same_values(one: str, other: str, same: bool | None) -> None:
    assert same_condition(parse(one), parse(other), signed=False) is same


def test_an_inequality_keeps_its_side() -> None:
    assert same_condition(parse("x-y"), parse("2x-2y"), signed=True) is True
    assert same_condition(parse("x-y"), parse("y-x"), signed=True) is None


@pytest.mark.parametrize("text", ["(1,2,3)", "{1,2}", "1,2", "(1 or 2)"])
def test_only_a_pair_in_brackets_is_an_interval(text: str) -> None:
    with pytest.raises(NotAnExpressionError):
        bounds(tokens_of(text))
