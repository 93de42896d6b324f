"""Runs one script inside the sandbox and says how it ended. Standard library only, one file, started by `python -I -S`.

Two processes. The first imports the target, keeps the channel to the outside, and watches; the second, forked from it,
runs the script. So the script has no descriptor on which a result leaves the sandbox, what it does to the library dies
with it, and its processor time counts from zero.

How a script ended can only be told by the process that it ran in, and code that takes its own interpreter apart can
make that say anything. It gains no more by it than by not testing what it claims to test: the script is kept with its
result for whoever reads that. It cannot speak for another script, nor by what it prints, nor by its exit code.
"""

import builtins
import contextlib
import ctypes
import importlib
import json
import math
import os
import resource
import secrets
import signal
import site
import struct
import sys
import traceback
import types
from typing import Any

SCRIPT_NAME = "proof.py"
MAX_RECORD_BYTES = 60_000
"""A record fits into the buffer of a pipe, so that writing it never waits for a reader."""
MAX_MESSAGE_CHARS = 2_000
MAX_FRAMES = 60
MAX_CHAIN = 8
MAX_FAULTS = 20
MOST_PROCESSES = 1024
"""While the target is imported; the script has a limit of its own, which is no higher."""
SPARE_MEMORY_BYTES = 64 * 1024 * 1024
"""Given back after a script that used all of its memory, so that this can still be told."""
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
SECCOMP_MODE_FILTER = 2
STEP_BYTES = 8

type Json = dict[str, Any]
type Key = tuple[str, str, str]


