"""What must be true before an SDK is loaded."""

from collections.abc import Iterator
from contextlib import contextmanager

from touchstone.judges.adapters import failures


def usable_key(provider: str, api_key: str) -> str:
    """The key without the line break that files end with. Raises `MisconfiguredError` where a header cannot hold it."""
    key = api_key.strip()
    if not key or not key.isascii() or not key.isprintable():
        raise failures.no_key(provider)
    return key


@contextmanager
def sdk_of(provider: str) -> Iterator[None]:
    """Turns a missing SDK into a `MisconfiguredError`."""
    missing = False
    try:
        yield
    except ImportError:
        missing = True
    if missing:
        raise failures.no_sdk(provider)
