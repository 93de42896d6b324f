"""Bundles as one file, which a store keeps and which is unpacked on another machine of the same kind."""

import shutil
import tarfile
import tempfile
from pathlib import Path

from touchstone.audits.bundles.target import Bundle
from touchstone.errors import InputError
from touchstone.whole_files import sha256_of

MAX_UNPACKED_BYTES = 3 * 1024**3
"""The room that a function has for a bundle, besides the archive itself. A larger target is audited by the command."""


def pack(bundle: Bundle, file: Path) -> str:
    """Write a bundle into `file`. Return the SHA-256 of the file in hexadecimal.

    Raises InputError if the bundle is too large for a function.
    """
    size = sum(path.lstat().st_size for path in bundle.folder.rglob("*"))
    if size > MAX_UNPACKED_BYTES:
        raise InputError(
            f"{bundle.requirement} takes {size:,} bytes with all it needs; a deployment has room for "
            f"{MAX_UNPACKED_BYTES:,}. Audit it by the command.",
            where="requirement",
        )
    with tarfile.open(file, "w:gz", compresslevel=1) as archive:
        for path in sorted(bundle.folder.rglob("*")):
            archive.add(path, path.relative_to(bundle.folder).as_posix(), recursive=False)
    return sha256_of(file)


def unpack(file: Path, folder: Path) -> Bundle:
    """Unpack the bundle in `file` as `folder`. The folder appears whole or not at all, and replaces an earlier one.

    The archive is one of ours, and its digest was compared. Even so, nothing in it may lead out of the folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-") as scratch:
        made = Path(scratch) / "bundle"
        made.mkdir(mode=0o755)
        with tarfile.open(file, "r:gz") as archive:
            archive.extractall(made, filter="data")
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    return Bundle(folder)
