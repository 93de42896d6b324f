"""What a deployment is told: defaults, and one sentence for what is wrong."""

import json

import pytest

from infra import settings


def read(**context: object) -> settings.Settings:
    return settings.read({f"touchstone:{name}": value for name, value in context.items()}.get)


def test_a_deployment_needs_to_be_told_nothing() -> None:
    chosen = read()
    assert chosen == settings.Settings()
    assert (chosen.architecture, chosen.local, chosen.environment) == ("arm64", False, {})


def test_variables_come_as_json_or_as_an_object() -> None:
    assert read(environment='{"TOUCHSTONE_FRESH_SHARE": 0.2}').environment == {"TOUCHSTONE_FRESH_SHARE": "0.2"}
    assert read(environment={"OPENAI_BASE_URL": "http://x"}).environment == {"OPENAI_BASE_URL": "http://x"}
    mapped = read(environment={"SUBJECT_PROVIDER_MAP": {"math": "gemini"}}).environment["SUBJECT_PROVIDER_MAP"]
    assert json.loads(mapped) == {"math": "gemini"}


def test_variables_leave_room_for_those_of_the_stack_in_what_a_function_may_have() -> None:
    longest = "x" * (settings.MOST_ENVIRONMENT_BYTES - len("OPENAI_BASE_URL"))
    assert read(environment={"OPENAI_BASE_URL": longest}).environment["OPENAI_BASE_URL"] == longest
    with pytest.raises(settings.ContextError, match="2,049 bytes of names and values; it may have 2,048"):
        read(environment={"OPENAI_BASE_URL": longest + "x"})
    with pytest.raises(settings.ContextError, match="bytes"):
        read(environment={"OPENAI_BASE_URL": "é" * 1_020})
    assert read(local="true", environment={"OPENAI_BASE_URL": longest + "x"}).local


def test_zones_are_named_with_a_comma_between_them() -> None:
    assert read(zones="us-east-1a, us-east-1c").zones == ("us-east-1a", "us-east-1c")
    assert read(zones="us-gov-west-1a,us-gov-west-1b").zones == ("us-gov-west-1a", "us-gov-west-1b")


def test_how_much_runs_at_once_is_a_number_or_its_text() -> None:
    chosen = read(**{"batch-concurrency": "40", "intake-concurrency": 20, "api-concurrency": "5"})
    assert (chosen.batch_concurrency, chosen.intake_concurrency, chosen.api_concurrency) == (40, 20, 5)
    assert (read(**{"api-rate": "2500"}).api_rate, chosen.api_rate) == (2_500, 100)
    assert (read(**{"start-rate": "40"}).start_rate, chosen.start_rate) == (40, None)
    assert (read(environment={"TOUCHSTONE_DRAINS": "12"}).drains, chosen.drains) == (12, 1)


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"batch-concurrency": "0"}, "touchstone:batch-concurrency is '0'; it may be a whole number from 1 to 1000"),
        ({"intake-concurrency": 1}, "a whole number from 2 to 1000"),
        ({"api-concurrency": "many"}, "a whole number from 1 to 1000"),
        ({"api-rate": 20_000}, "a whole number from 1 to 10000"),
        (
            {"environment": {"TOUCHSTONE_DRAINS": "33"}},
            "TOUCHSTONE_DRAINS is '33'; it may be a whole number from 1 to 32",
        ),
        (
            {"environment": {"TOUCHSTONE_COUNT_SHARDS": "2"}},
            "TOUCHSTONE_COUNT_SHARDS is '2'; it may be a whole number from 4 to 32",
        ),
        ({"zones": "use1-az1,use1-az2"}, "a zone is written as eu-central-1a"),
        ({"zones": "us-east-1a"}, "two different zones or more"),
        ({"zones": "us-east-1a,us-east-1a"}, "two different zones or more"),
        ({"architecture": "mips"}, "it may be arm64 or x86_64"),
        ({"environment": "{"}, "is not a JSON object"),
        ({"environment": "[1]"}, "must be a JSON object"),
        ({"environment": '{"OPENAI_API_KEY": "sk"}'}, "may not set OPENAI_API_KEY"),
        ({"environment": {"TOUCHSTONE_RETENTION_DAYS": "answers=7"}}, "a number of days from 30 to 36,500"),
    ],
)
def test_a_wrong_value_is_named_with_what_it_may_be(context: dict[str, object], sentence: str) -> None:
    with pytest.raises(settings.ContextError, match=sentence):
        read(**context)
