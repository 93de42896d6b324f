"""A lock on a file, so that one process at a time works with it, and folders that go with their process."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

_HELD = ".held"
"""The file in a folder of `own_folder` that its process holds."""


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file for this process alone, and return whether it is locked.

    The lock lasts until the process closes the file or ends, however it ends. False: another process holds the lock.
    True also if the system or its file system has no such locks.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without such locks, as some network file systems are
        return True
    return True


@contextmanager
def own_folder(prefix: str) -> Iterator[Path]:
    """A new folder for temporary files, which is removed at the end. Its name begins with `prefix`.

    Folders with this prefix whose processes were killed are removed first. After a function was killed, Lambda starts
    another process on the same machine and does not empty `/tmp`, which has room for one large bundle only
    (https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html).
    """
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError), (left / _HELD).open("rb") as held:
            if try_lock(held):
                shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        with (folder / "made").open("wb") as held:
            try_lock(held)
            (folder / "made").rename(folder / _HELD)  # held before another process can see that it is not
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
