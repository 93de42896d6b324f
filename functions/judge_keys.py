"""The judges' keys of a deployment: one secret, a JSON object of variable names and values."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from functions.environment import environment
from touchstone.errors import StoreError
from touchstone.judges.keys import EnvironmentKeys, keys_in

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    from touchstone.judges.keys import Place
    from touchstone.judges.registry import Registry

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
"""The variable that is set if another service stands in for AWS: a local cloud sets it for its functions."""


class DeploymentKeys:
    """The keys in the deployment's secret, read again once they are older than the environment allows (300 s)."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @property
    def place(self) -> Place:
        """Where the keys are set: in the secret, which a local cloud ("laptop") fills when it is brought up."""
        return "laptop" if ENDPOINT_VARIABLE in os.environ else "deployment"

    def get(self, provider: str) -> str | None:
        """The key of a provider; None if the secret has none.

        Raises `StoreError` if the secret cannot be read, and `SettingsError` if it holds something other than keys.
        """
        return EnvironmentKeys(self._registry, stored_keys()).get(provider)


def stored_keys() -> dict[str, str]:
    """The keys in the secret, by variable name; empty if the secret is empty. Raises as `DeploymentKeys.get`."""
    from aws_lambda_powertools.utilities.parameters import GetParameterError

    name = environment().require("secret_id")
    try:
        secret = _secrets().get(name, max_age=environment().keys_kept_seconds)
    except GetParameterError:
        # The error's own words come from the service and could name keys, so they are left out.
        raise StoreError(
            "The secret of the judges' keys could not be read; it is safe to repeat. "
            "If it stays so, check that TOUCHSTONE_SECRET_ID names a secret that this function may read."
        ) from None
    return keys_in(secret or b"{}")


@cache
def _secrets() -> SecretsProvider:
    import boto3
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    from functions.clients import for_secrets

    # The client comes from boto3's default session: a new session would read boto3's data on services once more.
    return SecretsProvider(boto3_client=boto3.client("secretsmanager", config=for_secrets()))
