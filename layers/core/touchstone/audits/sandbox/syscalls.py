"""A filter of the kernel (seccomp, classic BPF) that refuses the system calls that no proof needs.

It refuses the calls that lead out of a sandbox or around its bounds: other processes' memory, mounts and namespaces,
the kernel's own interfaces, and memory that no limit counts (memory files, System V and POSIX queues). It also refuses
sockets of every family except those of a network that is empty inside the sandbox, because a virtual machine's host
answers on some of the others. A refused call fails with EPERM, or with ENOSYS if glibc can do without it.
"""

import errno
import platform
import struct

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""By machine: the kernel's number of the architecture (AUDIT_ARCH_*), and the column of the tables below with its call
numbers."""

_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "mq_open": (240, 180),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
_MISSING: dict[str, tuple[int, int]] = {
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
_CLONE = (56, 220)
_SOCKET = (41, 198)
_SIGACTION = (13, 134)
_NEW_NAMESPACE = 0x7E020000
"""All flags of `clone` that make a namespace: mount, cgroup, uts, ipc, user, pid and net."""
_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6."""
_X32 = 0x40000000
"""A bit in the call numbers of a second, rarely used table of calls on x86_64."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in `struct seccomp_data`. Of an argument only the lower half is loaded; it holds everything that is
checked."""
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000

type Step = tuple[int, int, int, int]


def seccomp_filter(machine: str | None = None, *, sockets: bool = True) -> bytes | None:
    """The filter for `machine` (None: this machine) in the kernel's format. None if its call numbers are not known.

    `sockets` False refuses all sockets: for a process that has no empty network of its own.
    """
    families = _FAMILIES if sockets else ()
    known = _ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, column = known
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]
    for calls, error in ((_REFUSED, errno.EPERM), (_MISSING, errno.ENOSYS)):
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _FAIL | error)]
    steps += [
        (_EQUAL, 0, 4, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACE),
        (_RETURN, 0, 0, _FAIL | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 0, len(families) + 2, _SOCKET[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *((_EQUAL, len(families) - place, 0, family) for place, family in enumerate(families)),
        (_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def handlers_filter(machine: str | None = None) -> bytes | None:
    """A filter that forbids changing how signals are handled. None as for `seccomp_filter`.

    Otherwise a signal could call a function of the script in the middle of any other code.
    """
    known = _ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    steps: list[Step] = [
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 1, _SIGACTION[known[1]]),
        (_RETURN, 0, 0, _FAIL | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
