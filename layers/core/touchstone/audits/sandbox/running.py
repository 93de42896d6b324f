"""Runs one script in a sandbox from outside: feeds it, reads what it prints, and ends it when a bound is met."""

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
from touchstone.audits.sandbox.syscalls import handlers_filter, seccomp_filter
from touchstone.audits.sandbox.watching import adopt, end, end_adopted, tree, use
from touchstone.errors import SettingsError

WATCH_SECONDS = 0.1
"""Time between two looks at what the processes take: what can be taken in between is also bounded by the kernel."""
END_SECONDS = 10.0
"""How long a killed process may take to be gone, on a busy machine."""
END_ROUNDS = 100
CHUNK_BYTES = 65_536
MAX_REPORT_BYTES = 1_000_000
"""Far more than the runner says."""

type Breach = Literal["wall", "cpu", "memory", "processes", "import"]
type Event = Annotated[Started | Ready | Over, Discriminator("event")]
_EVENT: TypeAdapter[Started | Ready | Over] = TypeAdapter(Event)


@dataclass(slots=True)
class Printed:
    """What was printed, up to a bound."""

    bound: int
    kept: bytearray = field(default_factory=bytearray)
    cut: bool = False

    def add(self, chunk: bytes) -> None:
        """Keep of `chunk` what there is room for."""
        room = self.bound - len(self.kept)
        self.kept += chunk[:room]
        self.cut = self.cut or len(chunk) > room

    @property
    def text(self) -> str:
        """What was kept; bytes that are no text are shown as such."""
        return self.kept.decode(errors="backslashreplace")


@dataclass(slots=True, kw_only=True)
class Run:
    """What became of one script. `breach` is the bound for which it was ended from outside, None where it was not.

    `ready` and `over` are None where the runner did not come so far. Seconds are the script's alone, without the import
    of its target.
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
    """Run `script` in a sandbox of its own, with the bundle at `site` (None: with none), and end all that it started.

    With `empty`, modules of these names can be imported that hold nothing; it goes with no bundle.

    Raises SettingsError where the sandbox cannot be made, and SpoiledError where something that it started goes on.
    """
    with contextlib.ExitStack() as stack:
        report, report_in = os.pipe()
        stack.callback(os.close, report)
        with contextlib.ExitStack() as handed:
            handed.callback(os.close, report_in)
            seccomp = handed.enter_context(_seccomp())
            launch = sandbox.launch(site, limits=limits, report=report_in, seccomp=seccomp)
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
                pass_fds=[each for each in (report_in, seccomp) if each is not None],
                start_new_session=True,
            )
        stack.enter_context(process)
        watched = _Watched(process, report, limits)
        # Done first on the way out, whatever happened: nothing that was started is left when this returns.
        stack.callback(watched.end)
        return watched.until_over()


class _Watched:
    """A sandbox that runs: what it has said and printed so far, and when it must have ended."""

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
        """Read and watch until the runner has told how it ended, or is gone, or is ended here for a bound."""
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
        """Kill all that runs, and wait until it is gone. Does nothing the second time."""
        if self._process.returncode is not None:
            return
        # The first process inside goes with all others inside; without bubblewrap, those are seen in the next round
        # that were started meanwhile, for the runner takes over what loses its parent.
        for _ in range(END_ROUNDS):
            if not (found := tree(self._process.pid)[1:]) or not end(found, within_seconds=END_SECONDS):
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
        used = use(tree(self._process.pid))
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
"""Processes of the sandbox itself: bubblewrap outside, bubblewrap as the first inside, and the runner."""


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
def _request(
    script: str, launch: Launch, modules: tuple[str, ...], limits: Limits, *, empty: bool
) -> Iterator[IO[bytes]]:
    """What the runner reads as its stdin: a file without a name, so that nobody waits for the other to read."""
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
