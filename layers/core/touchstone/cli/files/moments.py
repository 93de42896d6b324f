"""Moments and durations in the forms that people write: 2027-01-31T12:00+01:00, or 3d, 12h, 90m, 30s from now."""

import re
from datetime import UTC, datetime, timedelta

from touchstone.errors import InputError

DURATION = re.compile(r"(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?")
"""The number of digits is limited, so that a duration is 440 years at most: `datetime` can add it to the present."""


def duration_of(text: str, *, where: str) -> timedelta:
    """A duration such as 3d, 12h, 90m, 30s or 1d12h. Raises `InputError`."""
    found = _duration(text)
    if found is None:
        raise InputError(f"{text!r} is no duration; write it as 3d, 12h, 90m, 30s or 1d12h.", where=where)
    return found


def moment_of(text: str, *, where: str, now: datetime) -> datetime:
    """The moment (UTC) that a text gives in ISO form with its time zone, or as a duration from `now`.

    Raises `InputError` for any other text, and for a moment without a time zone.
    """
    duration = _duration(text)
    if duration is not None:
        return now + duration
    try:
        moment = datetime.fromisoformat(text)
        utc = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InputError(
            f"{text!r} is no moment; write it as 2027-01-31T12:00+01:00, or from now on as 3d, 12h, 90m or 30s.",
            where=where,
        ) from None
    if moment.tzinfo is None:
        raise InputError(f"{text!r} has no time zone; add one, as in 2027-01-31T12:00+01:00 or …T12:00Z.", where=where)
    return utc


def _duration(text: str) -> timedelta | None:
    """The duration in a text; None if the text is no duration."""
    found = DURATION.fullmatch(text)
    if found is None or not text:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
