"""What an operator does to a provider's quota: forget what the provider named of it."""

import json
from typing import TYPE_CHECKING

import boto3
import pytest
from typer.testing import CliRunner, Result

from tests.support.table import TABLE_NAME
from touchstone.budgets import QuotaKey, Quotas
from touchstone.cli.app import app
from touchstone.errors import DayQuotaError, MinuteQuotaError, QuotaExceededError
from touchstone.judges import load_registry
from touchstone.judges.base import QuotaLimits
from touchstone.judges.keys import account_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEY = "AIza-of-the-deployment"
SECRET = "touchstone-judges"
REGISTRY = load_registry({})
MODELS = REGISTRY.provider("gemini").models
FAST = REGISTRY.model("gemini", "fast").name
STRONG = REGISTRY.model("gemini", "strong").name
ACCOUNT = account_of(REGISTRY.provider("gemini"), KEY)
LIMITS = QuotaLimits(per_day=1000, per_minute=100)


def _forget(*arguments: str, **env: str | None) -> Result:
    variables: dict[str, str | None] = {
        "TOUCHSTONE_TABLE": TABLE_NAME,
        "TOUCHSTONE_SECRET_ID": SECRET,
        "TOUCHSTONE_REGISTRY_OVERRIDES": None,
        "GEMINI_API_KEY": "another-one-of-the-operators-own",
    }
    return CliRunner(env=variables | env).invoke(app, ["quotas", "forget", *arguments])


def _secret(text: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=SECRET, SecretString=text)


@pytest.fixture
def quotas(table: "Table") -> Quotas:
    boto3.client("secretsmanager").create_secret(Name=SECRET, SecretString=json.dumps({"GEMINI_API_KEY": KEY}))
    return Quotas(table)


def _refused(quotas: Quotas, model: str, account: str = ACCOUNT) -> QuotaKey:
    """A quota whose provider named 3 a day and 2 a minute, and is not to be asked until tomorrow."""
    key = QuotaKey(provider="gemini", model=model, account=account)
    reservation = quotas.reserve(key, LIMITS, purpose="fresh")
    quotas.learn(reservation, MinuteQuotaError("Two a minute.", limit=2))
    quotas.learn(reservation, DayQuotaError("Three a day.", limit=3))
    with pytest.raises(QuotaExceededError):
        quotas.reserve(key, LIMITS, purpose="fresh")
    return key


def test_a_quota_that_was_raised_is_used_at_once(quotas: Quotas) -> None:
    key = _refused(quotas, FAST)
    other = _refused(quotas, STRONG)
    result = _forget("gemini", FAST, "--json")
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)
    assert (found["learned_per_day"], found["learned_per_minute"], found["account"]) == (3, 2, ACCOUNT)
    assert found["blocked_until"] is not None
    assert found["blocked_why"] == "Three a day."
    quotas.reserve(key, LIMITS, purpose="fresh")
    usage = quotas.usage(key, LIMITS)
    assert (usage.used, usage.learned, usage.blocked_until) == (2, QuotaLimits(), None)
    assert quotas.usage(other, LIMITS).learned.per_day == 3


def test_without_a_model_every_one_of_the_provider_is_forgotten(quotas: Quotas) -> None:
    keys = [_refused(quotas, FAST), _refused(quotas, STRONG)]
    result = _forget("gemini")
    assert result.exit_code == 0
    assert f"gemini {FAST}" in result.stdout
    for key in keys:
        quotas.reserve(key, LIMITS, purpose="fresh")


def test_an_account_can_be_named(quotas: Quotas) -> None:
    key = _refused(quotas, FAST, "team-a")
    assert _forget("gemini", FAST, "--account", "team-a", TOUCHSTONE_SECRET_ID=None).exit_code == 0
    quotas.reserve(key, LIMITS, purpose="fresh")


def test_the_registrys_own_label_of_an_account_is_known(quotas: Quotas) -> None:
    key = _refused(quotas, FAST, "team-a")
    overrides = json.dumps({"gemini": {"account": "team-a"}})
    assert _forget("gemini", TOUCHSTONE_REGISTRY_OVERRIDES=overrides, TOUCHSTONE_SECRET_ID=None).exit_code == 0
    quotas.reserve(key, LIMITS, purpose="fresh")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gemni",), "There is no provider gemni in the registry; it has "),
        (
            ("gemini", "gemini-9"),
            f"There is no model gemini-9 of gemini in the registry; it has {', '.join(MODELS)}.",
        ),
        (("gemini", STRONG), f"Nothing was ever asked of {STRONG} of gemini on the account {ACCOUNT}."),
        (("gemini", "--account", "team-b"), "Nothing was ever asked of any model of gemini on the account team-b."),
        (("openai",), "The deployment's secret has no key of openai; name the account with --account."),
    ],
)
def test_what_is_unknown_is_named(quotas: Quotas, arguments: tuple[str, ...], words: str) -> None:
    _refused(quotas, FAST)
    result = _forget(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.parametrize(
    ("env", "code", "words"),
    [
        ({"TOUCHSTONE_TABLE": None}, 2, "Set TOUCHSTONE_TABLE"),
        ({"TOUCHSTONE_SECRET_ID": None}, 2, "Set TOUCHSTONE_SECRET_ID"),
        ({"TOUCHSTONE_SECRET_ID": "other"}, 4, "could not be read (ResourceNotFoundException)"),
        ({"TOUCHSTONE_TABLE": "other"}, 4, "The store could not"),
    ],
)
def test_what_an_operator_must_set_is_named(quotas: Quotas, env: dict[str, str | None], code: int, words: str) -> None:
    result = _forget("gemini", **env)
    assert result.exit_code == code
    assert words in result.stderr


@pytest.mark.parametrize("text", [KEY, f'["{KEY}"]', '{"GEMINI_API_KEY": 7}'])
def test_a_secret_that_holds_something_else_is_said_without_it(quotas: Quotas, text: str) -> None:
    _secret(text)
    result = _forget("gemini")
    assert result.exit_code == 2
    assert "must be one JSON object of strings" in result.stderr
    assert KEY not in result.output
