"""Processes of the local cloud's functions, each forked from one that has loaded the libraries of its layers already.

What a function costs to start on this machine is the loading of libraries: two seconds of a processor where a judge is
asked, and the cloud starts hundreds in a run of the tests. So for each set of layers one process, the nursery, loads
what is costly and serves nothing; a function's process is a fork of it, which then does what it would have done by
itself: it takes its environment, puts its layers on the path, and imports its handler. Nothing of ours is loaded
before the fork, as that may read the environment.

Used by the cloud's interpreter, in the cloud's process (`starting`) and as a program (the nursery itself), and has
nothing of ours. Where the system has no handles of processes (Linux has), functions start as they always did.
"""

import contextlib
import gc
import hashlib
import importlib
import json
import os
import select
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

LAYERS_VARIABLE = "_LAMBDA_LAYERS_DIRS"
"""Where the emulator unpacks the layers of a function's process."""
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
"""What a nursery needs of its environment."""
AT_ONCE = ("boto3.dynamodb.conditions", "boto3.s3.transfer", "pydantic", "aws_lambda_powertools")
"""What nearly every function needs."""
MEANWHILE = (
    "aws_lambda_powertools.event_handler", "google.genai", "anthropic", "openai", "sympy", "math_verify", "pypinyin",
    "scipy.stats",
)  # fmt: skip
"""What a layer may hold that takes long to load: one after the other, while no process is asked for."""
MOST_BYTES = 1 << 17
"""Of a request for a process: its environment above all."""


class Forked:
    """A process that a nursery forked for us, as `subprocess.Popen` shows its own: what the emulator uses of it."""

    def __init__(self, pid: int, handle: int | None, streams: tuple[TextIO, TextIO, TextIO]) -> None:
        self.pid = pid
        self.returncode: int | None = None if handle is not None else 0
        self.stdin, self.stdout, self.stderr = streams
        self._handle = handle
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """None while it runs; how it ended is not known, so that 0 says no more than that it did."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises `subprocess.TimeoutExpired`."""
        handle = self._handle
        if handle is not None:
            waiting = select.poll()
            waiting.register(handle, select.POLLIN)
            if not waiting.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired("function", timeout or 0)
            with self._lock:
                if self._handle is not None:
                    os.close(self._handle)
                    self.returncode, self._handle = 0, None
        return 0

    def terminate(self) -> None:
        """Ask it to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._send(signal.SIGKILL)

    def _send(self, what: signal.Signals) -> None:
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, what)  # type: ignore[attr-defined,unused-ignore]


class Nurseries:
    """The nurseries of a cloud by the layers that they have loaded, each started when it is first needed."""

    def __init__(self, start: Callable[..., Any]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._known: dict[str, Nursery] = {}

    def popen(self, command: Sequence[str], **options: Any) -> Any:
        """What `subprocess.Popen` does, by a fork where the command is a worker with layers."""
        environment = options.get("env") or {}
        layers = [Path(each) for each in environment.get(LAYERS_VARIABLE, "").split(os.pathsep) if each]
        if not layers or command[0] != sys.executable:
            return self._start(command, **options)
        try:
            return self._of(layers).fork(command[1], cwd=options["cwd"], environment=environment)
        except OSError:
            return self._start(command, **options)

    def known(self) -> "list[Nursery]":
        """Those that were started."""
        return list(self._known.values())

    def _of(self, layers: Sequence[Path]) -> "Nursery":
        key = hashlib.sha256(b"".join(each.with_suffix(".zip").read_bytes() for each in layers)).hexdigest()
        with self._lock:
            known = self._known.get(key)
            if known is None or not known.alive:
                known = self._known[key] = Nursery(self._start, layers)
            return known


class Nursery:
    """One process that has loaded what a set of layers holds."""

    def __init__(self, start: Callable[..., Any], layers: Sequence[Path]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._socket = ours
        with theirs:
            self._process = start(
                [sys.executable, "-P", __file__, str(theirs.fileno()), *map(str, layers)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # A fork shows whoever reads /proc/self/environ what its nursery began with: no key of this machine.
                env={name: os.environ[name] for name in INHERITED if name in os.environ},
            )
        self._loaded = ours.recv(1)

    @property
    def alive(self) -> bool:
        """Whether it can be asked for a process."""
        return bool(self._loaded) and self._process.poll() is None

    def close(self) -> None:
        """Ask it for nothing more, so that it ends."""
        self._socket.close()

    def fork(self, script: str, *, cwd: str, environment: dict[str, str]) -> Forked:
        """A process that runs a script. Raises `OSError` where the nursery is gone."""
        message = json.dumps({"script": script, "cwd": cwd, "environment": environment}).encode()
        if len(message) > MOST_BYTES:
            raise OSError("The environment of the function is too large to be sent.")
        (given, to_it), (from_it, told), (errors, complained) = os.pipe(), os.pipe(), os.pipe()
        try:
            with self._lock:
                socket.send_fds(self._socket, [message], [given, told, complained])
                pid = int(self._socket.recv(64) or b"0")
            if not pid:
                raise ConnectionError("The nursery is gone.")
        except OSError:
            for end in (to_it, from_it, errors):
                os.close(end)
            raise
        finally:
            for end in (given, told, complained):
                os.close(end)
        streams = os.fdopen(to_it, "w", buffering=1), os.fdopen(from_it), os.fdopen(errors)
        return Forked(pid, _handle(pid), streams)


def starting(module: Any) -> None:
    """Let a module that starts functions' processes by `subprocess.Popen` have them forked, where that is possible."""
    if hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal"):
        own = types.SimpleNamespace(**{name: getattr(subprocess, name) for name in subprocess.__all__})
        own.Popen = Nurseries(subprocess.Popen).popen
        module.subprocess = own


