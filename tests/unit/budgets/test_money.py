"""Money is exact, and what a call cost is never guessed too low."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.budgets.money import billed, dollars, micros
from touchstone.errors import (
    DayQuotaError,
    InputError,
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnreadableError,
)


@pytest.mark.parametrize(
    ("usd", "amount"), [(0.0, 0), (0.07, 70_000), (1e-7, 1), (0.1 + 0.2, 300_000), (12.5, 12_500_000)]
)
def test_an_amount_is_rounded_up_to_a_micro_dollar(usd: float, amount: int) -> None:
    assert micros(usd, where="usd") == amount


@given(st.integers(0, 10**12))
def test_an_amount_survives_the_way_there_and_back(amount: int) -> None:
    assert micros(dollars(amount), where="usd") == amount


@pytest.mark.parametrize("usd", [-0.01, float("nan"), float("inf")])
def test_an_amount_that_is_none_is_refused(usd: float) -> None:
    with pytest.raises(InputError) as refused:
        micros(usd, where="ceiling_usd")
    assert refused.value.where == "ceiling_usd"


@pytest.mark.parametrize(
    ("cost", "error", "amount"),
    [
        (0.002, None, 2000),
        (0.002, UnreadableError("cut off"), 2000),
        (None, None, 9000),
        (None, TimedOutError("late"), 9000),
        (None, UnreadableError("cut off"), 9000),
        (None, RefusedError("declined"), 9000),
        (None, DayQuotaError("spent"), 0),
        (None, MinuteQuotaError("busy"), 0),
        (None, OverloadedError("503"), 0),
        (None, MisconfiguredError("no such model"), 0),
    ],
)
def test_what_a_call_is_taken_to_have_cost(cost: float | None, error: JudgeError | None, amount: int) -> None:
    assert billed(9000, cost, error) == amount
