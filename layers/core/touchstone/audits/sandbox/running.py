"""Runs one script in a sandbox, seen from outside: feeds it, reads its output, and ends it if it meets a bound."""

import contextlib
import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import Discriminator, TypeAdapter, ValidationError

from touchstone.audits.sandbox.bubblewrap import Launch, Sandbox
from touchstone.audits.sandbox.limits import (
    IMPORT_CPU_SECONDS,
    IMPORT_MEMORY_BYTES,
    IMPORT_PROCESSES,
    IMPORT_WALL_SECONDS,
    Limits,
)
from touchstone.audits.sandbox.record import Over, Ready, Started
from touchstone.audits.sandbox.runner import runner_code
from touchstone.audits.sandbox.syscalls import handlers_filter, seccomp_filter
from touchstone.audits.sandbox.watching import adopt, end_adopted, kill_all, process_tree, resource_use
from touchstone.errors import SettingsError

WATCH_SECONDS = 0.1
"""Time between two checks of the processes' resources. The kernel bounds what they can take in between."""
END_SECONDS = 10.0
"""How long a killed process may take until it is gone, on a busy machine."""
END_ROUNDS = 100
CHUNK_BYTES = 65_536
MAX_REPORT_BYTES = 1_000_000
"""Most bytes that are read of the runner's messages: far more than it sends."""

type Breach = Literal["wall", "cpu", "memory", "processes", "import"]
type Event = Annotated[Started | Ready | Over, Discriminator("event")]
_EVENT: TypeAdapter[Started | Ready | Over] = TypeAdapter(Event)


@dataclass(slots=True)
class Printed:
    """The output of a script, kept up to `bound` bytes."""

    bound: int
    kept: bytearray = field(default_factory=bytearray)
    cut: bool = False

    def add(self, chunk: bytes) -> None:
        """Keep as much of `chunk` as there is room for."""
        room = self.bound - len(self.kept)
        self.kept += chunk[:room]
        self.cut = self.cut or len(chunk) > room

    @property
    def text(self) -> str:
        """The output that was kept. Bytes that are no text are shown as escapes."""
        return self.kept.decode(errors="backslashreplace")


@dataclass(slots=True, kw_only=True)
class Run:
    """The end of one script. `breach` is the bound for which it was ended from outside; None if it was not.

    `ready` and `over` are None if the runner did not get so far. Seconds are those of the script alone, without the
    import of its target.
    """

    stdout: Printed
    stderr: Printed
    ready: Ready | None = None
    over: Over | None = None
    breach: Breach | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0


def run(
    script: str,
    *,
    site: Path | None,
    modules: tuple[str, ...],
    empty: bool = False,
    sandbox: Sandbox,
    limits: Limits,
) -> Run:
    """Run `script` in a sandbox of its own, and then end all processes that it started.

    `site` is the folder of the bundle; None: there is no bundle. `empty`: modules called `modules` can be imported but
    hold nothing; it is only used without a bundle. Raises SettingsError if the sandbox cannot be made, and SpoiledError
    if a process that the script started cannot be ended.
    """
    with contextlib.ExitStack() as stack:
        report, report_in = os.pipe()
        stack.callback(os.close, report)
        with contextlib.ExitStack() as handed:
            handed.callback(os.close, report_in)
            seccomp = handed.enter_context(_seccomp())
            code = handed.enter_context(_runner_code())
            launch = sandbox.launch(site, limits=limits, report=report_in, seccomp=seccomp, code=code)
            request = handed.enter_context(_request(script, launch, modules, limits, empty=empty))
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="touchstone-proof-"))
            if launch.adopted:
                stack.callback(end_adopted, adopt())
            process = subprocess.Popen(  # noqa: S603 - the command is ours; what it runs is in the sandbox
                launch.command,
                stdin=request,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=launch.environment,
                cwd=folder,
                pass_fds=[each for each in (report_in, seccomp, code) if each is not None],
                start_new_session=True,
            )
        stack.enter_context(process)
        watched = _Watched(process, report, limits)
        # This runs first on the way out, whatever happened, so that no started process is left when `run` returns.
        stack.callback(watched.end)
        return watched.until_over()


