"""The model registry: what is shipped, how a deployment changes it, and what it refuses."""

import json
from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.errors import SettingsError
from touchstone.judges import Model, QuotaLimits, load_registry
from touchstone.judges.registry import OVERRIDES_VARIABLE

NAMED_FIRST = [
    ("claude", "claude-sonnet-4-20250514"),
    ("claude", "claude-haiku-4-5-20251001"),
    ("openai", "gpt-4o"),
    ("openai", "gpt-4o-mini"),
    ("gemini", "gemini-2.5-flash"),
    ("gemini", "gemini-2.5-flash-lite"),
]


def overridden(overrides: object) -> dict[str, str]:
    return {OVERRIDES_VARIABLE: json.dumps(overrides)}


@pytest.mark.parametrize(("provider", "name"), NAMED_FIRST)
def test_the_models_named_first_stay_listed(provider: str, name: str) -> None:
    assert load_registry({}).find(provider, name).provider == provider


def test_the_ends_and_successors_of_those_that_end() -> None:
    registry = load_registry({})
    assert registry.find("claude", "claude-sonnet-4-20250514").retires == date(2026, 6, 15)
    ending = registry.find("gemini", "gemini-2.5-flash")
    assert (ending.retires, ending.successor) == (date(2026, 12, 1), "gemini-3.5-flash-lite")


def test_anthropic_is_another_name_of_claude_wherever_one_is_named() -> None:
    model = {"models": {"claude-opus-6": {"per_day": 7}}}
    registry = load_registry(overridden({"anthropic": model, "claude": {"tiers": {"strong": "claude-opus-6"}}}))
    assert "anthropic" not in registry.providers
    assert registry.provider("anthropic") is registry.provider("claude")
    assert registry.model("anthropic", "strong").name == "claude-opus-6"
    assert registry.find("anthropic", "claude-opus-6").provider == "claude"
    served = registry.serving("anthropic", "strong", name="claude-next")
    assert set(served.providers) == set(registry.providers)
    assert (served.model("claude", "strong").provider, served.model("claude", "strong").name) == (
        "claude",
        "claude-next",
    )


def test_every_model_says_where_its_figures_come_from() -> None:
    assert [model.name for model in load_registry({}).models() if not model.source] == []


def test_every_successor_is_listed_and_does_not_end_first() -> None:
    registry = load_registry({})
    for model in registry.models():
        if model.successor is not None:
            successor = registry.find(model.provider, model.successor)
            assert successor.retires is None or (model.retires is not None and successor.retires > model.retires)


def test_verify_and_evaluate_have_quotas_of_their_own() -> None:
    registry = load_registry({})
    verify, evaluate = registry.model("gemini", "verify"), registry.model("gemini", "evaluate")
    assert verify.name != evaluate.name
    assert verify.limits == QuotaLimits(per_day=1000, per_minute=15)
    assert evaluate.limits == QuotaLimits(per_day=250, per_minute=10)


@pytest.mark.parametrize("provider", ["claude", "openai"])
def test_where_no_model_is_named_fast_verifies_and_strong_evaluates(provider: str) -> None:
    registry = load_registry({})
    assert registry.model(provider, "verify") == registry.model(provider, "fast")
    assert registry.model(provider, "evaluate") == registry.model(provider, "strong")


def test_limits_prices_and_tiers_are_overridden_one_by_one() -> None:
    registry = load_registry(
        overridden(
            {
                "gemini": {
                    "account": "project-7",
                    "tiers": {"strong": "gemini-4-hydrogen"},
                    "models": {"gemini-3.8-flash": {"per_day": 10_000, "per_minute": None}},
                }
            }
        )
    )
    changed = registry.find("gemini", "gemini-3.8-flash")
    assert changed.limits == QuotaLimits(per_day=10_000, per_minute=None)
    assert changed.price_in == load_registry({}).find("gemini", "gemini-3.8-flash").price_in
    assert registry.model("gemini", "strong").name == "gemini-4-hydrogen"
    assert registry.model("gemini", "verify").name == "gemini-3.5-flash-lite"
    assert registry.provider("gemini").account == "project-7"


def test_a_price_of_ones_own_is_not_raised_by_an_announced_one() -> None:
    mine = {"gemini": {"models": {"gemini-3.8-flash": {"price_in": 0.5, "price_out": 1.0}}}}
    model = load_registry(overridden(mine)).find("gemini", "gemini-3.8-flash")
    assert model.price(on=date(2027, 6, 1), input_tokens=10).price_in == 0.5


OLLAMA = {"ollama": {"base_url": "http://localhost:11434/v1", "tiers": {"strong": "qwen3", "fast": "qwen3"},
                     "models": {"qwen3": {}}}}  # fmt: skip


def test_a_new_provider_is_an_openai_compatible_one_without_a_price() -> None:
    registry = load_registry(overridden(OLLAMA))
    ollama = registry.provider("ollama")
    assert (ollama.kind, ollama.needs_key) == ("compatible", False)
    assert list(registry.providers) == ["claude", "openai", "gemini", "ollama"]
    assert registry.model("ollama", "evaluate").price_in is None


