"""Where keys come from, and that nothing tells them."""

import pytest

from touchstone.judges import EnvironmentKeys, load_registry
from touchstone.judges.keys import KEYLESS_ACCOUNT, Place, account_of, missing_key, remedy

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


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("environment", "set GEMINI_API_KEY or GOOGLE_API_KEY in the environment"),
        ("laptop", "run `touchstone-local up` again with GEMINI_API_KEY or GOOGLE_API_KEY in the environment"),
        (
            "deployment",
            "put GEMINI_API_KEY or GOOGLE_API_KEY into the deployment's secret (its output JudgeKeysSecretArn)",
        ),
    ],
)
def test_a_missing_key_says_which_and_where(place: Place, said: str) -> None:
    error = missing_key(REGISTRY.provider("gemini"), place)
    assert str(error) == f"No key for gemini: {said}."
    assert error.sent is False


@pytest.mark.parametrize(
    ("place", "said", "unsaid"),
    [
        ("environment", "in the environment", ("touchstone-local", "secret")),
        ("laptop", "run `touchstone-local up` again", ("secret",)),
        ("deployment", "into the deployment's secret", ("touchstone-local", "environment")),
    ],
)
def test_where_nobody_has_a_key_the_remedy_is_that_of_the_place(
    place: Place, said: str, unsaid: tuple[str, ...]
) -> None:
    sentence = remedy(place)
    assert said in sentence
    for variable in ("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TOUCHSTONE_COMPATIBLE_BASE_URL"):
        assert variable in sentence
    assert not any(word in sentence for word in unsaid)


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
