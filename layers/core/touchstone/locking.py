"""Files that one process at a time works with."""

from typing import IO, Any


def try_lock(file: IO[Any]) -> bool:
    """Whether this process holds an open file alone from now on, until it closes the file or ends, however it ends.

    False: another one holds it. Where the system or its file system knows no such holds: True.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without them, as some of a network are
        return True
    return True