def test_one_compatible_endpoint_needs_two_variables() -> None:
    environ = {"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://localhost:8000/v1", "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"}
    provider = load_registry(environ).provider("compatible")
    assert (provider.base_url, provider.tiers["fast"]) == ("http://localhost:8000/v1", "qwen3")
    with pytest.raises(SettingsError, match="TOUCHSTONE_COMPATIBLE_MODEL"):
        load_registry({"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://localhost:8000/v1"})


COMPATIBLE = {"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://localhost:8000/v1", "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"}
PRICE_IN, PRICE_OUT = "TOUCHSTONE_COMPATIBLE_PRICE_IN", "TOUCHSTONE_COMPATIBLE_PRICE_OUT"


def test_the_price_of_the_compatible_endpoint_is_told_by_two_variables() -> None:
    free = load_registry(COMPATIBLE | {PRICE_IN: "0", PRICE_OUT: "0"}).find("compatible", "qwen3")
    dear = load_registry(COMPATIBLE | {PRICE_IN: " 0.25 ", PRICE_OUT: "2"}).find("compatible", "qwen3")
    assert (free.price_in, free.price_out, dear.price_in, dear.price_out) == (0.0, 0.0, 0.25, 2.0)


def test_or_by_the_overrides_which_may_also_tell_its_quota() -> None:
    mine = {"compatible": {"models": {"qwen3": {"price_in": 1.0, "price_out": 2.0, "per_minute": 3}}}}
    known = load_registry(COMPATIBLE | overridden(mine)).find("compatible", "qwen3")
    both = load_registry(COMPATIBLE | overridden(mine) | {PRICE_IN: "0", PRICE_OUT: "0"}).find("compatible", "qwen3")
    assert (known.price_in, known.price_out, known.per_minute) == (1.0, 2.0, 3)
    assert (both.price_in, both.price_out, both.per_minute) == (0.0, 0.0, 3)


@pytest.mark.parametrize("price", ["x", "-1", "nan", "inf", "0,5", "1e999"])
def test_a_price_that_is_none_is_refused(price: str) -> None:
    with pytest.raises(SettingsError, match=f"{PRICE_OUT} must be US dollars per million tokens, a number from 0 up"):
        load_registry(COMPATIBLE | {PRICE_IN: "1", PRICE_OUT: price})
    with pytest.raises(SettingsError, match=f"{PRICE_OUT} must be US dollars"):
        load_registry(COMPATIBLE | {PRICE_OUT: price})


@pytest.mark.parametrize("variable", ["TOUCHSTONE_COMPATIBLE_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"])
@pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://x/v1", "v1"])
def test_an_address_that_nothing_can_be_sent_to_is_refused(variable: str, address: str) -> None:
    with pytest.raises(SettingsError, match=f"{variable} is no http"):
        load_registry(COMPATIBLE | {variable: address})


def test_half_a_price_is_none() -> None:
    with pytest.raises(SettingsError, match=f"{PRICE_OUT} is not set"):
        load_registry(COMPATIBLE | {PRICE_IN: "1"})


def test_what_becomes_of_unpriced_calls_is_one_of_two_words() -> None:
    with pytest.raises(SettingsError, match="TOUCHSTONE_UNPRICED may be allow or refuse"):
        load_registry({"TOUCHSTONE_UNPRICED": "alow"})


NEAREST = [
    (
        {"gemini": {"models": {"gemini-3.8-flash": {"prize_in": 1}}}},
        "gemini.models.gemini-3.8-flash.prize_in",
        "price_in",
    ),
    (
        {"gemini": {"models": {"x": {"long_prompt": {"above_token": 1}}}}},
        "gemini.models.x.long_prompt.",
        "above_tokens",
    ),
    ({"gemini": {"models": {"x": {"later_prices": [{"sinse": "2027-01-01"}]}}}}, "later_prices.0.", "since"),
    ({"gemini": {"modells": {}}}, "gemini.modells", "models"),
    ({"gemini": {"tiers": {"fst": "gemini-3.8-flash"}}}, "gemini.tiers.fst", "fast"),
    ({"gemni": {"models": {}}}, "gemni.", "gemini"),
]