class _Watched:
    """A running sandbox: its messages and output so far, and when it must have ended."""

    def __init__(self, process: subprocess.Popen[bytes], report: int, limits: Limits) -> None:
        self._process = process
        self._report = report
        self._limits = limits
        self._said = bytearray()
        self._lines = 0
        self._started = False
        self._since = time.monotonic()
        self._run = Run(stdout=Printed(limits.output_bytes), stderr=Printed(limits.output_bytes))

    def until_over(self) -> Run:
        """Read and watch until the runner reports its end, is gone, or is ended here because of a bound."""
        assert self._process.stdout is not None  # noqa: S101 - piped, in `run`
        assert self._process.stderr is not None  # noqa: S101
        with selectors.DefaultSelector() as selector:
            for stream in (self._process.stdout, self._process.stderr):
                os.set_blocking(stream.fileno(), False)
            os.set_blocking(self._report, False)
            selector.register(self._process.stdout, selectors.EVENT_READ, self._run.stdout)
            selector.register(self._process.stderr, selectors.EVENT_READ, self._run.stderr)
            selector.register(self._report, selectors.EVENT_READ)
            look = 0.0
            while self._report in {key.fd for key in selector.get_map().values()} and self._run.over is None:
                for key, _ in selector.select(WATCH_SECONDS):
                    self._read(selector, key)
                if time.monotonic() >= look:
                    if self._breached():
                        break
                    look = time.monotonic() + WATCH_SECONDS
            self.end()
            for key in list(selector.get_map().values()):
                self._read(selector, key, everything=True)
        self._finish()
        return self._run

    def end(self) -> None:
        """Kill all processes of the sandbox and wait until they are gone. A second call does nothing."""
        if self._process.returncode is not None:
            return
        # If the first process inside is killed, all others inside end with it. Without bubblewrap they do not. But the
        # runner adopts processes that lose their parent: those that were started meanwhile are found in the next round.
        for _ in range(END_ROUNDS):
            if not (found := process_tree(self._process.pid)[1:]) or not kill_all(found, within_seconds=END_SECONDS):
                break
        self._process.kill()
        self._process.wait()

    def _read(self, selector: selectors.BaseSelector, key: selectors.SelectorKey, *, everything: bool = False) -> None:
        while True:
            try:
                chunk = os.read(key.fd, CHUNK_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                selector.unregister(key.fileobj)
                return
            if isinstance(key.data, Printed):
                key.data.add(chunk)
            else:
                self._hear(chunk)
            if not everything:
                return

    def _hear(self, chunk: bytes) -> None:
        self._said += chunk[: MAX_REPORT_BYTES - len(self._said)]
        for line in self._said.split(b"\n")[self._lines : -1]:
            self._lines += 1
            try:
                event = _EVENT.validate_json(line)
            except ValidationError:
                continue
            match event:
                case Started():
                    self._started = True
                case Ready():
                    self._run.ready = event
                    self._since = time.monotonic()
                case Over():
                    self._run.over = event
                    self._run.wall_seconds = time.monotonic() - self._since

    def _breached(self) -> bool:
        taken = time.monotonic() - self._since
        used = resource_use(process_tree(self._process.pid))
        ready = self._run.ready
        cpu = used.cpu_seconds - (ready.cpu_seconds if ready else 0.0)
        memory = used.memory_bytes - (ready.memory_bytes if ready else 0)
        self._run.wall_seconds, self._run.cpu_seconds = taken, max(self._run.cpu_seconds, cpu)
        limits = self._limits
        if ready is None:
            late = taken > IMPORT_WALL_SECONDS or cpu > IMPORT_CPU_SECONDS
            much = memory > IMPORT_MEMORY_BYTES or used.processes > IMPORT_PROCESSES + _OURS
            self._run.breach = "import" if late or much else None
        elif cpu > limits.cpu_seconds:
            self._run.breach = "cpu"
        elif taken > limits.wall_seconds:
            self._run.breach = "wall"
        elif memory > limits.memory_bytes:
            self._run.breach = "memory"
        elif used.processes > limits.processes + _OURS:
            self._run.breach = "processes"
        return self._run.breach is not None

    def _finish(self) -> None:
        if not self._started:
            why = self._run.stderr.text.strip()[-500:] or f"exit code {self._process.returncode}"
            raise SettingsError(f"The sandbox could not be made ({why}).")
        if self._run.over is not None:
            self._run.cpu_seconds = self._run.over.cpu_seconds


_OURS = 3
"""Processes of the sandbox itself: bubblewrap outside, bubblewrap as the first process inside, and the runner."""


@contextlib.contextmanager
def _seccomp() -> Iterator[int | None]:
    steps = seccomp_filter()
    if steps is None:
        yield None
        return
    out, into = os.pipe()
    try:
        os.write(into, steps)
    finally:
        os.close(into)
    try:
        yield out
    finally:
        os.close(out)


@contextlib.contextmanager
def _runner_code() -> Iterator[int]:
    """A file without a name that holds the compiled runner."""
    with tempfile.TemporaryFile() as file:
        file.write(runner_code())
        file.seek(0)
        yield file.fileno()


@contextlib.contextmanager
def _request(
    script: str, launch: Launch, modules: tuple[str, ...], limits: Limits, *, empty: bool
) -> Iterator[IO[bytes]]:
    """The runner's stdin: a file without a name. With a file, neither side waits for the other to read."""
    with tempfile.TemporaryFile() as file:
        request = {
            "script": script,
            "site": launch.site,
            "modules": list(modules if launch.site is not None else ()),
            "empty": list(modules if empty else ()),
            "user": launch.user,
            "steps": None if launch.steps is None else launch.steps.hex(),
            "no_handlers": None if (steps := handlers_filter()) is None else steps.hex(),
            "limits": limits.model_dump() | {"own_user": launch.own_user},
        }
        file.write(json.dumps(request).encode())
        file.seek(0)
        yield file
