"""The stores of a deployment, for its operator: they are reached with AWS credentials, without the API or a token."""

import os
from typing import TYPE_CHECKING, Any

from touchstone.errors import NotFoundError, SettingsError, StoreError
from touchstone.extras import install_command
from touchstone.judges.keys import SECRET_VARIABLE, keys_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3 import Session
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client

    from touchstone.records import Artifacts, Tenant
    from touchstone.records.objects import TenantObjects

TABLE_VARIABLE = "TOUCHSTONE_TABLE"
BUCKET_VARIABLE = "TOUCHSTONE_BUCKET"
MOST_NAMED = 20
"""How many tenants a sentence names: with more it would be hard to read."""


def table() -> "Table":
    """The table of all records. Raises `SettingsError` if its name, AWS credentials or a region is not set."""
    name = _setting(TABLE_VARIABLE, "table (the output TableName)")
    from touchstone.records.table import repeating_conflicts

    return repeating_conflicts(_session().resource("dynamodb").Table(name))


def artifacts(root: str = "artifacts") -> "Artifacts":
    """The artifacts in a folder of the bucket, by default the bodies of long records. Raises as `table`."""
    from touchstone.records import Artifacts

    return Artifacts(*_bucket(), root=root)


def objects() -> "TenantObjects":
    """The objects of all tenants, in all folders of the bucket. Raises as `table`."""
    from touchstone.records.objects import TenantObjects

    return TenantObjects(*_bucket())


def judge_keys() -> dict[str, str]:
    """The keys of the deployment's judges by the names of their variables. They are secrets and are never shown.

    Raises as `table`, and `StoreError` if the secret cannot be read.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    name = _setting(SECRET_VARIABLE, "secret of the judges' keys (the output JudgeKeysSecretArn)")
    try:
        found = _session().client("secretsmanager").get_secret_value(SecretId=name)
    except (BotoCoreError, ClientError) as error:
        raise StoreError(
            f"The secret that {SECRET_VARIABLE} names could not be read ({_kind(error)}); it is safe to repeat."
        ) from None
    return keys_in(found.get("SecretString") or "{}")


def known_tenant(records: "Table", tenant: str, *, in_deletion: bool = False) -> "Tenant":
    """The tenant with this id, with `in_deletion` also one that is being deleted.

    Raises `NotFoundError` if it does not exist. The sentence names the tenants that do.
    """
    from touchstone.records import Tenants

    tenants = Tenants(records)
    try:
        return tenants.get(tenant, in_deletion=in_deletion)
    except NotFoundError:
        known = tenants.ids()
        if tenant in known:
            raise
        more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
        there = f"there are {', '.join(known[:MOST_NAMED])}{more}" if known else "there is none yet"
        raise NotFoundError(f"There is no tenant {tenant}; {there}.") from None


def _bucket() -> "tuple[Callable[[], S3Client], str]":
    """What gives a client of S3, and the name of the bucket."""
    name = _setting(BUCKET_VARIABLE, "bucket (the output BucketName)")
    s3 = _session().client("s3")
    return lambda: s3, name


def _setting(variable: str, what: str) -> str:
    found = os.environ.get(variable, "").strip()
    if not found:
        raise SettingsError(f"Set {variable} to the name of the deployment's {what}, and AWS credentials.")
    return found


def _session() -> "Session":
    try:
        import boto3
    except ImportError:
        raise SettingsError(f"This command needs boto3: {install_command('aws')}, or run it in the checkout.") from None
    # AWS_REGION is the variable of all other SDKs and of Lambda. boto3 does not read it.
    session = boto3.Session(region_name=os.environ.get("AWS_REGION", "").strip() or None)
    if session.region_name is None:
        raise SettingsError("No AWS region is set: set AWS_REGION or AWS_DEFAULT_REGION to the deployment's.")
    if session.get_credentials() is None:
        raise SettingsError("There are no AWS credentials: set AWS_PROFILE, or run `aws configure`.")
    return session


def _kind(error: Any) -> str:
    """The kind of an error in one word: the code of the service, or the name of botocore's error."""
    return getattr(error, "response", {}).get("Error", {}).get("Code") or type(error).__name__
