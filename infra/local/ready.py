"""A local cloud that is ready for calls: started, with the stack deployed, a tenant with a token, and judges' keys."""

import contextlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra.local import deployment, emulator
from infra.local.deployment import client, connection
from infra.local.home import Home, Running

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

TENANT = "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCloud:
    """A local cloud with the stack deployed into it, and a token to call it with."""

    running: Running
    outputs: dict[str, str]
    token: str
    judge_keys: tuple[str, ...]

    @property
    def api_url(self) -> str:
        """The API's base URL."""
        return api_url(self.running, self.outputs)


def api_url(running: Running, outputs: dict[str, str]) -> str:
    """The API's base URL, in a form that every client resolves: some clients fail at `*.localhost` names."""
    return f"{running.endpoint}/_aws/execute-api/{outputs['ApiId']}"


def bring_up(home: Home, *, wait_scale: str = "1", kept: bool = True) -> ReadyCloud:
    """Start the cloud if it does not run, and deploy the changes; `kept` as in `emulator.start`.

    Raises `CloudError`, `BuildError` or `ToolMissingError`.
    """
    running = emulator.start(home, wait_scale=wait_scale, kept=kept)
    outputs = deployment.deploy(home, running)
    token = ensure_token(home, running, outputs)
    keys = put_judge_keys(home, running, outputs)
    return ReadyCloud(running=running, outputs=outputs, token=token, judge_keys=keys)


def ensure_token(home: Home, running: Running, outputs: dict[str, str]) -> str:
    """The demo tenant's admin token: the one in the token file if it is valid, else a new one, written there."""
    from touchstone.errors import ConflictError, UnauthenticatedError
    from touchstone.records import Tenants, Tokens

    table = _table(home, running, outputs)
    tokens = Tokens(table)
    try:
        token = home.token_file.read_text(encoding="utf-8").strip()
        tokens.resolve(token)
    except (OSError, UnauthenticatedError):
        with contextlib.suppress(ConflictError):  # the tenant outlived its token file
            Tenants(table).create(tenant=TENANT, name="Demo")
        token, _ = tokens.issue(tenant=TENANT, role="admin", name="touchstone-local")
        home.token_file.unlink(missing_ok=True)
        descriptor = os.open(home.token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(token + "\n")
    return token


def put_judge_keys(home: Home, running: Running, outputs: dict[str, str]) -> tuple[str, ...]:
    """Store the judges' keys of this process's environment where the functions read them. Return their names."""
    from touchstone.judges.registry import load_registry

    variables = {name for provider in load_registry().providers.values() for name in provider.key_variables}
    keys = {name: value for name in sorted(variables) if (value := os.environ.get(name, "").strip())}
    secrets = client("secretsmanager", running, home)
    secret_id = outputs["JudgeKeysSecretArn"]
    wanted = json.dumps(keys)
    if secrets.get_secret_value(SecretId=secret_id).get("SecretString") != wanted:
        secrets.put_secret_value(SecretId=secret_id, SecretString=wanted)
    return tuple(keys)


def _table(home: Home, running: Running, outputs: dict[str, str]) -> "Table":
    import boto3

    resource: Any = boto3.resource("dynamodb", **connection(running, home))
    table: Table = resource.Table(outputs["TableName"])
    return table
