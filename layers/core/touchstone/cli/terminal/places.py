"""The user's folders in which the command keeps files (XDG base directory specification), and how files are written."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from touchstone.errors import InputError, SettingsError, StoreError
from touchstone.whole_files import PRIVATE, SHARED, write_whole

FOLDER = "touchstone"
PRIVATE_FOLDER = 0o700


def config_folder() -> Path:
    """The folder that holds the address and token of the API."""
    return _folder("XDG_CONFIG_HOME", ".config")


def state_folder() -> Path:
    """The folder that holds the notes of unfinished batches."""
    return _folder("XDG_STATE_HOME", ".local/state")


def cache_folder() -> Path:
    """The folder that holds the replies of judges, so that none is paid for twice."""
    return _folder("XDG_CACHE_HOME", ".cache")


def _folder(variable: str, otherwise: str) -> Path:
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():  # the specification says that a relative path is ignored
        return named / FOLDER
    try:
        return Path.home() / otherwise / FOLDER
    except RuntimeError:
        raise SettingsError(f"This user has no home folder; set HOME or {variable} to a folder.") from None


def write_private(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON file that only the user can read, whole or not at all. Raises `StoreError`."""
    try:
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None
    replace(path, [json.dumps(document, indent=1).encode() + b"\n"], private=True)


def write_json(path: Path, document: object) -> None:
    """Write a JSON file for people and other programs, whole or not at all. Raises `StoreError`."""
    replace(path, [json.dumps(document, ensure_ascii=False, indent=2).encode(), b"\n"])


def replace(path: Path, parts: Iterable[bytes], *, private: bool = False) -> None:
    """Write a file whole or not at all, as `write_whole` does; only the user can read a new file that is `private`.

    If `path` is a link, the linked file is replaced and the link stays. Raises `StoreError` if `path` cannot be
    written, or is no ordinary file (such as a device), which is left alone.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no ordinary file, so nothing was written there.")
    try:
        write_whole(path, parts, mode=PRIVATE if private else SHARED)
    except OSError as error:
        raise _unwritable(path, error) from None


def check_place(path: Path | None, *, where: str, read: Iterable[str | Path] = ()) -> None:
    """Raise `InputError` if no file can be written at `path`. It is called before money is spent on the content.

    `where` is the option that named the path. `path` None: it was not given, and no file is written. `read` are the
    files that the command reads: none of them is overwritten.
    """
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"No file can be written at {path}; name one in a folder that exists.", where=where)
    if path.exists() and any(Path(each).exists() and path.samefile(each) for each in read):
        raise InputError(f"{path} is the file to read, and would be overwritten; name another.", where=where)


def read_document(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file of this command; None if there is no file. Raises `InputError` for a damaged file."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", where=str(path)) from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged; delete it and run the command again.", where=str(path))
    return found


def read_file(path: Path, *, at_most: int | None = None) -> bytes:
    """The first `at_most` bytes of a file that the user named; None: all. Raises `InputError` if it is unreadable."""
    try:
        with path.open("rb") as file:
            # `read` allocates the whole size that it is asked for. A small file needs only a little.
            size = os.fstat(file.fileno()).st_size
            return file.read(-1 if at_most is None else min(at_most, size + 1) if size else at_most)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", where=str(path)) from None


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written: {error.strerror}.")
