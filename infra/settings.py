"""The settings of a deployment: read once from the CDK context, checked, then passed down."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from functions.environment import DRAINS, MOST_DRAINS
from infra.layers import Architecture
from touchstone.errors import SettingsError
from touchstone.operations.retention import RETENTION, retention_of
from touchstone.records.counters import COUNT_SHARDS, MOST_COUNT_SHARDS, SHARDS_SETTING

ASSETS_BUCKET = "touchstone-assets"
"""The bucket of the code if the CDK does not publish it: on a laptop, where any bucket name is free."""
PASSED_THROUGH = frozenset(
    {
        "ANTHROPIC_BASE_URL",
        "GOOGLE_GEMINI_BASE_URL",
        "LLM_MODEL",
        "OPENAI_BASE_URL",
        "ORACLE_LLM_BASE_URL",
        "ORACLE_LLM_MODEL",
        "ORACLE_LLM_PROVIDER",
        "SUBJECT_PROVIDER_MAP",
        "TOUCHSTONE_BATCHES",
        "TOUCHSTONE_BATCH_DAYS",
        "TOUCHSTONE_CLOCK_OFFSET_SECONDS",
        SHARDS_SETTING,
        "TOUCHSTONE_COMPATIBLE_BASE_URL",
        "TOUCHSTONE_COMPATIBLE_MODEL",
        "TOUCHSTONE_COMPATIBLE_PRICE_IN",
        "TOUCHSTONE_COMPATIBLE_PRICE_OUT",
        "TOUCHSTONE_DAILY_CEILING_USD",
        DRAINS,
        "TOUCHSTONE_FRESH_SHARE",
        "TOUCHSTONE_KEEP_PROMPTS",
        "TOUCHSTONE_KEYS_KEPT_SECONDS",
        "TOUCHSTONE_QUOTA_LEASE",
        "TOUCHSTONE_QUOTA_SHARE",
        "TOUCHSTONE_REGISTRY_OVERRIDES",
        RETENTION,
        "TOUCHSTONE_TENANT_SHARE",
        "TOUCHSTONE_UNPRICED",
        "TOUCHSTONE_VERIFY_SECONDS",
        "TOUCHSTONE_AGREEMENT",
        "TOUCHSTONE_EXPLORE_SHARE",
    }
)
"""Variables of the functions that a deployment may set; the stack itself sets all others."""
MOST_ENVIRONMENT_BYTES = 2_048
"""The most bytes of their names and values. A function may have 4 KB of variables; the other half is the stack's own.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""


API_RATE = 100
MOST_API_RATE = 10_000
"""The requests per second that API Gateway allows an account in a region, unless it was granted more."""
BATCH_CONCURRENCY = 3
INTAKE_CONCURRENCY = 2
"""The least concurrency that SQS accepts."""
MOST_AT_ONCE = 1000
"""The most that SQS allows, and all that an account runs at once unless it was granted more."""
_ZONE = re.compile(r"[a-z]{2}(-[a-z]+)+-\d[a-z]")


class ContextError(Exception):
    """A value of the CDK context is wrong; the message names the value and says which values are allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One deployment.

    `local`: the deployment is on a laptop, where data may be removed with the stack. `environment`: variables of
    `PASSED_THROUGH` for every function. `alarm_email`: the address that the alarms notify; None if only the topic is
    notified. `zones`: the availability zones of the sandbox's subnets; empty for the account's first two.

    `batch_concurrency`: how many functions one batch, experiment, contest or audit runs at once. `intake_concurrency`:
    how many messages are processed at once. With the defaults, half of a new account's ten executions stay free for
    waiting callers. `api_concurrency`: the executions reserved for each function that callers wait for, which are also
    its most; None if nothing is reserved, the only way in an account of ten. `api_rate`: the requests per second that
    the API admits. `start_rate`: the requests per second to each route that starts an execution; None for no separate
    limit.

    `table` and `bucket`: the names of an earlier stack's table and bucket, which this stack uses; None if it creates
    its own.
    """

    stack_name: str = "Touchstone"
    architecture: Architecture = "arm64"
    local: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    alarm_email: str | None = None
    zones: tuple[str, ...] = ()
    batch_concurrency: int = BATCH_CONCURRENCY
    intake_concurrency: int = INTAKE_CONCURRENCY
    api_concurrency: int | None = None
    api_rate: int = API_RATE
    start_rate: int | None = None
    table: str | None = None
    bucket: str | None = None

    @property
    def drains(self) -> int:
        """How many drains run in parallel."""
        return int(self.environment.get(DRAINS, "1"))

    @property
    def purges(self) -> bool:
        """Whether records of any kind are ever removed."""
        return bool(retention_of(self.environment.get(RETENTION, "")))


