"""What only an operator can do: the one place of the command that works on the table itself."""

import os
from typing import TYPE_CHECKING

from touchstone.errors import ConflictError, SettingsError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

TABLE_VARIABLE = "TOUCHSTONE_TABLE"
FIRST_TOKEN = "first admin token"  # noqa: S105 - a token's name


def new_tenant(tenant: str, *, name: str) -> str:
    """Create a tenant; returns its first admin token. A run that broke off in between is finished by a repeat.

    Raises `SettingsError` without a table, AWS credentials or a region, `InputError` for a malformed id,
    `ConflictError` where the id is taken, `StoreError` where the table cannot be used.
    """
    from touchstone.records import Tenants, Tokens

    table = _table()
    tokens = Tokens(table)
    try:
        Tenants(table).create(tenant=tenant, name=name)
    except ConflictError:
        if tokens.list(tenant):
            raise
    token, _ = tokens.issue(tenant=tenant, role="admin", name=FIRST_TOKEN)
    return token


def _table() -> "Table":
    name = os.environ.get(TABLE_VARIABLE, "").strip()
    if not name:
        raise SettingsError(f"No table is named: set {TABLE_VARIABLE} to the deployment's table, and AWS credentials.")
    import boto3

    session = boto3.Session()
    if session.region_name is None:
        raise SettingsError("No AWS region is set: set AWS_REGION or AWS_DEFAULT_REGION to the deployment's.")
    if session.get_credentials() is None:
        raise SettingsError("There are no AWS credentials: set AWS_PROFILE, or run `aws configure`.")
    return session.resource("dynamodb").Table(name)
