"""The folder of an export: each file appears complete or not at all, and a manifest says when all are there."""

import hashlib
import json
import os
import re
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from touchstone.errors import ConflictError, InputError, StoreError
from touchstone.locking import try_lock
from touchstone.whole_files import write_whole

HOLD = ".export.lock"
"""The lock file by which one process holds the folder while it writes. The lock ends with the process."""
MANIFEST = "manifest.json"
OBJECTS = "objects"
ASIDE = ".part"
"""The suffix of a file that is still being written."""
BY_HASH = "by-hash"
"""The folder for objects whose own names some file system may refuse."""
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,199})*")
_DEVICE = re.compile(r"(^|/)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|/|$)", re.ASCII)
"""Names that Windows takes for a device in any folder, even with a suffix. It matches lower case."""
_PRIVATE = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file of an export as the manifest lists it. Each of its `lines` is one JSON document."""

    file: str
    lines: int
    bytes: int
    sha256: str

    @property
    def shown(self) -> dict[str, Any]:
        """The file as JSON."""
        return {"file": self.file, "lines": self.lines, "bytes": self.bytes, "sha256": self.sha256}


@dataclass(kw_only=True)
class LineFile:
    """A file of JSON lines. It is written under a temporary name, and gets its own name when it is closed."""

    path: Path
    lines: int = field(default=0, init=False)
    _bytes: int = field(default=0, init=False)
    _hash: Any = field(default_factory=hashlib.sha256, init=False)
    _file: IO[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._file = _aside(self.path).open("wb")

    def add(self, document: Mapping[str, Any]) -> None:
        """Write one line."""
        line = (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        self._file.write(line)
        self._hash.update(line)
        self.lines += 1
        self._bytes += len(line)

    def close(self) -> ExportedFile:
        """Complete the file and give it its own name."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        _aside(self.path).replace(self.path)
        return ExportedFile(
            file=self.path.name, lines=self.lines, bytes=self._bytes, sha256=str(self._hash.hexdigest())
        )

    def abandon(self) -> None:
        """Close and delete the unfinished file."""
        self._file.close()
        _aside(self.path).unlink(missing_ok=True)


@dataclass(kw_only=True)
class ExportFolder:
    """A folder for one tenant's export. Only the owner of the folder can read it."""

    path: Path
    tenant: str
    _files: set[str] = field(default_factory=set, init=False)
    _folders: set[str] = field(default_factory=set, init=False)

    @contextmanager
    def begun(self, at: datetime) -> Iterator[None]:
        """Make the folder, or continue in one where an export of this tenant broke off, and hold it for the block.

        No other process writes there until the end of the block. `at` is now (UTC). Raises `ConflictError` if the
        folder holds a finished export or another process writes to it, `InputError` if it holds anything else, and
        `StoreError` if it cannot be written.
        """
        try:
            self.path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            if self._is_fresh():  # the folder may have existed before, and be open to others
                self.path.chmod(_PRIVATE)
        except OSError as error:
            raise InputError(f"{self.path} cannot be an export's folder: {error.strerror}.", where="folder") from None
        with self._held():
            self._is_fresh()  # check again: before the lock another process may have written there
            self.write_manifest({"tenant": self.tenant, "complete": False, "begun_at": at.isoformat()})
            yield

    def _is_fresh(self) -> bool:
        """Whether the folder is empty. If it is not, it may only hold an export of this tenant that broke off."""
        if all(found.name == HOLD for found in self.path.iterdir()):
            return True
        manifest = self._manifest()
        if manifest is None or manifest.get("tenant") != self.tenant:
            raise InputError(f"{self.path} holds something else; name a folder that is empty.", where="folder")
        if manifest.get("complete"):
            raise ConflictError(f"{self.path} holds an export of {self.tenant} already; name another folder.")
        return False

    @contextmanager
    def _held(self) -> Iterator[None]:
        path = self.path / HOLD
        busy = ConflictError(f"Another command is exporting into {self.path}; wait for it to end.")
        try:
            file = path.open("ab")
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}.") from None
        with file:
            if not try_lock(file):
                raise busy
            # After this process opened the file, its previous holder may have ended and removed it.
            if not path.exists() or path.stat().st_ino != os.fstat(file.fileno()).st_ino:
                raise busy
            try:
                yield
            finally:
                with suppress(OSError):  # Windows cannot remove an open file; an empty one is left
                    path.unlink()

    def sweep(self, places: Container[str]) -> None:
        """Remove objects that an earlier try left at none of `places`: they were deleted since."""
        for path in (self.path / OBJECTS).rglob("*"):
            if path.is_file() and path.relative_to(self.path).as_posix() not in places:
                path.unlink()

    def write_manifest(self, document: Mapping[str, Any]) -> None:
        """Write the manifest; it appears complete or not at all."""
        path = self.path / MANIFEST
        try:
            write_whole(path, [json.dumps(document, ensure_ascii=False, indent=2).encode(), b"\n"])
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}.") from None

    def place(self, root: str, name: str) -> str:
        """The path, relative to the folder, of the object `name` of the bucket's top-level folder `root`.

        It is the object's own name if any file system takes that name together with all others, else the hash of its
        key.
        """
        key = f"{root}/{name}"
        path = f"{OBJECTS}/{key}"
        folded = path.casefold()
        above = {folded[:at] for at, character in enumerate(folded) if character == "/"}
        taken = folded in self._files or folded in self._folders or not above.isdisjoint(self._files)
        if taken or not _everywhere(key):
            return f"{OBJECTS}/{BY_HASH}/{hashlib.sha256(key.encode()).hexdigest()}"
        self._files.add(folded)
        self._folders |= above
        return path

    def _manifest(self) -> dict[str, Any] | None:
        try:
            found = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def aside(path: Path) -> Path:
    """The temporary path under which a file is written. Its folder is made."""
    path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    return _aside(path)


def _everywhere(key: str) -> bool:
    """Whether every file system takes a key as a path, and no part of it has the suffix of an unfinished file."""
    steps = key.casefold().split("/")
    odd = any(step.endswith((".", ASIDE)) for step in steps)
    return _PLAIN.fullmatch(key) is not None and not odd and _DEVICE.search(key.casefold()) is None


def _aside(path: Path) -> Path:
    return path.with_name(path.name + ASIDE)