def read(context: Callable[[str], Any]) -> Settings:
    """The settings in a CDK context. Their keys are `touchstone:` and the words listed in docs/how-to/deploy.md.

    Raises `ContextError` if a value is wrong.
    """
    local = str(context("touchstone:local") or "").lower() == "true"
    return Settings(
        stack_name=str(context("touchstone:stack") or "Touchstone"),
        architecture=_architecture(context("touchstone:architecture") or "arm64"),
        local=local,
        environment=_environment(context("touchstone:environment"), bounded=not local),
        alarm_email=context("touchstone:alarm-email") or None,
        zones=_zones(context("touchstone:zones") or ""),
        batch_concurrency=_whole(context, "touchstone:batch-concurrency", least=1) or BATCH_CONCURRENCY,
        intake_concurrency=_whole(context, "touchstone:intake-concurrency", least=2) or INTAKE_CONCURRENCY,
        api_concurrency=_whole(context, "touchstone:api-concurrency", least=1),
        api_rate=_whole(context, "touchstone:api-rate", least=1, most=MOST_API_RATE) or API_RATE,
        start_rate=_whole(context, "touchstone:start-rate", least=1, most=MOST_API_RATE),
        table=context("touchstone:table") or None,
        bucket=context("touchstone:bucket") or None,
    )


def _architecture(given: Any) -> Architecture:
    match given:
        case "arm64":
            return "arm64"
        case "x86_64":
            return "x86_64"
        case _:
            raise ContextError(f"touchstone:architecture is {given!r}; it may be arm64 or x86_64.")


def _whole(context: Callable[[str], Any], name: str, *, least: int, most: int = MOST_AT_ONCE) -> int | None:
    """A whole number from `least` to `most`; None if it is not given. Raises `ContextError` for any other value."""
    given = context(name)
    if given is None:
        return None
    if not str(given).isdecimal() or not least <= int(given) <= most:
        raise ContextError(f"{name} is {given!r}; it may be a whole number from {least} to {most}.")
    return int(given)


def _zones(given: str) -> tuple[str, ...]:
    zones = tuple(zone.strip() for zone in given.split(",") if zone.strip())
    if wrong := [zone for zone in zones if _ZONE.fullmatch(zone) is None]:
        raise ContextError(f"touchstone:zones names {wrong[0]!r}; a zone is written as eu-central-1a.")
    if len(set(zones)) != len(zones) or len(zones) == 1:
        raise ContextError("touchstone:zones must name two different zones or more: eu-central-1a,eu-central-1b.")
    return zones


def _environment(given: Any, *, bounded: bool) -> dict[str, str]:
    """The variables that a deployment sets. `bounded`: they must fit into what a function of AWS may have."""
    try:
        variables = json.loads(given) if isinstance(given, str) else (given or {})
    except json.JSONDecodeError as error:
        raise ContextError(f"touchstone:environment is not a JSON object: {error.msg}.") from None
    if not isinstance(variables, dict):
        raise ContextError("touchstone:environment must be a JSON object of variables.")
    if unknown := sorted(set(variables) - PASSED_THROUGH):
        raise ContextError(
            f"touchstone:environment may not set {', '.join(unknown)}; it may set {', '.join(sorted(PASSED_THROUGH))}."
        )
    whole = ((DRAINS, 1, MOST_DRAINS), (SHARDS_SETTING, COUNT_SHARDS, MOST_COUNT_SHARDS))
    for name, least, most in whole:
        told = str(variables.get(name, least))
        if not told.isdecimal() or not least <= int(told) <= most:
            raise ContextError(f"{name} is {told!r}; it may be a whole number from {least} to {most}.")
    try:
        retention_of(str(variables.get(RETENTION, "")))
    except SettingsError as error:
        raise ContextError(str(error)) from None
    # A value that is itself JSON may be written as JSON.
    written = {name: value if isinstance(value, str) else json.dumps(value) for name, value in variables.items()}
    size = sum(len(f"{name}{value}".encode()) for name, value in written.items())
    if bounded and size > MOST_ENVIRONMENT_BYTES:
        raise ContextError(
            f"touchstone:environment has {size:,} bytes of names and values; it may have {MOST_ENVIRONMENT_BYTES:,}, "
            "since Lambda gives a function 4 KB for all its variables."
        )
    return written
