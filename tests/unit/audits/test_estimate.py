"""What an audit is expected to take: a range that widens with the options, within the bounds of a case."""

from datetime import date

import pytest

from tests.support.audit_cases import case
from touchstone.audits.agent import Bounds
from touchstone.audits.estimate import estimate_of
from touchstone.judges import load_registry

ON = date(2026, 11, 22)
MODEL = load_registry({}).model("gemini", "strong")
DEFAULT = Bounds()


def test_turns_follow_from_the_options_that_need_a_proof() -> None:
    found = estimate_of([case(), case()], MODEL, bounds=DEFAULT, on=ON)
    assert (found.cases, found.options) == (2, 6)
    assert found.turns == (6, 26)
    assert found.cost_usd is not None
    low, high = found.cost_usd
    assert 0 < low < high < 2.0


def test_a_bound_of_turns_or_tokens_bounds_the_estimate() -> None:
    whole = estimate_of([case()], MODEL, bounds=DEFAULT, on=ON)
    short = estimate_of([case()], MODEL, bounds=Bounds(turns=4), on=ON)
    cheap = estimate_of([case()], MODEL, bounds=Bounds(tokens=20_000), on=ON)
    assert short.turns == (3, 4)
    assert whole.cost_usd is not None
    for less in (short.cost_usd, cheap.cost_usd):
        assert less is not None
        assert less[1] < whole.cost_usd[1]


@pytest.mark.parametrize("model", [None, MODEL.model_copy(update={"price_in": None})])
def test_without_a_price_nothing_is_made_up(model: object) -> None:
    assert estimate_of([case()], model, bounds=DEFAULT, on=ON).cost_usd is None  # type: ignore[arg-type]


def test_the_price_is_that_of_the_day() -> None:
    before, after = (estimate_of([case()], MODEL, bounds=DEFAULT, on=day) for day in (ON, date(2027, 1, 2)))
    assert before.cost_usd is not None
    assert after.cost_usd is not None
    assert after.cost_usd[0] == pytest.approx(2 * before.cost_usd[0])
