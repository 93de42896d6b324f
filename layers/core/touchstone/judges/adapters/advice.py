"""A provider's advice on time, in seconds: when to come back, and how long a bucket takes to fill."""

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from touchstone.judges.adapters.replies import Response

_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


def retry_after(response: Response) -> float | None:
    """The provider's advice in seconds, from `retry-after-ms` or `retry-after` (seconds, or a date).

    None if it gives none.
    """
    headers = response.headers
    if (exact := _number(headers.get("retry-after-ms"))) is not None:
        return exact / 1000
    advice = headers.get("retry-after")
    plain = _number(advice)
    return plain if plain is not None else seconds_until(response, advice)


def parse_duration(duration: Any) -> float | None:
    """A duration as providers write it: `37s`, `37.5s`, `6m0s`, `1h2m3s`, `120ms`. None for anything else."""
    found = _DURATION.fullmatch(duration) if isinstance(duration, str) and duration else None
    if found is None:
        return None
    hours, minutes, whole, thousandths = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + whole + thousandths / 1000


def seconds_until(response: Response, moment: str | None) -> float | None:
    """Seconds from the response's own date to a moment. None if one of the two is missing.

    The clock of this machine is not used: it may be wrong, or rehearsed.
    """
    now, then = _date(response.headers.get("date")), _date(moment)
    return None if now is None or then is None else max(0.0, (then - now).total_seconds())


def _date(text: str | None) -> datetime | None:
    """A moment as HTTP or RFC 3339 writes it. None for anything else, or without a time zone."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text or "")
        except (ValueError, OverflowError):
            continue
        return moment if moment.tzinfo is not None else None
    return None


def _number(text: str | None) -> float | None:
    """A plain number of seconds, not negative. None for anything else."""
    return float(text) if text is not None and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) else None
