"""What a deployment is told from outside: read once from the CDK context, checked, then passed down."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from infra.layers import Architecture
from touchstone.errors import SettingsError
from touchstone.operations.retention import RETENTION, retention_of
from touchstone.records.counters import COUNT_SHARDS, MOST_COUNT_SHARDS, SHARDS_SETTING

ASSETS_BUCKET = "touchstone-assets"
"""Where the code lies when the CDK does not publish it: on a laptop, where bucket names are one's own."""
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
        "TOUCHSTONE_DRAINS",
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
"""Variables of the functions that whoever deploys may set; all others are the stack's own."""


API_RATE = 100
MOST_API_RATE = 10_000
"""What API Gateway lets through in an account and region, unless more was asked for."""
BATCH_CONCURRENCY = 3
INTAKE_CONCURRENCY = 2
"""The least that SQS knows."""
MOST_DRAINS = 32
"""Twenty calls each; more would ask for more functions than most accounts run."""
MOST_AT_ONCE = 1000
"""What SQS allows, and all that an account runs at once unless it asked for more."""
_ZONE = re.compile(r"[a-z]{2}(-[a-z]+)+-\d[a-z]")


class ContextError(Exception):
    """A value of the CDK context is wrong; the sentence names it and says what it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One deployment.

    `local`: on a laptop, where data may go with the stack. `environment`: variables of `PASSED_THROUGH` for every
    function. `alarm_email`: who is told by the alarms, None for nobody but the topic. `zones`: those of the sandbox's
    subnets, empty for the account's first two.

    `batch_concurrency`: how many functions one batch, experiment, contest or audit has at work at once.
    `intake_concurrency`: how many messages are in work at once. The defaults leave half of a new account's ten to who
    waits. `api_concurrency`: executions reserved for each function that callers wait for, and the most it may have;
    None where nothing is reserved, as an account of ten allows no other way. `api_rate`: requests a second that the API
    lets through. `start_rate`: of those, the ones to each route that starts an execution; None: as many as to others.

    `table` and `bucket` are the names of an earlier stack's, which this one goes on with; None where it makes its own.
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
        """How many drains go side by side."""
        return int(self.environment.get("TOUCHSTONE_DRAINS", "1"))

    @property
    def purges(self) -> bool:
        """Whether any kind of record is to be removed some day."""
        return bool(retention_of(self.environment.get(RETENTION, "")))


def read(context: Callable[[str], Any]) -> Settings:
    """The settings in a CDK context, where each is `touchstone:` and the words that docs/how-to/deploy.md lists.

    Raises `ContextError`.
    """
    return Settings(
        stack_name=str(context("touchstone:stack") or "Touchstone"),
        architecture=_architecture(context("touchstone:architecture") or "arm64"),
        local=str(context("touchstone:local") or "").lower() == "true",
        environment=_environment(context("touchstone:environment")),
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
    """A whole number up to `most`, None where it is not given."""
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


def _environment(given: Any) -> dict[str, str]:
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
    whole = (("TOUCHSTONE_DRAINS", 1, MOST_DRAINS), (SHARDS_SETTING, COUNT_SHARDS, MOST_COUNT_SHARDS))
    for name, least, most in whole:
        told = str(variables.get(name, least))
        if not told.isdecimal() or not least <= int(told) <= most:
            raise ContextError(f"{name} is {told!r}; it may be a whole number from {least} to {most}.")
    try:
        retention_of(str(variables.get(RETENTION, "")))
    except SettingsError as error:
        raise ContextError(str(error)) from None
    return {name: str(value) for name, value in variables.items()}
