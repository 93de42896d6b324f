"""A provider's day: when it begins, when it ends, and which day a moment lies in.

Quotas of requests a day are counted from midnight to midnight in the provider's own time zone. So a day has 23, 24 or
25 hours, and its edge moves in UTC with daylight saving time. Nothing here is a fixed offset. One decision asks about
the same moment ten times, so the results are cached.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

PROVIDER_ZONES: Mapping[str, str] = {
    "gemini": "America/Los_Angeles",
    "openai": "UTC",
    "claude": "UTC",
    "anthropic": "UTC",
}
"""The time zone in which each provider counts its days."""
DEFAULT_ZONE = "UTC"
"""The time zone of a provider that is not listed, such as a gateway of the user's own."""


@lru_cache(maxsize=64)
def zone_of(provider: str) -> ZoneInfo:
    """The time zone in which `provider` counts its days."""
    return ZoneInfo(PROVIDER_ZONES.get(provider, DEFAULT_ZONE))


@lru_cache(maxsize=64)
def day_of(provider: str, now: datetime) -> date:
    """The provider's date at the moment `now`."""
    return now.astimezone(zone_of(provider)).date()


@lru_cache(maxsize=64)
def day_start(provider: str, day: date) -> datetime:
    """The moment (UTC) at which the provider's `day` begins."""
    return datetime.combine(day, time.min, tzinfo=zone_of(provider)).astimezone(UTC)


@lru_cache(maxsize=64)
def next_reset(provider: str, now: datetime) -> datetime:
    """The next moment (UTC) after `now` at which the provider's day ends and its daily quota is whole again."""
    return day_start(provider, day_of(provider, now) + timedelta(days=1))
