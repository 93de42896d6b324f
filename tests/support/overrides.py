"""Variables that functions of a deployed stack are given for a test: another time, other models."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from touchstone.clock import OFFSET_VARIABLE

REGISTRY_VARIABLE = "TOUCHSTONE_REGISTRY_OVERRIDES"


def clock_at(moment: datetime) -> dict[str, str]:
    """The variable that makes functions believe that it is `moment` now."""
    offset: timedelta = moment - datetime.now(UTC)
    return {OFFSET_VARIABLE: f"{offset.total_seconds():.0f}"}


def own_model(*, tier: str, per_day: int | None = None, per_minute: int | None = None) -> tuple[str, dict[str, Any]]:
    """A model for one test alone, whose quota nobody else uses: its name, and the registry override that makes it."""
    name = f"{tier}-{uuid.uuid4().hex[:8]}"
    model = {"price_in": 0.1, "price_out": 0.4, "per_day": per_day, "per_minute": per_minute}
    return name, {"tiers": {tier: name}, "models": {name: model}}


def registry(**providers: Any) -> dict[str, str]:
    """The variable that lays these over the model registry."""
    return {REGISTRY_VARIABLE: json.dumps(providers)}
