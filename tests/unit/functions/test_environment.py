"""The environment of a function: what its variables may say."""

from collections.abc import Iterator

import pytest

from functions.environment import environment
from touchstone.errors import SettingsError


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    environment.cache_clear()
    yield
    environment.cache_clear()


@pytest.mark.parametrize(("text", "pins"), [("{}", {}), ('{"math": "openai"}', {"math": "openai"})])
def test_pins_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, pins: dict[str, str]) -> None:
    monkeypatch.setenv("SUBJECT_PROVIDER_MAP", text)
    assert environment().subject_provider_map == pins


@pytest.mark.parametrize("text", ["{", "[]", '"openai"', '{"math": 1}', '{"math": null}', "NaN"])
def test_a_map_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SUBJECT_PROVIDER_MAP", text)
    with pytest.raises(SettingsError, match="SUBJECT_PROVIDER_MAP"):
        environment()
