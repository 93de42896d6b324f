"""What a call costs."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.judges import Model, Usage, cost_usd, load_registry, max_cost_usd

ON = date(2026, 11, 21)
REGISTRY = load_registry({})
PRICED = [model for model in REGISTRY.models() if model.price_in is not None]

CASES = [
    ("gemini", "gemini-3.5-flash-lite", ON, Usage(input_tokens=1_000_000), 0.30),
    ("gemini", "gemini-3.5-flash-lite", ON, Usage(output_tokens=1_000_000), 2.50),
    ("gemini", "gemini-3.5-flash-lite", ON, Usage(input_tokens=1_000_000, cached_input_tokens=500_000), 0.165),
    ("gemini", "gemini-3.8-flash", ON, Usage(input_tokens=1_000_000, cached_input_tokens=500_000), 0.75),
    ("gemini", "gemini-3.8-flash", date(2026, 12, 31), Usage(output_tokens=1_000_000), 3.75),
    ("gemini", "gemini-3.8-flash", date(2027, 1, 1), Usage(output_tokens=1_000_000), 7.50),
    ("claude", "claude-haiku-5-5", ON, Usage(input_tokens=100_000), 0.01),
    ("claude", "claude-haiku-5-5", ON, Usage(input_tokens=100_001, output_tokens=100), 0.0502505),
    ("openai", "gpt-4o-mini", ON, Usage(input_tokens=2_000, output_tokens=500), 0.0006),
    ("openai", "gpt-4o-mini", ON, Usage(), 0.0),
]


@pytest.mark.parametrize(("provider", "name", "on", "usage", "dollars"), CASES)
def test_the_cost_of_a_call(provider: str, name: str, on: date, usage: Usage, dollars: float) -> None:
    assert cost_usd(REGISTRY.find(provider, name), usage, on=on) == pytest.approx(dollars)


@pytest.mark.parametrize("known", [{}, {"price_in": 1.0}, {"price_out": 1.0}])
def test_without_a_price_the_cost_is_unknown_and_not_invented(known: dict[str, float]) -> None:
    model = Model.model_validate({"provider": "ollama", "name": "qwen3", **known})
    assert cost_usd(model, Usage(input_tokens=10, output_tokens=10), on=ON) is None
    assert max_cost_usd(model, input_bytes=10, images=1, max_output_tokens=10, on=ON) is None


TOKENS = st.integers(0, 400_000)


USAGES = st.builds(Usage, input_tokens=TOKENS, output_tokens=TOKENS, cached_input_tokens=TOKENS)


@given(model=st.sampled_from(PRICED), usage=USAGES, slack=TOKENS, images=st.integers(0, 3))
def test_no_usage_within_the_bounds_costs_more_than_the_highest_cost(
    model: Model, usage: Usage, slack: int, images: int
) -> None:
    cost = cost_usd(model, usage, on=ON)
    bound = usage.input_tokens + slack
    highest = max_cost_usd(model, input_bytes=bound, images=images, max_output_tokens=usage.output_tokens, on=ON)
    assert cost is not None
    assert highest is not None
    assert 0.0 <= cost <= highest + 1e-12
