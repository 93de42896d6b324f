"""Where keys come from, and that nothing tells them."""

import pytest

from touchstone.judges import EnvironmentKeys, load_registry
from touchstone.judges.keys import KEYLESS_ACCOUNT, account_of, missing_key

REGISTRY = load_registry({})

CASES = [
    ({"GEMINI_API_KEY": "one"}, "gemini", "one"),
    ({"GOOGLE_API_KEY": "two"}, "gemini", "two"),
    ({"GEMINI_API_KEY": "one", "GOOGLE_API_KEY": "two"}, "gemini", "one"),
    ({"GEMINI_API_KEY": "  ", "GOOGLE_API_KEY": "two\n"}, "gemini", "two"),
    ({"OPENAI_API_KEY": "three"}, "openai", "three"),
    ({"ANTHROPIC_API_KEY": "four"}, "claude", "four"),
    ({"OPENAI_API_KEY": "three"}, "claude", None),
    ({}, "gemini", None),
]


@pytest.mark.parametrize(("environ", "provider", "key"), CASES)
def test_a_key_is_read_from_the_providers_own_variables(
    environ: dict[str, str], provider: str, key: str | None
) -> None:
    assert EnvironmentKeys(REGISTRY, environ).get(provider) == key


def test_a_compatible_endpoint_may_have_a_key_and_need_none() -> None:
    environ = {"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://localhost:8000/v1", "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"}
    registry = load_registry(environ)
    assert registry.provider("compatible").needs_key is False
    assert EnvironmentKeys(registry, environ).get("compatible") is None
    assert EnvironmentKeys(registry, environ | {"TOUCHSTONE_COMPATIBLE_API_KEY": "k"}).get("compatible") == "k"


def test_a_missing_key_says_which_and_where() -> None:
    error = missing_key(REGISTRY.provider("gemini"))
    assert str(error).startswith("No key for gemini: set GEMINI_API_KEY or GOOGLE_API_KEY in the environment")
    assert "TOUCHSTONE_SECRET_ID" in str(error)
    assert error.sent is False


def test_two_keys_are_two_accounts_and_neither_can_be_read_back() -> None:
    gemini = REGISTRY.provider("gemini")
    one, two = account_of(gemini, "AIza-canary-1"), account_of(gemini, "AIza-canary-2")
    assert one != two
    assert one == account_of(gemini, "AIza-canary-1")
    assert len(one) == 12
    assert "canary" not in one
    assert account_of(gemini, None) == KEYLESS_ACCOUNT


def test_a_labelled_account_outlives_its_key() -> None:
    labelled = REGISTRY.provider("gemini").model_copy(update={"account": "project-7"})
    assert account_of(labelled, "old") == account_of(labelled, "new") == "project-7"
