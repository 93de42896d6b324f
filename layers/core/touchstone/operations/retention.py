"""How long records are kept after their end, by kind. A deployment sets `answers=365,audits=90`, or `365` for all."""

from datetime import timedelta
from typing import Literal, get_args

from touchstone.errors import SettingsError

RETENTION = "TOUCHSTONE_RETENTION_DAYS"
LEAST_DAYS = 30
"""The least retention. The key of a message is remembered for so long, and a batch waits less: until then a repeat
finds its record."""
MOST_DAYS = 36_500
RENEWED_AFTER = timedelta(days=7)
"""A file that people put is renewed when it is named and is older than this."""
LEEWAY = timedelta(days=10)
"""How much longer such a file is kept than the records made of it. Its age may exceed the time since its last use by
`RENEWED_AFTER`, and work that waits for a quota needs the file for as long as a batch waits at most."""

type RetainedKind = Literal["answers", "audits", "batches", "experiments", "measurements", "quizzes", "tasks"]
RETAINED_KINDS: tuple[RetainedKind, ...] = get_args(RetainedKind.__value__)


def retention_of(text: str) -> dict[RetainedKind, int]:
    """The days by kind; records of a kind that is missing are kept for ever. Raises `SettingsError`."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return dict.fromkeys(RETAINED_KINDS, _days(text, text))
    found: dict[RetainedKind, int] = {}
    for said in filter(None, (part.strip() for part in text.split(","))):
        name, _, days = (part.strip() for part in said.partition("="))
        kind = next((kind for kind in RETAINED_KINDS if kind == name), None)
        if kind is None or kind in found:
            raise _wrong(said)
        found[kind] = _days(days, said)
    return found


def _days(days: str, said: str) -> int:
    if not (days.isascii() and days.isdecimal() and len(days) <= len(str(MOST_DAYS))):
        raise _wrong(said)
    if not LEAST_DAYS <= int(days) <= MOST_DAYS:
        raise _wrong(said)
    return int(days)


def _wrong(said: str) -> SettingsError:
    return SettingsError(
        f"{RETENTION} says {said[:60]!r}; it is a number of days from {LEAST_DAYS} to {MOST_DAYS:,} for every kind, or "
        f"days by kind, each once: answers=365,audits=90. The kinds are {', '.join(RETAINED_KINDS)}."
    )
