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
"""Set where something else stands for AWS: a local cloud sets it for the functions in it."""


class DeploymentKeys:
    """The keys in the deployment's secret, read again once they are older than the environment says (five minutes)."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @property
    def place(self) -> Place:
        """In the secret; that of a local cloud is written when it is brought up."""
        return "laptop" if ENDPOINT_VARIABLE in os.environ else "deployment"

    def get(self, provider: str) -> str | None:
        """The key of a provider, None where the secret has none.

        Raises `StoreError` where the secret cannot be read, `SettingsError` for one that holds something else.
        """
        return EnvironmentKeys(self._registry, stored_keys()).get(provider)


def stored_keys() -> dict[str, str]:
    """What the secret holds; empty for an empty one. Raises as `DeploymentKeys.get`."""
    from aws_lambda_powertools.utilities.parameters import GetParameterError

    name = environment().require("secret_id")
    try:
        secret = _secrets().get(name, max_age=environment().keys_kept_seconds)
    except GetParameterError:
        # Its own words are those of the service; what is left out of them here could name keys.
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

    # A client of the session that is there already: one of its own would read what boto3 knows of services once more.
    return SecretsProvider(boto3_client=boto3.client("secretsmanager", config=for_secrets()))
