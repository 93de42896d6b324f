"""A lock on a file, so that one process at a time works with it."""

from typing import IO, Any


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