@pytest.mark.parametrize(("mine", "place", "meant"), NEAREST)
def test_an_unknown_name_is_refused_with_its_place_and_the_nearest_known_one(
    mine: dict[str, Any], place: str, meant: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        load_registry(overridden(mine))
    sentence = str(refused.value)
    assert place in sentence
    assert f"the nearest name is {meant} " in sentence


def test_base_urls_come_from_the_environment_unless_overridden() -> None:
    environ = {"OPENAI_BASE_URL": "http://gateway/v1", "ANTHROPIC_BASE_URL": ""}
    registry = load_registry(environ | overridden({"gemini": {"base_url": "http://proxy"}}))
    urls = {name: provider.base_url for name, provider in registry.providers.items()}
    assert urls == {"claude": None, "openai": "http://gateway/v1", "gemini": "http://proxy"}


BAD = [
    ("{", "not valid JSON"),
    ("[]", "must be a JSON object"),
    ('{"gemini": 3}', "must be a JSON object"),
    ('{"gemini": {"tiers": {"verify": "gemini-9"}}}', "tier verify names gemini-9"),
    ('{"gemini": {"tiers": {"best": "gemini-3.8-flash"}}}', r"gemini\.tiers\.best"),
    ('{"gemini": {"models": {"gemini-3.8-flash": {"per_day": -1}}}}', r"gemini\.models\.gemini-3\.8-flash\.per_day"),
    ('{"gemini": {"models": {"gemini-3.8-flash": {"per_dya": 1}}}}', "per_dya"),
    ('{"gemini": {"models": {"gemini-3.8-flash": {"price_in": NaN}}}}', "price_in"),
    ('{"gemini": {"models": {"gemini-3.8-flash": 7}}}', "gemini-3.8-flash"),
    ('{"gemini": {"models": 7}}', "gemini.models"),
    ('{"gemini": {"account": "a b"}}', "gemini.account"),
    ('{"ollama": {"tiers": {"strong": "q", "fast": "q"}, "models": {"q": {}}}}', "needs a base_url"),
    ('{"ollama": {"base_url": "http://x", "tiers": {"fast": "q"}, "models": {"q": {}}}}', "for tier strong"),
    ('{"Ollama!": {"base_url": "http://x", "tiers": {"strong": "q", "fast": "q"}, "models": {"q": {}}}}', "name"),
]


@pytest.mark.parametrize(("text", "told"), BAD)
def test_wrong_overrides_are_refused_with_what_and_where(text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told) as caught:
        load_registry({OVERRIDES_VARIABLE: text})
    assert OVERRIDES_VARIABLE in str(caught.value)


def test_unknown_names_are_refused_with_what_there_is() -> None:
    registry = load_registry({})
    with pytest.raises(SettingsError, match="claude, openai, gemini"):
        registry.provider("nobody")
    with pytest.raises(SettingsError, match=r"no model gpt-9 of openai"):
        registry.find("openai", "gpt-9")


def test_models_do_not_change() -> None:
    model = load_registry({}).model("gemini", "verify")
    with pytest.raises(ValidationError):
        model.price_in = 0.0  # type: ignore[misc]


def test_the_latest_begun_price_holds() -> None:
    model = Model.model_validate(
        {"provider": "p", "name": "m", "price_in": 1, "price_out": 1, "later_prices": [
            {"since": "2027-06-01", "price_in": 3, "price_out": 3},
            {"since": "2027-01-01", "price_in": 2, "price_out": 2},
        ]}
    )  # fmt: skip
    days = [date(2026, 12, 31), date(2027, 1, 1), date(2027, 5, 31), date(2027, 6, 1)]
    assert [model.price(on=day, input_tokens=1).price_in for day in days] == [1, 2, 2, 3]


def test_the_room_for_thinking_is_data_too() -> None:
    name = load_registry({}).model("gemini", "verify").name
    changed = {"gemini": {"models": {name: {"thinking_tokens": 100}}}}
    assert load_registry(overridden(changed)).model("gemini", "verify").thinking_tokens == 100
    changed["gemini"]["models"][name]["thinking_tokens"] = -1
    with pytest.raises(SettingsError, match="thinking_tokens"):
        load_registry(overridden(changed))


@pytest.mark.parametrize(("provider", "name"), [("openai", "gpt-4o"), ("gemini", "gemini-2.5-flash-lite")])
def test_a_model_that_does_not_think_unasked_needs_no_room(provider: str, name: str) -> None:
    assert load_registry({}).find(provider, name).thinking_tokens == 0


def test_another_model_serves_a_tier_and_all_else_stays() -> None:
    shipped = load_registry({})
    found = shipped.serving("claude", "strong", name="claude-next", base_url="http://gateway")
    model = found.model("claude", "strong")
    assert (model.name, model.price_in, model.limits) == ("claude-next", None, QuotaLimits())
    assert model.thinking_tokens == shipped.model("claude", "strong").thinking_tokens
    assert found.provider("claude").base_url == "http://gateway"
    assert found.model("claude", "fast") == shipped.model("claude", "fast")
    assert found.provider("openai") == shipped.provider("openai")
    assert shipped.model("claude", "strong").name != "claude-next"


def test_a_listed_model_keeps_its_price_on_another_tier() -> None:
    shipped = load_registry({})
    fast = shipped.model("openai", "fast")
    assert shipped.serving("openai", "strong", name=fast.name).model("openai", "strong") == fast
    assert shipped.serving("openai", "strong").provider("openai") == shipped.provider("openai")


def test_no_model_serves_for_a_provider_that_is_not_listed() -> None:
    with pytest.raises(SettingsError, match="no provider nobody"):
        load_registry({}).serving("nobody", "strong", name="large")
