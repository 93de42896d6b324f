"""The limits and the user of a process, what it used, and the end of its children."""

import contextlib
import ctypes
import faulthandler
import math
import os
import resource
import signal
import struct

from touchstone.audits.sandbox.inside.shared import Json

MOST_PROCESSES = 1024
"""Most processes while the target is imported. The script has a limit of its own, which is no higher."""
SPARE_MEMORY_BYTES = 64 * 1024 * 1024
"""Memory that is added after a script used all of its own, so that its end can still be reported."""
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
SECCOMP_MODE_FILTER = 2
STEP_BYTES = 8
FAULTHANDLER = """
on = False
def enable(file=None, all_threads=True):
    global on
    on = True
def disable():
    global on
    was, on = on, False
    return was
def is_enabled():
    return on
"""


def drop_rights(request: Json, *, keep: int) -> None:  # pragma: no cover - runs in the sandbox alone
    """Become the user of the script, and close all descriptors except the standard ones and `keep`."""
    user = request["user"]
    if user is not None and os.getuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.closerange(3, keep)
    os.closerange(keep + 1, 4096)


def set_limits(limits: Json) -> int:  # pragma: no cover - runs in the sandbox alone
    """Set the limits of this process and its children. Returns the bytes of memory that it may have at the very end."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        here = int(file.read().split()[0]) * resource.getpagesize()
    memory = here + limits["memory_bytes"]
    for which, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, math.ceil(limits["cpu_seconds"]) + 1),  # for one process, in case nobody watches outside
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_FSIZE, limits["written_bytes"]),
        *([(resource.RLIMIT_NPROC, limits["processes"])] if limits["own_user"] else []),
    ):
        limit(which, bound, bound)
    limit(resource.RLIMIT_AS, memory, memory + SPARE_MEMORY_BYTES)
    return resource.getrlimit(resource.RLIMIT_AS)[1]


def limit(which: int, soft: int, hard: int) -> None:  # pragma: no cover - runs in the sandbox alone
    """Set a limit, or keep the present one if that is lower."""
    highest = resource.getrlimit(which)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(which, (soft, hard))


def put_filter(steps: bytes) -> None:  # pragma: no cover - as `main`
    """Put a filter of system calls on this process and its children. End this process if the kernel supports none."""
    program = ctypes.create_string_buffer(steps)
    filter_ = struct.pack("@HP", len(steps) // STEP_BYTES, ctypes.addressof(program))
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_):
        os._exit(1)


def fake_faulthandler() -> None:  # pragma: no cover - as `main`
    """Let Python's `faulthandler` say that it is on, which the kernel does not let it be.

    pytest turns it on, and runs no test where that fails. That the kernel says so is no way: Python would then keep a
    function for such a signal, and call it when `_thread.interrupt_main` is given the signal's number.
    """
    made = {"__name__": "faulthandler"}
    exec(compile(FAULTHANDLER, "<faulthandler>", "exec", dont_inherit=True), made)  # noqa: S102 - a namespace of its own
    for name in ("enable", "disable", "is_enabled"):
        setattr(faulthandler, name, made[name])


def end_orphans() -> None:  # pragma: no cover - as `main`
    """End the processes that the script left behind. When their parent is gone they become children of this process."""
    for _ in range(1024):
        children = _children()
        if not children:
            return
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _children() -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            stat = file.read()
            if int(stat[stat.rindex(")") + 2 :].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def cpu_seconds() -> float:  # pragma: no cover - runs in the sandbox alone
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory_bytes() -> int:  # pragma: no cover - runs in the sandbox alone
    """The memory of this process as it is counted from outside: shared memory counts by its share."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
        return next((int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:")), 0)


def prctl(option: int, value: int) -> None:  # pragma: no cover - runs in the sandbox alone
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
