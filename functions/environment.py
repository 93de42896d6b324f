"""The environment variables of a function, read once and checked on first use."""

import json
import os
import re
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from touchstone.errors import SettingsError
from touchstone.operations.retention import RETENTION, RetainedKind, retention_of
from touchstone.strict import fault_sentence

DRAINS = "TOUCHSTONE_DRAINS"
MOST_DRAINS = 32
"""Each drain makes twenty calls at once; more drains would need more functions than most accounts can run."""
_MACHINE = re.compile(r"TOUCHSTONE_([A-Z_]+)_MACHINE_ARN")


def _json(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


def _retention(value: object) -> object:
    return retention_of(value) if isinstance(value, str) else value


class Environment(BaseModel):
    """The environment variables of docs/concepts/environment.md.

    If a function needs a variable that is not set, it fails when it first uses the variable.
    """

    model_config = ConfigDict(frozen=True)

    table: str | None = Field(default=None, validation_alias="TOUCHSTONE_TABLE")
    idempotency_table: str | None = Field(default=None, validation_alias="TOUCHSTONE_IDEMPOTENCY_TABLE")
    bucket: str | None = Field(default=None, validation_alias="TOUCHSTONE_BUCKET")
    deferred_queue_url: str | None = Field(default=None, validation_alias="TOUCHSTONE_DEFERRED_QUEUE_URL")
    intake_queue_url: str | None = Field(default=None, validation_alias="TOUCHSTONE_INTAKE_QUEUE_URL")
    sandbox_function: str | None = Field(default=None, validation_alias="TOUCHSTONE_SANDBOX_FUNCTION")
    event_bus: str | None = Field(default=None, validation_alias="TOUCHSTONE_EVENT_BUS")
    secret_id: str | None = Field(default=None, validation_alias="TOUCHSTONE_SECRET_ID")
    keys_kept_seconds: int = Field(default=300, ge=0, validation_alias="TOUCHSTONE_KEYS_KEPT_SECONDS")
    daily_ceiling_usd: float = Field(default=5.0, ge=0.0, validation_alias="TOUCHSTONE_DAILY_CEILING_USD")
    fresh_share: float = Field(default=0.1, ge=0.0, le=1.0, validation_alias="TOUCHSTONE_FRESH_SHARE")
    batches: Literal["on", "off"] = Field(default="on", validation_alias="TOUCHSTONE_BATCHES")
    keep_prompts: Literal["on", "off"] = Field(default="on", validation_alias="TOUCHSTONE_KEEP_PROMPTS")
    batch_days: float = Field(default=7.0, ge=0.0, le=10.0, validation_alias="TOUCHSTONE_BATCH_DAYS")
    drains: int = Field(default=1, ge=1, le=MOST_DRAINS, validation_alias=DRAINS)
    quota_lease: int = Field(default=200, ge=1, le=1_000, validation_alias="TOUCHSTONE_QUOTA_LEASE")
    quota_share: float = Field(default=1.0, gt=0.0, le=1.0, validation_alias="TOUCHSTONE_QUOTA_SHARE")
    tenant_share: float = Field(default=0.5, gt=0.0, le=1.0, validation_alias="TOUCHSTONE_TENANT_SHARE")

    explore_share: float = Field(default=0.05, ge=0.0, le=1.0, validation_alias="TOUCHSTONE_EXPLORE_SHARE")
    retention_days: Annotated[dict[RetainedKind, int], BeforeValidator(_retention)] = Field(
        default={}, validation_alias=RETENTION
    )

    subject_provider_map: Annotated[dict[str, str], BeforeValidator(_json)] = Field(
        default={}, validation_alias="SUBJECT_PROVIDER_MAP"
    )

    machines: dict[str, str] = {}
    """The ARNs of the state machines that this function may start, by name, from `TOUCHSTONE_<NAME>_MACHINE_ARN`."""

    def require(self, name: str) -> str:
        """The value of a variable that must be set. Raises `SettingsError` naming it."""
        value = getattr(self, name)
        if not value:
            variable = type(self).model_fields[name].validation_alias
            raise SettingsError(f"{variable} is not set for this function; the stack sets it when it is deployed.")
        return str(value)


def _machines() -> dict[str, str]:
    named = ((_MACHINE.fullmatch(variable), arn) for variable, arn in os.environ.items())
    return {found[1].lower(): arn for found, arn in named if found is not None}


@cache
def environment() -> Environment:
    """The environment of this process."""
    try:
        return Environment.model_validate({**os.environ, "machines": _machines()})
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingsError(f"The environment variable {fault_sentence(first)}.") from None
