"""Files that are written whole or not at all, their hashes, and what is said of one that cannot be used."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from touchstone.errors import StoreError

PRIVATE, SHARED = 0o600, 0o666
"""The modes of a new file for the user alone and for all, before the umask is applied."""
_MOST_OF_NAME = 32


def write_whole(path: Path, parts: Iterable[bytes], *, mode: int = SHARED) -> None:
    """Write a new file beside `path`, have the disk keep it, and put it in the place of `path` in one step.

    A new file gets `mode`, less what the user's umask takes; a file that is replaced keeps its own. If anything fails,
    `path` stays as it was and no other file is left. Raises `OSError` if the file cannot be written.
    """
    kept = path.stat().st_mode & 0o777 if path.exists() else None
    aside = path.with_name(f".{path.name[:_MOST_OF_NAME]}.{os.urandom(8).hex()}")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode if kept is None else PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:
            aside.chmod(kept)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """The SHA-256 hash of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unusable(path: Path, error: OSError) -> StoreError:
    """What is raised if the file or folder of a run cannot be written or read."""
    return StoreError(f"{path} cannot be used ({type(error).__name__}); free some space, or name another folder.")
