"""Creating tenants, on the table itself."""

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from tests.support.table import TABLE_NAME
from touchstone.cli.app import app
from touchstone.records import Tenants, Tokens

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


def _create(*arguments: str, **env: str | None) -> Result:
    variables = {"TOUCHSTONE_TABLE": TABLE_NAME, **env}
    return CliRunner(env=variables).invoke(app, ["tenants", "create", *arguments])


def test_a_tenant_gets_its_first_admin_token_once(table: "Table") -> None:
    result = _create("acme", "--name", "Acme School")
    assert result.exit_code == 0
    identity = Tokens(table).resolve(result.stdout.strip())
    assert (identity.tenant, identity.role) == ("acme", "admin")
    assert Tenants(table).get("acme").name == "Acme School"
    again = _create("acme", "--name", "Acme School")
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == "Error: The tenant acme exists already.\n"


def test_a_run_that_broke_off_is_finished_by_a_repeat(table: "Table") -> None:
    Tenants(table).create(tenant="acme", name="Acme")
    found = json.loads(_create("acme", "--name", "Acme", "--json").stdout)
    assert Tokens(table).resolve(found["token"]).tenant == found["tenant"] == "acme"


@pytest.mark.parametrize("tenant", ["Acme", "a", "../x", "a#b"])
def test_an_id_that_is_malformed_is_refused(table: "Table", tenant: str) -> None:
    assert _create(tenant, "--name", "x").exit_code == 2
    assert Tenants(table).ids() == ()


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (("TOUCHSTONE_TABLE",), "set TOUCHSTONE_TABLE"),
        (("AWS_DEFAULT_REGION", "AWS_REGION"), "No AWS region is set"),
        (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "There are no AWS credentials"),
    ],
)
def test_what_an_operator_must_set_is_named(table: "Table", missing: tuple[str, ...], words: str) -> None:
    nowhere = {"AWS_CONFIG_FILE": "/none", "AWS_SHARED_CREDENTIALS_FILE": "/none", "AWS_EC2_METADATA_DISABLED": "true"}
    result = _create("acme", "--name", "x", **nowhere, **dict.fromkeys(missing))
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_table_that_is_not_there_is_a_fault_of_the_service(table: "Table") -> None:
    result = _create("acme", "--name", "x", TOUCHSTONE_TABLE="other")
    assert result.exit_code == 4
    assert "The store could not" in result.stderr
