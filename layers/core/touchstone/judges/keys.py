"""Where the judges' keys come from. A key is a secret: it is handed to an adapter and shown nowhere."""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Literal, Protocol

from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges.registry import Provider, Registry

SECRET_VARIABLE = "TOUCHSTONE_SECRET_ID"  # noqa: S105 - the name of a variable that names a secret

FINGERPRINT_DIGITS = 12
"""Hex digits of an account's fingerprint. 48 bits: two keys of one deployment never share an account, and no key can be
guessed from its account."""

KEYLESS_ACCOUNT = "keyless"


USUAL_VARIABLES = ("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
"""The variables that are named when any provider would do."""
ENDPOINT_VARIABLES = "TOUCHSTONE_COMPATIBLE_BASE_URL and TOUCHSTONE_COMPATIBLE_MODEL"

type Place = Literal["environment", "laptop", "deployment"]
"""Where keys are set: in the environment of the process that asks, in the environment of the command that brings up the
local cloud, or in a deployment's secret."""


class Keys(Protocol):
    """A source of keys."""

    @property
    def place(self) -> Place:
        """Where its keys are set."""
        ...

    def get(self, provider: str) -> str | None:
        """The provider's key, None when there is none."""
        ...


class EnvironmentKeys:
    """Keys from environment variables, named by the registry (`GEMINI_API_KEY`, `OPENAI_API_KEY`, …)."""

    place: Place = "environment"

    def __init__(self, registry: Registry, environ: Mapping[str, str] | None = None) -> None:
        self._registry = registry
        self._environ = os.environ if environ is None else environ

    def get(self, provider: str) -> str | None:
        """The value of the first of the provider's variables that is not empty, without surrounding white space.

        None if all of them are empty.
        """
        for variable in self._registry.provider(provider).key_variables:
            if key := self._environ.get(variable, "").strip():
                return key
        return None


def keys_in(secret: str | bytes | dict[str, str]) -> dict[str, str]:
    """The keys in a deployment's secret, by their variables.

    Raises `SettingsError` if it is no JSON object of strings.
    """
    try:
        keys = secret if isinstance(secret, dict) else json.loads(secret)
    except ValueError:
        keys = None
    if not isinstance(keys, dict) or not all(isinstance(value, str) for value in keys.values()):
        raise SettingsError(
            f"The secret that {SECRET_VARIABLE} names must be one JSON object of strings, "
            'as in {"GEMINI_API_KEY": "…"}; write it anew.'
        )
    return keys


def missing_key(provider: Provider, place: Place) -> MisconfiguredError:
    """The error for a provider that is asked but has no key. It names the provider, and where to set the key."""
    remedy = _where(place, " or ".join(provider.key_variables))
    return MisconfiguredError(f"No key for {provider.name}: {remedy}.", sent=False)


def remedy(place: Place) -> str:
    """What to do if no provider has a key, as the end of a sentence."""
    *most, last = USUAL_VARIABLES
    usual = _where(place, f"{', '.join(most)} or {last}")
    match place:
        case "deployment":
            return f"{usual}, or deploy it with {ENDPOINT_VARIABLES} for an endpoint of your own"
        case _:
            return f"{usual} (or {ENDPOINT_VARIABLES} for an endpoint of your own)"


def _where(place: Place, variables: str) -> str:
    match place:
        case "environment":
            return f"set {variables} in the environment"
        case "laptop":
            return f"run `touchstone-local up` again with {variables} in the environment"
        case "deployment":
            return f"put {variables} into the deployment's secret (its output JudgeKeysSecretArn)"


def account_of(provider: Provider, key: str | None) -> str:
    """The account whose quota a call uses: the configured label, else an irreversible fingerprint of the key."""
    if provider.account is not None:
        return provider.account
    if key is None:
        return KEYLESS_ACCOUNT
    return hashlib.sha256(b"touchstone account\0" + key.encode()).hexdigest()[:FINGERPRINT_DIGITS]
