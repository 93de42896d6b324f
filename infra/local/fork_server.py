"""Processes of the local cloud's functions, each forked from a process that has loaded the libraries of its layers.

The start of a function on this machine costs the loading of its libraries: two seconds of a processor for a function
that asks a judge, and a run of the tests starts hundreds. So for each set of layers, one process, the fork server,
loads the libraries, ours too, and serves no requests. A function's process is a fork of the fork server. It then does
what a fresh process would do: it takes its environment, puts its layers on the path, and imports its handler. What is
loaded before the fork must not read the environment while it is loaded: our library does not, and a test holds that.

This module is used by the cloud's interpreter, both in the cloud's process (`starting`) and as a program (the fork
server), and imports none of our packages. On a system without process handles (Linux has them), functions start as
usual.
"""

import contextlib
import gc
import hashlib
import importlib
import importlib.util
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
"""The variable with the folders to which the emulator unpacks the layers of a function's process."""
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
"""Variables of its environment that a fork server needs."""
AT_ONCE = ("boto3.dynamodb.conditions", "boto3.s3.transfer", "pydantic", "aws_lambda_powertools")
"""Modules that nearly every function needs."""
MEANWHILE = (
    "aws_lambda_powertools.event_handler", "google.genai", "anthropic", "openai", "sympy", "pypinyin", "scipy.stats",
)  # fmt: skip
"""Modules in the layers that take long to load. They are loaded one by one while no process is requested."""
OURS, NOT_IN_LAYERS = "touchstone", "touchstone.cli"
"""Our library, whose modules are loaded after those, and its part that no function has."""
CLIENTS = ("s3", "sqs", "stepfunctions", "secretsmanager", "events")
"""The AWS services that functions call, beside DynamoDB. It takes long to make a client, since it reads the description
of its service."""
MOST_BYTES = 1 << 17
"""The largest request for a process; most of it is the environment."""


class ForkedProcess:
    """A process that a fork server forked for us, with the part of `subprocess.Popen` that the emulator uses."""

    def __init__(self, pid: int, handle: int | None, streams: tuple[TextIO, TextIO, TextIO]) -> None:
        self.pid = pid
        self.returncode: int | None = None if handle is not None else 0
        self.stdin, self.stdout, self.stderr = streams
        self._handle = handle
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """None while the process runs, then 0. Its real exit code is not known: 0 says only that it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process. Raises `subprocess.TimeoutExpired`."""
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
        """Ask the process to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process."""
        self._send(signal.SIGKILL)

    def _send(self, what: signal.Signals) -> None:
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, what)  # type: ignore[attr-defined,unused-ignore]


