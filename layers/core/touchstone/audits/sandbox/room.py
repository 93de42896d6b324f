"""Where proofs are run for others: a machine that is given a link to a bundle and a script, and nothing else.

The bundle is unpacked once and used for all proofs that name it. If proofs can write to this machine's folders, the
files that they left are removed after each proof, and the bundle is checked before each proof. A bundle that was
touched is fetched again.
"""

import contextlib
import os
import shutil
import stat
import tempfile
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import IO, Annotated, Protocol
from urllib.error import URLError
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints

from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, Limits
from touchstone.audits.sandbox.prove import Installed, check_import, prove
from touchstone.audits.sandbox.result import ProofResult
from touchstone.audits.sandbox.watching import SpoiledError
from touchstone.errors import InputError, StoreError
from touchstone.strict import Strict
from touchstone.whole_files import sha256_of

KEPT_CHARS = 20_000
"""How many characters are kept of each output of a script: its beginning and its end. A reply has a few megabytes at
most."""
CUT = "\n[…]\n"
FETCH_SECONDS = 60.0
"""Longest time without data from the store while a bundle is fetched."""
MAX_ARCHIVE_BYTES = 2 * 1024**3
_CHUNK_BYTES = 1024 * 1024
_SCHEMES = frozenset({"http", "https"})


class ProofOrder(Strict):
    """One proof to be run: `script` against the bundle at `url`, whose file has this SHA-256.

    `script` None: the target is only imported, to see whether it can be.
    """

    url: str
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    script: str | None
    limits: Limits = DEFAULT_LIMITS


class ProofAnswer(Strict):
    """The answer to an order.

    `result` is None if nothing was proved: the target was only imported, or the order `refused`. `refused` says in a
    sentence why the order could not be carried out; None if it was.
    """

    result: ProofResult | None = None
    refused: Annotated[str | None, Field(max_length=4_000)] = None


class Unpacked(Installed, Protocol):
    """A bundle on this machine."""

    def state(self) -> str:
        """A digest that changes if any part of the bundle is touched."""
        ...


@dataclass(slots=True, weakref_slot=True, kw_only=True)
class ProofRunner:
    """Runs proofs, one after the other. `folder` is where the bundle is unpacked.

    `shared` is a folder that proofs can write to and that is emptied after each proof. None if there is none, because
    the sandbox shows proofs no folder of this machine.
    """

    folder: Path
    sandbox: Sandbox
    shared: Path | None
    _bundle: Unpacked | None = None
    _sha256: str = ""
    _state: str = field(default="", repr=False)

    def run(self, order: ProofOrder) -> ProofAnswer:
        """Carry out an order.

        Raises `StoreError` if the bundle could not be fetched, and SettingsError if scripts cannot be run here: neither
        says anything about the script. Raises `SpoiledError` if files that a proof left could not be removed: nothing
        may be run on this machine any more.
        """
        self._empty()
        try:
            bundle = self._fetched(order)
            if order.script is None:
                check_import(bundle, sandbox=self.sandbox)
                return ProofAnswer()
            return ProofAnswer(result=_short(prove(order.script, bundle, sandbox=self.sandbox, limits=order.limits)))
        except InputError as error:
            return ProofAnswer(refused=str(error)[:4_000])
        finally:
            self._empty()

    def _fetched(self, order: ProofOrder) -> Unpacked:
        if self._bundle is not None and self._sha256 == order.sha256 and self._bundle.state() == self._state:
            return self._bundle
        self._bundle = None
        _remove(self.folder)
        bundle = _fetch(order, self.folder)
        self._bundle, self._sha256, self._state = bundle, order.sha256, bundle.state()
        return bundle

    def _empty(self) -> None:
        """Remove everything in the shared folder except the bundle. Raises `SpoiledError` if something remains."""
        if self.shared is None:
            return
        for path in self.shared.iterdir():
            if path != self.folder:
                _remove(path)
        if set(self.shared.iterdir()) - {self.folder}:
            raise SpoiledError("What an earlier proof left could not be removed; the proof may be run again elsewhere.")


def _fetch(order: ProofOrder, folder: Path) -> Unpacked:
    from touchstone.audits.bundles.archive import unpack

    if urlsplit(order.url).scheme not in _SCHEMES:
        raise InputError("The link to the bundle is no web address.", where="url")
    with tempfile.TemporaryDirectory(prefix="fetched-") as scratch:
        file = Path(scratch) / "bundle.tar.gz"
        try:
            with urllib.request.urlopen(order.url, timeout=FETCH_SECONDS) as stream, file.open("wb") as written:  # noqa: S310 - the scheme was looked at
                _copy(stream, written)
        except (URLError, HTTPException, OSError) as error:
            why = getattr(error, "code", None) or type(error).__name__
            raise StoreError(f"The bundle could not be fetched ({why}); it is safe to repeat.") from None
        if sha256_of(file) != order.sha256:
            raise StoreError("The bundle that was fetched is not the one that was named; it is safe to repeat.")
        return unpack(file, folder)


def _copy(stream: IO[bytes], written: IO[bytes]) -> None:
    copied = 0
    while chunk := stream.read(_CHUNK_BYTES):
        copied += len(chunk)
        if copied > MAX_ARCHIVE_BYTES:
            raise InputError(f"The bundle is larger than {MAX_ARCHIVE_BYTES:,} bytes.", where="url")
        written.write(chunk)


def _short(result: ProofResult) -> ProofResult:
    """The result, with each output cut to `KEPT_CHARS`."""
    changes: dict[str, object] = {}
    for name in ("stdout", "stderr"):
        if len(text := getattr(result, name)) > KEPT_CHARS:
            half = (KEPT_CHARS - len(CUT)) // 2
            changes |= {name: text[:half] + CUT + text[-half:], f"{name}_cut": True}
    return result.model_copy(update=changes) if changes else result


def _remove(path: Path) -> None:
    """Remove a file or folder, whatever permissions a proof set inside it. Links are not followed."""
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
        path.chmod(0o700)
        for folder, folders, _ in os.walk(path):
            for name in folders:  # each folder before it is entered
                inner = Path(folder, name)
                if not inner.is_symlink():
                    inner.chmod(0o700)
        shutil.rmtree(path)
