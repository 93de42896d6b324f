"""The kernel's filter, read as the kernel reads it: what passes, what fails and with which error."""

import errno
import struct

import pytest

from touchstone.audits.sandbox.syscalls import handlers_filter, seccomp_filter

ALLOW, KILL = "allow", "kill"
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE_NEWUSER, CLONE_THREAD, SIGCHLD = 0x10000000, 0x00010000, 17


def decided(
    machine: str, number: int, argument: int = 0, architecture: int | None = None, *, sockets: bool = True
) -> str | int:
    """What the filter does with a call: `allow`, `kill`, or the error that it fails with."""
    return told_by(seccomp_filter(machine, sockets=sockets), machine, number, argument, architecture)


def told_by(
    steps: bytes | None, machine: str, number: int, argument: int = 0, architecture: int | None = None
) -> str | int:
    """What a filter does with a call, as `decided` tells it."""
    assert steps is not None
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, argument, 0, 0, 0, 0, 0)
    program = list(struct.iter_unpack("=HBBI", steps))
    place, value = 0, 0
    while True:
        code, true, false, constant = program[place]
        place += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, constant)
            case 0x15:
                place += true if value == constant else false
            case 0x35:
                place += true if value >= constant else false
            case 0x45:
                place += true if value & constant else false
            case 0x06:
                error: int = constant & 0xFFFF
                return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(constant & 0xFFFF0000, error)


@pytest.mark.parametrize(
    ("machine", "number", "argument", "decision"),
    [
        ("x86_64", 0, 0, ALLOW),  # read
        ("x86_64", 59, 0, ALLOW),  # execve
        ("x86_64", 101, 0, errno.EPERM),  # ptrace
        ("x86_64", 272, CLONE_NEWUSER, errno.EPERM),  # unshare
        ("x86_64", 319, 0, errno.EPERM),  # memfd_create
        ("x86_64", 435, 0, errno.ENOSYS),  # clone3
        ("x86_64", 56, SIGCHLD, ALLOW),  # clone
        ("x86_64", 56, CLONE_THREAD | 0x3D0F00, ALLOW),
        ("x86_64", 56, CLONE_NEWUSER | SIGCHLD, errno.EPERM),
        ("x86_64", 41, 1, ALLOW),  # socket: unix, inet, netlink, inet6, vsock
        ("x86_64", 41, 2, ALLOW),
        ("x86_64", 41, 16, errno.EAFNOSUPPORT),
        ("x86_64", 41, 10, ALLOW),
        ("x86_64", 41, 40, errno.EAFNOSUPPORT),
        ("x86_64", 0x40000000 | 101, 0, KILL),
        ("aarch64", 63, 0, ALLOW),
        ("aarch64", 117, 0, errno.EPERM),
        ("aarch64", 220, CLONE_NEWUSER, errno.EPERM),
        ("aarch64", 220, SIGCHLD, ALLOW),
        ("aarch64", 198, 40, errno.EAFNOSUPPORT),
        ("aarch64", 198, 1, ALLOW),
        ("aarch64", 435, 0, errno.ENOSYS),
        ("aarch64", 101, 0, ALLOW),  # nanosleep there, ptrace elsewhere
    ],
)
def test_a_call_is_decided_by_its_number_and_argument(
    machine: str, number: int, argument: int, decision: str | int
) -> None:
    assert decided(machine, number, argument) == decision


def test_a_call_by_another_architecture_s_numbers_ends_the_process() -> None:
    assert decided("x86_64", 26, architecture=0x40000003) == KILL


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 41), ("aarch64", 198)])
def test_where_no_network_is_empty_all_sockets_are_refused(machine: str, number: int) -> None:
    for family in range(50):
        assert decided(machine, number, family, sockets=False) == errno.EAFNOSUPPORT
    assert decided(machine, 63, sockets=False) == ALLOW


def test_an_unknown_machine_has_no_filter() -> None:
    assert seccomp_filter("riscv64") is None


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_every_way_through_the_filter_ends(machine: str) -> None:
    for number in range(600):
        for argument in (0, 1, CLONE_NEWUSER):
            assert decided(machine, number, argument) in (ALLOW, errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT)


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 13), ("aarch64", 134)])
def test_no_signal_gets_a_handler_nor_is_told_to_have_one(machine: str, number: int) -> None:
    steps = handlers_filter(machine)
    assert told_by(steps, machine, 0) == ALLOW
    assert {told_by(steps, machine, number, signal) for signal in range(1, 65)} == {errno.EPERM}