class ForkServers:
    """The fork servers of a cloud, by the layers they have loaded. Each is started when it is first needed."""

    def __init__(self, start: Callable[..., Any]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._known: dict[str, ForkServer] = {}

    def popen(self, command: Sequence[str], **options: Any) -> Any:
        """As `subprocess.Popen`, but by a fork if the command is a worker with layers."""
        environment = options.get("env") or {}
        layers = [Path(each) for each in environment.get(LAYERS_VARIABLE, "").split(os.pathsep) if each]
        if not layers or command[0] != sys.executable:
            return self._start(command, **options)
        try:
            return self._of(layers).fork(command[1], cwd=options["cwd"], environment=environment)
        except OSError:
            return self._start(command, **options)

    def known(self) -> "list[ForkServer]":
        """The fork servers that were started."""
        return list(self._known.values())

    def _of(self, layers: Sequence[Path]) -> "ForkServer":
        key = hashlib.sha256(b"".join(each.with_suffix(".zip").read_bytes() for each in layers)).hexdigest()
        with self._lock:
            known = self._known.get(key)
            if known is None or not known.alive:
                known = self._known[key] = ForkServer(self._start, layers)
            return known


class ForkServer:
    """One process that has loaded the libraries of a set of layers."""

    def __init__(self, start: Callable[..., Any], layers: Sequence[Path]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._socket = ours
        with theirs:
            self._process = start(
                [sys.executable, "-P", __file__, str(theirs.fileno()), *map(str, layers)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # A fork's /proc/self/environ shows the fork server's own environment: it must hold no key of the
                # machine.
                env={name: os.environ[name] for name in INHERITED if name in os.environ},
            )
        self._loaded = ours.recv(1)

    @property
    def alive(self) -> bool:
        """Whether the fork server can be asked for a process."""
        return bool(self._loaded) and self._process.poll() is None

    def close(self) -> None:
        """Close the connection, so that the fork server ends."""
        self._socket.close()

    def fork(self, script: str, *, cwd: str, environment: dict[str, str]) -> ForkedProcess:
        """A new process that runs `script`. Raises `OSError` if the fork server is gone or the request is too large."""
        message = json.dumps({"script": script, "cwd": cwd, "environment": environment}).encode()
        if len(message) > MOST_BYTES:
            raise OSError("The environment of the function is too large to be sent.")
        (given, to_it), (from_it, told), (errors, complained) = os.pipe(), os.pipe(), os.pipe()
        try:
            with self._lock:
                socket.send_fds(self._socket, [message], [given, told, complained])
                pid = int(self._socket.recv(64) or b"0")
            if not pid:
                raise ConnectionError("The fork server is gone.")
        except OSError:
            for end in (to_it, from_it, errors):
                os.close(end)
            raise
        finally:
            for end in (given, told, complained):
                os.close(end)
        streams = os.fdopen(to_it, "w", buffering=1), os.fdopen(from_it), os.fdopen(errors)
        return ForkedProcess(pid, _handle(pid), streams)


def starting(module: Any) -> None:
    """Let a module start functions' processes by forks instead of `subprocess.Popen`, if the system can do that."""
    if hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal"):
        own = types.SimpleNamespace(**{name: getattr(subprocess, name) for name in subprocess.__all__})
        own.Popen = ForkServers(subprocess.Popen).popen
        module.subprocess = own


def _handle(pid: int) -> int | None:
    """A handle of a process; None if the process is gone already."""
    try:
        return os.pidfd_open(pid)  # type: ignore[attr-defined,unused-ignore]
    except ProcessLookupError:
        return None


def serve_forks(connection: socket.socket, layers: Sequence[str]) -> None:
    """Load the libraries of the layers, and fork a process for each request, until the connection is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended children are reaped at once; their exit codes are not needed
    path = list(sys.path)
    for layer in layers:
        _put_on_path(layer)
    for name in AT_ONCE:
        _load(name)
    with contextlib.suppress(Exception):
        _read_descriptions_once()
    left = deque((*MEANWHILE, *_modules_of(OURS)))
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
    """Put a layer on the path, as the emulator does."""
    python = Path(layer) / "python"
    sys.path.insert(0, str(python))
    for packages in python.glob("lib/*/site-packages"):
        site.addsitedir(str(packages))


def _load(name: str) -> None:
    """Load a module if a layer holds it. An error is ignored here: it occurs again in the function that imports it."""
    with contextlib.suppress(Exception):
        importlib.import_module(name)


def _modules_of(package: str) -> list[str]:
    """The names of all modules of a package that a layer holds; none if no layer holds it."""
    found = importlib.util.find_spec(package)
    names = []
    for folder in (found and found.submodule_search_locations) or ():
        for file in sorted(Path(folder).rglob("*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            names.append(".".join((package, *parts)).removesuffix(".__init__"))
    return [name for name in names if not name.startswith(NOT_IN_LAYERS)]


def _read_descriptions_once() -> None:
    """Let all clients of AWS share what is read of services' descriptions, and read those that functions need."""
    sessions: Any = importlib.import_module("botocore.session")
    shared = sessions.create_loader()
    sessions.create_loader = lambda _: shared
    session = importlib.import_module("boto3").Session("none", "none", region_name="us-east-1")
    session.resource("dynamodb")
    for service in CLIENTS:
        session.client(service)


def _become(asked: dict[str, Any], streams: Sequence[int]) -> None:
    """Run a script as a fresh interpreter would, and exit."""
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
    serve_forks(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