def _handle(pid: int) -> int | None:
    """A handle of a process, None if it is gone already."""
    try:
        return os.pidfd_open(pid)  # type: ignore[attr-defined,unused-ignore]
    except ProcessLookupError:
        return None


def nurse(connection: socket.socket, layers: Sequence[str]) -> None:
    """Load what the layers hold, and fork whenever a process is asked for, until nobody is there to ask."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever ended is gone; nobody here asks how
    path = list(sys.path)
    for layer in layers:
        _put_on_path(layer)
    for name in AT_ONCE:
        _load(name)
    left = deque(MEANWHILE)
    connection.send(b"1")
    while True:
        while left and not select.select([connection], [], [], 0)[0]:
            _load(left.popleft())
        gc.freeze()
        message, streams, _, _ = socket.recv_fds(connection, MOST_BYTES, 3)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            connection.close()
            sys.path[:] = path
            _become(json.loads(message), streams)
        connection.send(str(pid).encode())
        for stream in streams:
            os.close(stream)


def _put_on_path(layer: str) -> None:
    """What the emulator does with a layer."""
    python = Path(layer) / "python"
    sys.path.insert(0, str(python))
    for packages in python.glob("lib/*/site-packages"):
        site.addsitedir(str(packages))


def _load(name: str) -> None:
    """Load what a layer may hold; what it does not hold is not loaded, and what breaks breaks in the function."""
    with contextlib.suppress(Exception):
        importlib.import_module(name)


def _become(asked: dict[str, Any], streams: Sequence[int]) -> None:
    """Run a script as a fresh interpreter would, and end."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process lives
        sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["cwd"])
        time.tzset()
        tempfile.tempdir = None
        script = asked["script"]
        sys.argv = [script]
        main = types.ModuleType("__main__")
        main.__file__ = script
        sys.modules["__main__"] = main
        exec(compile(Path(script).read_bytes(), script, "exec"), main.__dict__)  # noqa: S102 - that is what it is for
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - as an interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        for said in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                said.flush()
        os._exit(code)


if __name__ == "__main__":
    nurse(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