def main(report: int) -> None:  # pragma: no cover - runs in the sandbox alone
    """Read the request from stdin, run it, and write two lines of JSON to the descriptor `report`."""
    _say(report, {"event": "started"})
    request: Json = json.load(sys.stdin.buffer)
    _alone(request, keep=report)
    # What a library does when it is imported is no more to be trusted than a script.
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    if request["limits"]["own_user"]:
        _limit(resource.RLIMIT_NPROC, MOST_PROCESSES, MOST_PROCESSES)
    if request["steps"] is not None:
        _filter(bytes.fromhex(request["steps"]))
    world = World(request["site"], tuple(request["modules"]), os.path.join(os.getcwd(), SCRIPT_NAME))  # noqa: PTH118, PTH109
    failures = world.enter()
    taken = {"cpu_seconds": _cpu_seconds(), "memory_bytes": _memory_bytes()}
    _say(report, {"event": "ready", **taken, "failures": failures})
    inside, outside = os.pipe()
    token = secrets.token_hex(16)
    _prctl(PR_SET_DUMPABLE, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(report)
        os.close(inside)
        _prctl(PR_SET_DUMPABLE, 1)
        _prove(request, world, outside, token)
    os.close(outside)
    _, status, used = os.wait4(child, 0)
    os.set_blocking(inside, False)
    record = _received(inside, token)
    _end_orphans()
    _say(
        report,
        {
            "event": "ended",
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "record": record,
        },
    )


class World:
    """The library that a script is judged by, as it was before the script."""

    def __init__(self, site_folder: str | None, modules: tuple[str, ...], script: str) -> None:
        self.site = site_folder
        self.modules = modules
        self.script = script
        self.controls: dict[str, str] = {}
        self._before: dict[Key, object] = {}
        self._names: dict[str, types.ModuleType] = {}

    def enter(self) -> dict[str, str]:
        """Import the target, try the controls on it, and remember what it is made of.

        Returns why a module could not be imported, by name. Nothing of the target is there without a folder of it.
        """
        if self.site is None:
            return {}
        sys.path.insert(0, self.site)
        site.addsitedir(self.site)
        failures: dict[str, str] = {}
        for name in self.modules:
            try:
                self._names[name] = importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 - whatever a library raises, it cannot be imported
                failures[name] = _text(error)
        self.controls = self._tried()
        self._before = dict(self._members())
        return failures

    def faults(self) -> list[str]:
        """What the script has changed of what it is judged by: the library, and what every program is made of."""
        found = [f"{name} {end}" for name, end in self._tried().items() if self.controls.get(name) != end]
        now = dict(self._members())
        for key, value in self._before.items():
            if now.get(key) is not value and _is_fixed(key[2], value):
                found.append(f"{'.'.join(filter(None, key))} was replaced")
        found += [f"{'.'.join(filter(None, key))} is the script's own" for key in self._intruders()]
        return found[:MAX_FAULTS]

    def _tried(self) -> dict[str, str]:
        """The controls: what is known to hold of the target, and what is known not to."""
        invented = "touchstone_" + secrets.token_hex(8)
        ends = {}
        for name, module in self._names.items():
            try:
                ends[name] = "is there" if importlib.import_module(name) is module else "is another"
            except BaseException as error:  # noqa: BLE001
                ends[name] = f"raises {type(error).__name__}"
            for what, act in (
                ("an invented attribute of it", lambda module=module: getattr(module, invented)),
                ("an invented module of it", lambda name=name: importlib.import_module(f"{name}.{invented}")),
            ):
                try:
                    act()
                    ends[f"{name}: {what}"] = "is there"
                except BaseException as error:  # noqa: BLE001
                    ends[f"{name}: {what}"] = f"raises {type(error).__name__}"
        return ends

    def _members(self) -> list[tuple[Key, object]]:
        """All that the target's modules and classes hold, and the built-in functions."""
        found: list[tuple[Key, object]] = [(("builtins", "", name), value) for name, value in vars(builtins).items()]
        for module_name, module in self._loaded():
            if self.place_of_module(module_name) == "target":
                for owner, name, value in _contents(module):
                    found.append(((module_name, owner, name), value))
        return found

    def _intruders(self) -> list[Key]:
        """Where the script's own code, or a mock, stands in a module or class of the bundle."""
        return [
            (module_name, owner, name)
            for module_name, module in self._loaded()
            if self.place_of_module(module_name) in ("target", "bundle")
            for owner, name, value in _contents(module)
            if self._is_script(value)
        ]

    def _is_script(self, value: object) -> bool:
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if isinstance(value, property):
            value = value.fget
        if isinstance(value, types.FunctionType):
            return value.__code__.co_filename == self.script
        owner = value if isinstance(value, type) else type(value)
        return owner.__module__ in ("__main__", "unittest.mock")

    def _loaded(self) -> list[tuple[str, types.ModuleType]]:
        return [(name, one) for name, one in list(sys.modules.items()) if type(one) is types.ModuleType]

    def place_of_module(self, name: object) -> str:
        """Whose a module of that name is: `target`, `bundle` (what came with it), `script` or `elsewhere`."""
        if not isinstance(name, str):
            return "elsewhere"
        if any(name == module or name.startswith(module + ".") for module in self.modules):
            return "target"
        if name == "__main__":
            return "script"
        return self.place_of_file(getattr(sys.modules.get(name), "__file__", None))

    def place_of_file(self, path: object) -> str:
        """Whose a file is."""
        if path == self.script:
            return "script"
        if not isinstance(path, str) or self.site is None or not path.startswith(self.site + "/"):
            return "elsewhere"
        name = path[len(self.site) + 1 :].removesuffix(".py").replace("/", ".")
        own = any(name == module or name.startswith(module + ".") for module in self.modules)
        return "target" if own else "bundle"

    def owner_of(self, thing: object) -> str:
        """Whose an object is, by the classes it is made of: the target's where one of them is."""
        if isinstance(thing, types.ModuleType):
            return self.place_of_module(thing.__name__)
        if isinstance(thing, types.FunctionType | types.BuiltinFunctionType):
            return self.place_of_module(thing.__module__)
        classes = (thing if isinstance(thing, type) else type(thing)).__mro__
        places = [self.place_of_module(one.__module__) for one in classes]
        return next((place for place in ("target", "bundle", "script") if place in places), "elsewhere")

    def described(self, error: BaseException) -> list[Json]:
        """An exception and those that it came from, as plain values."""
        chain: list[Json] = []
        current: BaseException | None = error
        while current is not None and len(chain) < MAX_CHAIN:
            chain.append(self._one(current))
            current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        return chain

    def _one(self, error: BaseException) -> Json:
        told: Json = {
            "types": [f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__ if one is not object],
            "message": _text(error),
            "frames": [self._frame(*one) for one in _frames(error)[-MAX_FRAMES:]],
        }
        if isinstance(error, ImportError):
            told |= {"name": _word(error.name), "name_from": _word(error.name_from)}
        elif isinstance(error, AttributeError):
            told |= {"name": _word(error.name), "owner": self.owner_of(error.obj)}
        elif isinstance(error, NameError):
            told |= {"name": _word(error.name)}
        elif isinstance(error, SyntaxError):
            told |= {"owner": self.place_of_file(error.filename)}
        elif isinstance(error, OSError):
            told |= {"errno": error.errno if isinstance(error.errno, int) else None}
        return told

    def _frame(self, frame: types.FrameType, instruction: int) -> Json:
        code = frame.f_code
        place = self.place_of_file(code.co_filename)
        told: Json = {"place": place}
        if place == "script":
            positions = list(code.co_positions())
            told["span"] = positions[instruction // 2] if 0 <= instruction // 2 < len(positions) else None
        return told


def _contents(module: types.ModuleType) -> list[tuple[str, str, object]]:
    found: list[tuple[str, str, object]] = []
    for name, value in list(vars(module).items()):
        found.append(("", name, value))
        if isinstance(value, type) and value.__module__ == module.__name__:
            found += [(value.__qualname__, one, held) for one, held in list(vars(value).items())]
    return found


def _is_fixed(name: str, value: object) -> bool:
    """Whether a library does not change this by itself, as it does its caches and counters."""
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | staticmethod | classmethod | property):
        return True
    return name.isupper() and isinstance(value, str | bytes | int | float | tuple | frozenset)


def _frames(error: BaseException) -> list[tuple[types.FrameType, int]]:
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def _text(error: BaseException) -> str:
    try:
        said = str(error)
    except BaseException:  # noqa: BLE001 - an exception's own code may raise
        said = ""
    return f"{type(error).__name__}: {said}"[:MAX_MESSAGE_CHARS]


def _word(name: object) -> str | None:
    return name[:MAX_MESSAGE_CHARS] if isinstance(name, str) else None


def _prove(
    request: Json, world: World, outside: int, token: str
) -> None:  # pragma: no cover - runs in the sandbox alone
    """Run the script in this process, tell how it ended, and leave."""
    memory = _bound(request["limits"])
    sys.argv[:] = [world.script]
    runner = sys.modules["__main__"]  # held, so that it outlives its name
    main_module = types.ModuleType("__main__")
    main_module.__dict__["__file__"] = world.script
    sys.modules["__main__"] = main_module
    told: Json = {"end": "completed", "errors": []}
    try:
        with open(world.script, "w", encoding="utf-8") as file:  # noqa: PTH123 - one module less to be patched
            file.write(request["script"])
        exec(compile(request["script"], world.script, "exec", dont_inherit=True), main_module.__dict__)  # noqa: S102
    except SystemExit:
        told["end"] = "exit"
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what is asked for
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        told = {"end": "raised", "errors": world.described(error)}
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        traceback.print_exception(error)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    told["faults"] = world.faults()
    del runner
    while len(line := (token + json.dumps(told)).encode()) > MAX_RECORD_BYTES and told["errors"]:
        told["errors"].pop()
    os.write(outside, line)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # what it prints is not what is asked for
            stream.flush()
    os._exit(0)


def _bound(limits: Json) -> int:  # pragma: no cover - runs in the sandbox alone
    """Set the limits of this process and of those it starts. Returns how much memory it may have at the very end."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        here = int(file.read().split()[0]) * resource.getpagesize()
    memory = here + limits["memory_bytes"]
    for which, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, math.ceil(limits["cpu_seconds"]) + 1),  # for one process, should nobody watch outside
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_FSIZE, limits["written_bytes"]),
        *([(resource.RLIMIT_NPROC, limits["processes"])] if limits["own_user"] else []),
    ):
        _limit(which, bound, bound)
    _limit(resource.RLIMIT_AS, memory, memory + SPARE_MEMORY_BYTES)
    return resource.getrlimit(resource.RLIMIT_AS)[1]


def _limit(which: int, soft: int, hard: int) -> None:  # pragma: no cover - runs in the sandbox alone
    """Set a limit, or keep the one that was there, where that is lower."""
    highest = resource.getrlimit(which)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(which, (soft, hard))


def _filter(steps: bytes) -> None:  # pragma: no cover - as `main`
    """Put a filter of system calls on this process and all that it starts. Ends it where the kernel has none."""
    program = ctypes.create_string_buffer(steps)
    filter_ = struct.pack("@HP", len(steps) // STEP_BYTES, ctypes.addressof(program))
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_):
        os._exit(1)


def _alone(request: Json, *, keep: int) -> None:  # pragma: no cover - runs in the sandbox alone
    """Become who the script is to be, with no descriptor but the standard ones and `keep`."""
    user = request["user"]
    if user is not None and os.getuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.closerange(3, keep)
    os.closerange(keep + 1, 4096)


def _received(inside: int, token: str) -> Json | None:
    """What the script's process told at its end; None where it left without a word, or with another's."""
    try:
        line = os.read(inside, MAX_RECORD_BYTES + 1)
    except BlockingIOError:
        return None
    told = line.removeprefix(token.encode())
    if told == line:
        return None
    try:
        record = json.loads(told)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _end_orphans() -> None:  # pragma: no cover - as `main`
    """End what the script left behind: with its parent gone it is this process's own."""
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


def _cpu_seconds() -> float:  # pragma: no cover - runs in the sandbox alone
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _memory_bytes() -> int:  # pragma: no cover - runs in the sandbox alone
    """What this process takes, as it is counted from outside: its share of what it shares."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
        return next((int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:")), 0)


def _prctl(option: int, value: int) -> None:  # pragma: no cover - runs in the sandbox alone
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _say(report: int, told: Json) -> None:  # pragma: no cover - runs in the sandbox alone
    os.write(report, json.dumps(told).encode() + b"\n")


if __name__ == "__main__":  # pragma: no cover
    main(int(sys.argv[1]))
