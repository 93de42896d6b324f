"""Which provider solves a problem, and when the data may say so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.answers.providers import MIN_SAMPLES, Rate, best_provider_for, choose_provider, pins_from
from touchstone.errors import SettingsError

ALL = ("claude", "openai", "gemini")


def _rates(**counts: tuple[int, int]) -> dict[tuple[str, str], Rate]:
    return {(name, "math"): Rate(correct=correct, decided=decided) for name, (correct, decided) in counts.items()}


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({}, "claude"),
        (_rates(openai=(499, 499)), "claude"),
        (_rates(openai=(450, 500)), "openai"),
        (_rates(openai=(450, 500), gemini=(480, 500)), "gemini"),
        # 92 % of 500 is worth less than 91 % of 20,000: the bound decides, not the rate.
        (_rates(openai=(460, 500), gemini=(18_200, 20_000)), "gemini"),
        (_rates(openai=(450, 500), claude=(450, 500)), "claude"),
        (_rates(openai=(450, 500), gemini=(450, 500)), "gemini"),
    ],
)
def test_the_best_lower_bound_wins_once_there_is_enough_data(rates: dict[tuple[str, str], Rate], best: str) -> None:
    assert best_provider_for("math", rates, default="claude") == best


def test_what_a_provider_does_in_another_subject_counts_for_nothing() -> None:
    assert best_provider_for("physics", _rates(openai=(500, 500)), default="claude") == "claude"


def test_fewer_samples_can_be_asked_for() -> None:
    assert best_provider_for("math", _rates(openai=(9, 10)), default="claude", min_samples=10) == "openai"
    assert best_provider_for("math", _rates(openai=(0, 0)), default="claude", min_samples=0) == "claude"


@given(st.integers(0, MIN_SAMPLES - 1), st.data())
def test_below_500_samples_the_default_decides(decided: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, decided))
    assert best_provider_for("math", _rates(openai=(correct, decided)), default="claude") == "claude"


def _choose(
    subject: str | None = "math",
    *,
    tried: tuple[str, ...] = (),
    available: tuple[str, ...] = ALL,
    pins: dict[str, str] | None = None,
    rates: dict[tuple[str, str], Rate] | None = None,
    default: str = "claude",
) -> str:
    return choose_provider(
        subject, tried=tried, available=available, pins=pins or {}, rates=rates or {}, default=default
    )


def test_a_pin_goes_before_the_data_and_the_data_before_the_default() -> None:
    rates = _rates(openai=(450, 500))
    assert _choose() == "claude"
    assert _choose(rates=rates) == "openai"
    assert _choose(rates=rates, pins={"math": "gemini"}) == "gemini"
    assert _choose("physics", rates=rates, pins={"math": "gemini"}) == "claude"
    assert _choose(None, rates=rates, pins={"math": "gemini"}) == "claude"


@pytest.mark.parametrize("name", ["claude", "anthropic"])
def test_a_pin_and_a_default_may_give_a_provider_any_of_its_names(name: str) -> None:
    available = ("gemini", "openai", "claude")
    for pins, default in (({"math": name}, "gemini"), ({}, name)):
        chosen = choose_provider("math", tried=(), available=available, pins=pins, rates={}, default=default)
        assert chosen == "claude"
    rates = _rates(claude=(500, 500), openai=(500, 500))
    assert choose_provider("math", tried=(), available=available, pins={}, rates=rates, default=name) == "claude"


def test_a_provider_without_a_key_is_passed_over() -> None:
    assert _choose(pins={"math": "gemini"}, available=("openai", "claude")) == "claude"
    assert _choose(available=("openai",)) == "openai"


def test_a_retry_goes_to_another_provider() -> None:
    assert _choose(tried=("claude",)) == "openai"
    assert _choose(tried=("gemini",), pins={"math": "gemini"}) == "claude"
    assert _choose(tried=("claude", "openai")) == "gemini"


def test_the_same_provider_answers_again_only_where_there_is_no_other() -> None:
    assert _choose(tried=("claude",), available=("claude",)) == "claude"
    assert _choose(tried=("openai", "claude"), available=("claude", "openai")) == "openai"


def test_without_any_provider_there_is_none_to_choose() -> None:
    with pytest.raises(ValueError, match="no provider"):
        _choose(available=())


@given(st.sets(st.sampled_from(ALL), min_size=2), st.data())
def test_whatever_is_preferred_a_retry_never_repeats_a_provider_while_there_is_another(
    available: set[str], data: st.DataObject
) -> None:
    tried = data.draw(st.sampled_from(sorted(available)))
    pin = data.draw(st.sampled_from(ALL))
    chosen = _choose(tried=(tried,), available=tuple(sorted(available)), pins={"math": pin})
    assert chosen in available - {tried}


@pytest.mark.parametrize(
    ("text", "pins"), [("", {}), (" ", {}), ("{}", {}), ('{"math": "openai"}', {"math": "openai"})]
)
def test_pins_are_read_from_the_environment(text: str, pins: dict[str, str]) -> None:
    assert pins_from(text) == pins


@pytest.mark.parametrize("text", ["{", "[]", '"openai"', '{"math": 1}', '{"math": null}', '{"math": ""}', "NaN"])
def test_a_map_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(SettingsError, match="SUBJECT_PROVIDER_MAP"):
        pins_from(text)
