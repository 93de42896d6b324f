"""Which model judges submissions, by the environment."""

import pytest

from touchstone.errors import SettingsError
from touchstone.judges import EnvironmentKeys, Judges, load_registry
from touchstone.judges.base import Judge
from touchstone.oracle.choice import choose, open_another_judge, open_judge

BOTH = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
SONNET, SOL = "claude-sonnet-5-5", "gpt-6.2-sol"


def opened(environ: dict[str, str], provider: str | None = None) -> Judge:
    chosen = choose(load_registry(environ), environ, provider=provider)
    return open_judge(Judges(chosen.registry, EnvironmentKeys(chosen.registry, environ)), chosen)


CHOICES = [
    (BOTH, None, "claude", SONNET),
    ({"OPENAI_API_KEY": "o"}, None, "openai", SOL),
    ({"GEMINI_API_KEY": "g"}, None, "gemini", "gemini-3.8-flash"),
    ({**BOTH, "ORACLE_LLM_PROVIDER": "anthropic"}, None, "claude", SONNET),
    ({**BOTH, "ORACLE_LLM_PROVIDER": " openai "}, None, "openai", SOL),
    ({**BOTH, "ORACLE_LLM_PROVIDER": ""}, "openai", "openai", SOL),
    ({**BOTH, "ORACLE_LLM_PROVIDER": "openai"}, "anthropic", "claude", SONNET),
    ({**BOTH, "ORACLE_LLM_PROVIDER": "openai", "ORACLE_LLM_MODEL": "gpt-9"}, None, "openai", "gpt-9"),
    ({**BOTH, "ORACLE_LLM_PROVIDER": "openai", "ORACLE_LLM_MODEL": "gpt-9"}, "claude", "claude", SONNET),
    ({**BOTH, "ORACLE_LLM_PROVIDER": "anthropic", "ORACLE_LLM_MODEL": "next"}, "claude", "claude", "next"),
    ({**BOTH, "ORACLE_LLM_MODEL": "next"}, None, "claude", "next"),
    ({**BOTH, "ORACLE_LLM_MODEL": "gpt-9"}, "openai", "openai", "gpt-9"),
    (
        {"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://x/v1", "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"},
        "compatible",
        "compatible",
        "qwen3",
    ),
]


@pytest.mark.parametrize(("environ", "provider", "name", "model"), CHOICES)
def test_who_judges(environ: dict[str, str], provider: str | None, name: str, model: str) -> None:
    judge = opened(environ, provider)
    assert (judge.provider, judge.model) == (name, model)


def test_an_address_is_the_chosen_providers_alone() -> None:
    environ = {**BOTH, "ORACLE_LLM_BASE_URL": "http://gateway/v1", "ORACLE_LLM_PROVIDER": "openai"}
    registry = choose(load_registry(environ), environ).registry
    assert registry.provider("openai").base_url == "http://gateway/v1"
    assert registry.provider("claude").base_url is None
    assert choose(load_registry(environ), environ, provider="claude").registry.provider("openai").base_url is None


UNABLE: list[tuple[dict[str, str], str | None, str]] = [
    ({}, None, "^No judge can be asked without a key: set GEMINI_API_KEY, .* in the environment"),
    ({"OPENAI_API_KEY": "o"}, "anthropic", "^No key for claude: set ANTHROPIC_API_KEY in the environment.$"),
    ({"OPENAI_API_KEY": "o", "ORACLE_LLM_PROVIDER": "anthropic"}, None, "set ANTHROPIC_API_KEY"),
    ({"OPENAI_API_KEY": "o", "ORACLE_LLM_MODEL": "next"}, None, "set ANTHROPIC_API_KEY"),
    (BOTH, "nobody", "no provider nobody"),
]


@pytest.mark.parametrize(("environ", "provider", "sentence"), UNABLE)
def test_who_cannot_be_asked_is_said_with_the_variable(
    environ: dict[str, str], provider: str | None, sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence):
        opened(environ, provider)


ALL = {**BOTH, "GEMINI_API_KEY": "g"}
OTHERS: list[tuple[dict[str, str], list[str], tuple[str, str] | None]] = [
    (ALL, ["claude"], ("openai", SOL)),
    (ALL, ["claude", "openai"], ("gemini", "gemini-3.8-flash")),
    (ALL, ["openai"], ("claude", SONNET)),
    (ALL, ["claude", "openai", "gemini"], None),
    (BOTH, ["openai", "claude", "claude"], None),
    (ALL, [], ("claude", SONNET)),
    ({**ALL, "ORACLE_LLM_PROVIDER": "gemini"}, ["claude"], ("gemini", "gemini-3.8-flash")),
    ({**ALL, "ORACLE_LLM_PROVIDER": "gemini"}, ["gemini"], ("claude", SONNET)),
    ({**ALL, "ORACLE_LLM_PROVIDER": "openai", "ORACLE_LLM_MODEL": "gpt-9"}, ["claude"], ("openai", "gpt-9")),
    ({**ALL, "ORACLE_LLM_PROVIDER": "openai", "ORACLE_LLM_MODEL": "gpt-9"}, ["openai"], ("claude", SONNET)),
    ({"OPENAI_API_KEY": "o", "ORACLE_LLM_PROVIDER": "anthropic"}, ["claude"], ("openai", SOL)),
    ({"OPENAI_API_KEY": "o", "ORACLE_LLM_PROVIDER": "anthropic"}, ["openai"], None),
    ({}, ["claude"], None),
]


@pytest.mark.parametrize(("environ", "than", "found"), OTHERS)
def test_who_gives_a_second_opinion_is_none_of_those_who_judged(
    environ: dict[str, str], than: list[str], found: tuple[str, str] | None
) -> None:
    chosen = choose(load_registry(environ), environ)
    judge = open_another_judge(Judges(chosen.registry, EnvironmentKeys(chosen.registry, environ)), chosen, than=than)
    assert (judge and (judge.provider, judge.model)) == found
