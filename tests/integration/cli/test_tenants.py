"""What an operator does to tenants, on the table itself: create, bound what they spend, count them again."""

import json
import sys
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from tests.support.aws import REGION
from tests.support.commands import TenantCommand
from tests.support.records import an_answer, finished
from tests.support.table import TABLE_NAME
from touchstone.budgets import Spending
from touchstone.cli.app import app
from touchstone.errors import SpendingCeilingError
from touchstone.records import Answers, Artifacts, Tenants, Tokens

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

BUCKET = "artifacts"


def _tenants(*arguments: str, **env: str | None) -> Result:
    variables = {"TOUCHSTONE_TABLE": TABLE_NAME, "TOUCHSTONE_BUCKET": BUCKET, **env}
    return CliRunner(env=variables).invoke(app, ["tenants", *arguments])


@pytest.fixture
def acme(table: "Table") -> "Table":
    """The table with two tenants."""
    for tenant in ("acme", "rival"):
        Tenants(table).create(tenant=tenant, name=tenant)
    return table


@pytest.fixture
def counted(acme: "Table") -> "Table":
    """… and with answers of both, counted."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    answers = Answers(acme, Artifacts(lambda: s3, BUCKET))
    for tenant in ("acme", "acme", "rival"):
        finished(answers, an_answer(tenant=tenant))
    return acme


def test_a_tenant_gets_its_first_admin_token_once(table: "Table") -> None:
    result = _tenants("create", "acme", "--name", "Acme School")
    assert result.exit_code == 0
    identity = Tokens(table).resolve(result.stdout.strip())
    assert (identity.tenant, identity.role) == ("acme", "admin")
    assert Tenants(table).get("acme").name == "Acme School"
    again = _tenants("create", "acme", "--name", "Acme School")
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == "Error: The tenant acme exists already.\n"


def test_a_run_that_broke_off_is_finished_by_a_repeat(table: "Table") -> None:
    Tenants(table).create(tenant="acme", name="Acme")
    found = json.loads(_tenants("create", "acme", "--name", "Acme", "--json").stdout)
    assert Tokens(table).resolve(found["token"]).tenant == found["tenant"] == "acme"


@pytest.mark.parametrize("tenant", ["Acme", "a", "../x", "a#b"])
def test_an_id_that_is_malformed_is_refused(table: "Table", tenant: str) -> None:
    assert _tenants("create", tenant, "--name", "x").exit_code == 2
    assert Tenants(table).ids() == ()


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (("TOUCHSTONE_TABLE",), "Set TOUCHSTONE_TABLE"),
        (("AWS_DEFAULT_REGION", "AWS_REGION"), "No AWS region is set"),
        (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "There are no AWS credentials"),
    ],
)
def test_what_an_operator_must_set_is_named(table: "Table", missing: tuple[str, ...], words: str) -> None:
    nowhere = {"AWS_CONFIG_FILE": "/none", "AWS_SHARED_CREDENTIALS_FILE": "/none", "AWS_EC2_METADATA_DISABLED": "true"}
    result = _tenants("create", "acme", "--name", "x", **nowhere, **dict.fromkeys(missing))
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize("arguments", [("create", "acme", "--name", "x"), ("ceiling", "acme"), ("recount", "acme")])
def test_an_installation_without_boto3_is_told_so(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    result = _tenants(*arguments)
    assert result.exit_code == 2
    assert "pip install 'touchstone-verdicts[aws]'" in result.stderr


def test_the_region_may_be_named_by_either_variable(table: "Table") -> None:
    assert _tenants("create", "acme", "--name", "x", AWS_DEFAULT_REGION=None, AWS_REGION=REGION).exit_code == 0


@pytest.mark.parametrize("arguments", [("create", "acme", "--name", "x"), ("ceiling", "acme"), ("recount", "acme")])
def test_a_table_that_is_not_there_is_a_fault_of_the_service(table: "Table", arguments: tuple[str, ...]) -> None:
    result = _tenants(*arguments, TOUCHSTONE_TABLE="other")
    assert result.exit_code == 4
    assert "The store could not" in result.stderr


def test_a_ceiling_of_its_own_is_set_shown_and_taken_away(acme: "Table") -> None:
    shown = _tenants("ceiling", "acme")
    assert shown.exit_code == 0
    assert "the deployment's (TOUCHSTONE_DAILY_CEILING_USD)" in shown.stdout
    assert "$20.00" in _tenants("ceiling", "acme", "20").stdout
    found = json.loads(_tenants("ceiling", "acme", "--json").stdout)
    assert found == {
        "tenant": "acme",
        "ceiling_usd": 20.0,
        "spent_usd": 0.0,
        "reserved_usd": 0.0,
        "unpriced_calls": 0,
    }
    assert Spending(acme).ceiling("rival") is None
    assert json.loads(_tenants("ceiling", "acme", "--default", "--json").stdout)["ceiling_usd"] is None
    assert Spending(acme).ceiling("acme") is None


def test_a_ceiling_of_nothing_lets_nothing_through_that_costs(acme: "Table") -> None:
    assert _tenants("ceiling", "acme", "0").exit_code == 0
    spending = Spending(acme)
    with pytest.raises(SpendingCeilingError):
        spending.reserve("acme", 0.01, spending.ceiling("acme"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("acmee", "20"), "There is no tenant acmee; there are acme, rival."),
        (("acme", "-5"), "usd: An amount of money must be a number of US dollars from 0 up, not -5.0."),
        (("acme", "nan"), "not nan"),
        (("acme", "inf"), "not inf"),
        (("acme", "ten"), "should be a valid number"),
        (("acme", "20", "--default"), "Either an amount or --default, not both."),
    ],
)
def test_a_ceiling_that_is_none_changes_nothing(acme: "Table", arguments: tuple[str, ...], words: str) -> None:
    Spending(acme).set_ceiling("acme", 7.0)
    result = _tenants("ceiling", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert Spending(acme).ceiling("acme") == 7.0


def test_a_tenant_sees_its_ceiling(touchstone: TenantCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "$5.00" in touchstone("budget", role="reader").stdout
    assert _tenants("ceiling", "acme", "12.5").exit_code == 0
    assert "$12.50" in touchstone("budget", role="reader").stdout
    assert json.loads(touchstone("budget", "--json", role="reader").stdout)["ceiling_usd"] == 12.5


def test_a_first_tenant_is_asked_for_where_there_is_none(table: "Table") -> None:
    assert _tenants("ceiling", "acme").stderr == "Error: There is no tenant acme; there is none yet.\n"


def test_of_many_tenants_twenty_are_named(table: "Table") -> None:
    for number in range(22):
        Tenants(table).create(tenant=f"t{number:02}", name="x")
    assert "t18, t19 and 2 more." in _tenants("recount", "acme").stderr


def _items(table: "Table") -> list[Any]:
    return sorted(table.scan()["Items"], key=lambda item: (str(item["pk"]), str(item["sk"])))


def test_counters_that_are_right_stay_as_they_are(counted: "Table") -> None:
    before = _items(counted)
    result = _tenants("recount", "acme")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Records counted: 2. Numbers that were wrong: 0." in result.stderr
    assert json.loads(_tenants("recount", "acme", "--json").stdout) == {
        "tenant": "acme",
        "records": 2,
        "differences": [],
    }
    assert _items(counted) == before


def test_r23_what_was_counted_wrongly_is_shown_and_mended(counted: "Table") -> None:
    before = _items(counted)
    day = next(item for item in before if "#COUNTS#" in str(item["pk"]) and str(item["sk"]).startswith("DAY#"))
    spoilt = {name: value for name, value in day.items() if name != "spend_micro_usd"} | {"status_caution": 3}
    counted.put_item(Item=spoilt)
    counted.put_item(Item={"pk": "T#acme#SUGGESTIONS", "sk": "ab12", "text": "Nobody's", "count": 4})
    result = _tenants("recount", "acme", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)["differences"]
    counter = f"{str(day['pk']).removeprefix('T#acme#')} {day['sk']}"
    assert {"counter": counter, "field": "status_caution", "was": 3, "is": None} in found
    assert {"counter": "SUGGESTIONS ab12", "field": "text", "was": "Nobody's", "is": None} in found
    assert _items(counted) == before
    again = _tenants("recount", "acme")
    assert again.exit_code == 0
    counted.put_item(Item=spoilt)
    shown = _tenants("recount", "acme")
    assert shown.exit_code == 1
    assert "status_caution" in shown.stdout


def test_a_recount_needs_the_bucket(counted: "Table") -> None:
    result = _tenants("recount", "acme", TOUCHSTONE_BUCKET=None)
    assert result.exit_code == 2
    assert "Set TOUCHSTONE_BUCKET" in result.stderr
