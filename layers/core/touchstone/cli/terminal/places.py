"""Where the command keeps things: the user's own folders, by the XDG base directory specification."""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from touchstone.errors import InputError, StoreError

FOLDER = "touchstone"
PRIVATE = 0o600
PRIVATE_FOLDER = 0o700


def config_folder() -> Path:
    """Where the address and token of the API are kept."""
    return _folder("XDG_CONFIG_HOME", ".config")


def state_folder() -> Path:
    """Where unfinished batches are remembered."""
    return _folder("XDG_STATE_HOME", ".local/state")


def cache_folder() -> Path:
    """Where replies of judges are kept that were paid once."""
    return _folder("XDG_CACHE_HOME", ".cache")


def _folder(variable: str, otherwise: str) -> Path:
    named = os.environ.get(variable, "")
    # The specification has relative paths ignored.
    return (Path(named) if Path(named).is_absolute() else Path.home() / otherwise) / FOLDER


def write_private(path: Path, document: Mapping[str, Any]) -> None:
    """Write JSON that only the user can read, whole or not at all. Raises `StoreError`."""
    try:
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None
    replace(path, [json.dumps(document, indent=1).encode() + b"\n"])


def replace(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file whole or not at all: beside its place first, then in one step. Raises `StoreError`.

    A new file is the user's own (mode 600); one that is replaced keeps its mode, and one that is linked to its place.
    What is no ordinary file, such as a device, is left alone.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no ordinary file, so nothing was written there.")
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else PRIVATE
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise _unwritable(path, error) from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def check_place(path: Path, *, where: str) -> None:
    """Raise `InputError` where no file can lie, before anything is paid that is to be written there.

    `where` is the option that named it.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"No file can be written at {path}; name one in a folder that exists.", where=where)


def read_document(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file of ours, None where there is no file. Raises `InputError` for one that is damaged."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", where=str(path)) from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged; delete it and run the command again.", where=str(path))
    return found


def read_file(path: Path, *, at_most: int | None = None) -> bytes:
    """The bytes of a file that the user named, the first `at_most` of them. Raises `InputError` if it is unreadable."""
    try:
        with path.open("rb") as file:
            # Room for all that is asked for is taken before anything is read; a small file needs little.
            size = os.fstat(file.fileno()).st_size
            return file.read(-1 if at_most is None else min(at_most, size + 1) if size else at_most)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", where=str(path)) from None


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written: {error.strerror}.")
