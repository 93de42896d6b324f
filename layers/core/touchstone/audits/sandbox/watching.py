"""The resources of a tree of processes, read from `/proc`: limits of the kernel hold for a single process only."""

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.errors import StoreError

ADOPTED_SECONDS = 10.0
"""How long it may take until processes that lost their parents are gone."""
_PR_SET_CHILD_SUBREAPER = 36
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_CHILDREN_FILE = Path("/proc/thread-self/children")
_TIMES = slice(11, 15)
"""Where the four processor times are in `/proc/PID/stat`, counted behind the name. State and parent come first
there."""
_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""The errors for a process that has ended since, or whose memory is hidden even from its own user."""


class SpoiledError(StoreError):
    """Something that a proof left could not be removed, so that no other proof may run on this machine."""


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """The resources that a tree of processes uses. `memory_bytes` counts memory that processes share only once."""

    cpu_seconds: float
    memory_bytes: int
    processes: int


def process_tree(root: int) -> list[int]:
    """The process `root` and all its descendants, parents first."""
    children_of = _children if _CHILDREN_FILE.exists() else _by_parent().get
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop(0)
        found.append(process)
        waiting += children_of(process) or ()
    return found


def _children(process: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(*_GONE):
        for thread in (_PROC / str(process) / "task").iterdir():
            with contextlib.suppress(*_GONE):
                found += map(int, (thread / "children").read_text().split())
    return found


def _by_parent() -> dict[int, list[int]]:
    """The children of every process. It is for a kernel that was built without telling them."""
    found: dict[int, list[int]] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(*_GONE):
            found.setdefault(int(_fields(path)[1]), []).append(int(path.parent.name))
    return found


def _fields(path: Path) -> list[str]:
    """The fields of `/proc/PID/stat` behind the process's name. The name itself may hold any characters."""
    stat = path.read_text()
    return stat[stat.rindex(")") + 2 :].split()


def resource_use(processes: Sequence[int]) -> ResourceUse:
    """The resources that `processes` use together, including the times of their children that have ended."""
    seconds, memory, alive = 0.0, 0, 0
    for process in processes:
        with contextlib.suppress(*_GONE):
            fields = _fields(_PROC / str(process) / "stat")
            seconds += sum(map(int, fields[_TIMES])) / _TICKS
            alive += fields[0] != "Z"
            memory += _memory(process)
    return ResourceUse(cpu_seconds=seconds, memory_bytes=memory, processes=alive)


def _memory(process: int) -> int:
    try:
        for line in (_PROC / str(process) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except PermissionError:
        # A proof's memory is hidden from other processes of its user; the size of its unshared part is not.
        _, resident, shared, *_ = (_PROC / str(process) / "statm").read_text().split()
        return (int(resident) - int(shared)) * _PAGE_BYTES
    except _GONE:
        pass
    return 0


def kill_all(processes: Sequence[int], *, within_seconds: float) -> bool:
    """Kill `processes` and wait until they are gone. Return False if one is still there after `within_seconds`."""
    deadline = time.monotonic() + within_seconds
    watched = []
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            watched.append(os.pidfd_open(process))
    try:
        for descriptor in watched:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        return all(_is_gone(descriptor, deadline) for descriptor in watched)
    finally:
        for descriptor in watched:
            os.close(descriptor)


def adopt() -> frozenset[int]:
    """Make this process the new parent of all descendants that lose their parent from now on.

    Return this process and all its present descendants.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return frozenset(process_tree(os.getpid()))


def end_adopted(known: frozenset[int], *, within_seconds: float = ADOPTED_SECONDS) -> None:
    """End all descendants of this process except the `known` ones.

    Raises SpoiledError if one still runs after `within_seconds`.
    """
    deadline = time.monotonic() + within_seconds
    while left := [process for process in process_tree(os.getpid()) if process not in known]:
        if time.monotonic() > deadline:
            raise SpoiledError("What a proof started could not be ended; the proof may be run again elsewhere.")
        for process in left:
            # The whole group at once: a process that is forked meanwhile is in it, unless it makes a group of its own.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(process) != os.getpgid(0):
                    os.killpg(os.getpgid(process), signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)


def _is_gone(descriptor: int, deadline: float) -> bool:
    ended = select.poll()
    ended.register(descriptor, select.POLLIN)
    return bool(ended.poll(max(0.0, deadline - time.monotonic()) * 1000))
