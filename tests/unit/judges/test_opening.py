"""Which judge is opened for what, with which key, and what is said when it cannot be."""

from datetime import UTC, datetime

import pytest

from tests.support.scripted_adapters import OneKey, ScriptedAdapter, judges_with, question, registry, within
from touchstone.clock import system_clock
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges import Adapter, EnvironmentKeys, Judges, Provider, RetirementWarning, load_registry

ON = datetime(2026, 11, 21, tzinfo=UTC)


def opened(environ: dict[str, str]) -> Judges:
    found = load_registry(environ)
    return Judges(found, EnvironmentKeys(found, environ), clock=lambda: ON)


AVAILABLE = [
    ({}, ()),
    ({"GEMINI_API_KEY": "k"}, ("gemini",)),
    ({"GOOGLE_API_KEY": "k", "OPENAI_API_KEY": "k"}, ("openai", "gemini")),
    ({"OPENAI_API_KEY": " "}, ()),
    ({"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://x/v1", "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"}, ("compatible",)),
]


@pytest.mark.parametrize(("environ", "names"), AVAILABLE)
def test_the_providers_that_can_be_asked(environ: dict[str, str], names: tuple[str, ...]) -> None:
    assert opened(environ).available() == names


PREFERRED = [
    ({"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}, "verify", "gemini", "gemini-3.5-flash-lite"),
    ({"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}, "evaluate", "gemini", "gemini-3.8-flash"),
    ({"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}, "strong", "claude", "claude-sonnet-5-5"),
    ({"OPENAI_API_KEY": "k"}, "verify", "openai", "gpt-6-luna"),
    ({"OPENAI_API_KEY": "k"}, "evaluate", "openai", "gpt-6.2-sol"),
]


@pytest.mark.parametrize(("environ", "tier", "provider", "model"), PREFERRED)
def test_the_preferred_judge(environ: dict[str, str], tier: str, provider: str, model: str) -> None:
    judge = opened(environ).default(tier)  # type: ignore[arg-type]
    assert judge is not None
    assert (judge.provider, judge.model) == (provider, model)


def test_without_any_key_nobody_is_preferred() -> None:
    assert opened({}).default("verify") is None


def test_a_seat_is_the_quota_that_the_preferred_judge_uses() -> None:
    judges = opened({"ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g"})
    verify, strong = judges.tier_model("verify"), judges.tier_model("strong")
    assert verify is not None
    assert strong is not None
    assert (verify.model.provider, verify.model.name, verify.tier) == ("gemini", "gemini-3.5-flash-lite", "verify")
    assert (strong.model.provider, strong.model.name) == ("claude", "claude-sonnet-5-5")
    assert verify.account != strong.account
    assert opened({}).tier_model("verify") is None


def test_a_missing_key_says_which_and_where_to_set_it() -> None:
    with pytest.raises(MisconfiguredError, match="No key for gemini: set GEMINI_API_KEY"):
        opened({"OPENAI_API_KEY": "k"}).get("gemini", "verify")


def test_a_provider_is_opened_by_any_of_its_names_and_known_by_one() -> None:
    judges = opened({"ANTHROPIC_API_KEY": "k"})
    judge = judges.get("anthropic", "verify")
    assert judge is judges.get("claude", "verify")
    assert judge.provider == "claude"


def test_an_unlisted_provider_is_named() -> None:
    with pytest.raises(SettingsError, match="no provider nobody"):
        opened({}).get("nobody", "verify")


def test_adapters_are_made_once_a_provider_with_its_key() -> None:
    made: list[tuple[str, str | None]] = []

    def connect(provider: Provider, key: str | None) -> Adapter:
        made.append((provider.name, key))
        return ScriptedAdapter()

    judges = Judges(registry(), OneKey("k"), clock=lambda: ON, connect=connect)
    assert made == []
    verify = judges.get("gemini", "verify")
    assert judges.get("gemini", "verify") is verify
    judges.get("gemini", "evaluate")
    judges.get("gemini", "evaluate", purpose="backlog")
    judges.get("openai", "fast")
    assert made == [("gemini", "k"), ("openai", "k")]


async def test_a_rotated_key_is_used_at_the_next_question_and_a_removed_one_is_missed() -> None:
    made: list[tuple[str | None, ScriptedAdapter]] = []

    def connect(provider: Provider, key: str | None) -> Adapter:
        made.append((key, ScriptedAdapter()))
        return made[-1][1]

    keys = OneKey("old")
    judges = Judges(registry(), keys, clock=lambda: ON, connect=connect)
    await judges.get("gemini", "verify").ask(question(), deadline=within())
    before = judges.tier_model("verify")
    keys.key = "new"
    rotated = judges.get("gemini", "verify")
    assert judges.get("gemini", "verify") is rotated
    await rotated.ask(question(), deadline=within())
    assert [(key, adapter.calls) for key, adapter in made] == [("old", 1), ("new", 1)]
    assert judges.tier_model("verify") != before
    assert not any(secret in repr(vars(judges)) for secret in ("'old'", "'new'"))
    keys.key = None
    with pytest.raises(MisconfiguredError):
        judges.get("gemini", "verify")
    await judges.aclose()
    assert [adapter.closed for _, adapter in made] == [True, True]


@pytest.mark.parametrize(
    ("environ", "provider"),
    [
        ({"GEMINI_API_KEY": "k"}, "gemini"),
        ({"OPENAI_API_KEY": "k"}, "openai"),
        ({"ANTHROPIC_API_KEY": "k"}, "claude"),
        ({"TOUCHSTONE_COMPATIBLE_BASE_URL": "http://x/v1", "TOUCHSTONE_COMPATIBLE_MODEL": "qwen3"}, "compatible"),
    ],
)
def test_every_kind_of_provider_has_an_adapter(environ: dict[str, str], provider: str) -> None:
    assert opened(environ).get(provider, "fast").provider == provider


async def test_closing_closes_what_was_used() -> None:
    adapter = ScriptedAdapter()
    judges = judges_with(adapter)
    judge = judges.get("gemini", "verify")
    await judges.aclose()
    assert adapter.closed is False
    judge = judges.get("gemini", "verify")
    await judge.ask(question(), deadline=within())
    await judges.aclose()
    await judges.aclose()
    assert adapter.closed is True


def test_a_model_near_its_end_warns_once_when_it_is_opened() -> None:
    judges = judges_with(ScriptedAdapter(), on=datetime(2027, 1, 1, tzinfo=UTC))
    judges.get("gemini", "verify")
    overrides = '{"openai": {"tiers": {"strong": "gpt-4o", "fast": "gpt-4o"}}}'
    found = load_registry({"TOUCHSTONE_REGISTRY_OVERRIDES": overrides})
    judges = Judges(
        found, OneKey(), clock=lambda: datetime(2027, 1, 1, tzinfo=UTC), connect=lambda *_: ScriptedAdapter()
    )
    with pytest.warns(RetirementWarning, match="gpt-4o ends on 2027-01-14, in 13 days; its successor is gpt-6-luna"):
        judges.get("openai", "strong")
    judges.get("openai", "fast")


def test_time_is_the_systems_unless_given() -> None:
    assert Judges(registry(), OneKey())._context.clock is system_clock
