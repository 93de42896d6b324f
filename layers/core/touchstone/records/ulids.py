"""ULIDs: 26 characters that sort by the moment they were made, then by chance (github.com/ulid/spec)."""

import hashlib
import re
import secrets
from datetime import UTC, datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O, U
_TIME_DIGITS = 10
_CHANCE_DIGITS = 16
_CHANCE_BITS = 80
_PATTERN = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def new_ulid(moment: datetime) -> str:
    """A fresh ULID of `moment` (milliseconds) with 80 random bits."""
    return _written(moment, secrets.randbits(_CHANCE_BITS))


def derived_ulid(moment: datetime, *parts: str) -> str:
    """The same ULID for the same moment and parts, so that a repeated step finds its own earlier record."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return _written(moment, int.from_bytes(digest[: _CHANCE_BITS // 8]))


def first_ulid(moment: datetime) -> str:
    """The least ULID of `moment`: no ULID made at or after that moment sorts before it."""
    return _written(moment, 0)


def last_ulid(moment: datetime) -> str:
    """The greatest ULID of `moment`: no ULID made at or before that moment sorts after it."""
    return _written(moment, (1 << _CHANCE_BITS) - 1)


def ulid_moment(ulid: str) -> datetime:
    """When a ULID was made (UTC, milliseconds)."""
    milliseconds = 0
    for digit in ulid[:_TIME_DIGITS]:
        milliseconds = milliseconds * 32 + _ALPHABET.index(digit)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def is_ulid(text: str) -> bool:
    """Whether `text` is a ULID in its one written form (upper case)."""
    return _PATTERN.fullmatch(text) is not None


def _written(moment: datetime, chance: int) -> str:
    milliseconds = round(moment.timestamp() * 1000)
    return _digits(milliseconds, _TIME_DIGITS) + _digits(chance, _CHANCE_DIGITS)


def _digits(number: int, count: int) -> str:
    return "".join(_ALPHABET[(number >> (5 * place)) & 31] for place in reversed(range(count)))
