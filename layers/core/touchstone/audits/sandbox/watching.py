"""What a tree of processes takes together, read from `/proc`: limits of the kernel hold for one process each."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_TIMES = slice(11, 15)
"""Where in `/proc/PID/stat`, behind the name, the four times of the processor stand. The state stands first."""
_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""A process that has ended since, or whose memory is hidden even from its own user."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a tree of processes takes. `memory_bytes` counts what processes share once."""

    cpu_seconds: float
    memory_bytes: int
    processes: int


def tree(root: int) -> list[int]:
    """The process `root` and all that descend from it, parents first."""
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop(0)
        found.append(process)
        waiting += _children(process)
    return found


def _children(process: int) -> Iterator[int]:
    with contextlib.suppress(*_GONE):
        for thread in (_PROC / str(process) / "task").iterdir():
            with contextlib.suppress(*_GONE):
                yield from map(int, (thread / "children").read_text().split())


def use(processes: Sequence[int]) -> Use:
    """What `processes` take together, with the time of children that have ended."""
    seconds, memory, alive = 0.0, 0, 0
    for process in processes:
        with contextlib.suppress(*_GONE):
            stat = (_PROC / str(process) / "stat").read_text()
            state, *_ = fields = stat[stat.rindex(")") + 2 :].split()
            seconds += sum(map(int, fields[_TIMES])) / _TICKS
            alive += state != "Z"
            memory += _memory(process)
    return Use(cpu_seconds=seconds, memory_bytes=memory, processes=alive)


def _memory(process: int) -> int:
    with contextlib.suppress(*_GONE):
        for line in (_PROC / str(process) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def end(processes: Sequence[int], *, within_seconds: float) -> bool:
    """Kill `processes`, and wait until they are gone. Returns False where one was not within that time."""
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


def _is_gone(descriptor: int, deadline: float) -> bool:
    ended = select.poll()
    ended.register(descriptor, select.POLLIN)
    return bool(ended.poll(max(0.0, deadline - time.monotonic()) * 1000))
