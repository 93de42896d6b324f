"""Runs one script inside the sandbox and says how it ended. Standard library only, one file, started by `python -I -S`.

Two processes. The first imports the target, keeps the channel to the outside, and watches; the second, forked from it,
runs the script. So the script has no descriptor on which a result leaves the sandbox, what it does to the library dies
with it, and its processor time counts from zero.

How a script ended is known in the process that it ran in and nowhere else. So what tells it there is kept from the
script:

- It is made of functions of its own, with built-in functions of their own, and of what was bound before the script
  ran. No class leads to them once the script runs, whatever `object.__subclasses__` shows, and no frame of theirs is
  below the script's. They are held by the stack of one call alone.
- What could lead to them all the same ends the process at once, by a status that the kernel hands to the first one: the
  list of all objects, functions that trace, hooks, raw memory.
- No signal can be given a function, which would be called in the middle of them.
- The first process believes a record only where it begins with a secret that the script was never given, holds a value
  that was drawn after the script had ended, and was written by a process that then left in order.

What may be left to a script that takes the interpreter apart is said in decision 0012.
"""

import builtins
import contextlib
import ctypes
import importlib
import importlib.machinery
import json
import math
import os
import resource
import secrets
import select
import signal
import site
import struct
import sys
import traceback
from collections.abc import Callable
from gc import disable as stop_collecting
from json.encoder import encode_basestring_ascii as quoted
from opcode import opmap
from os import _exit, getpid, read, readlink, stat, write
from resource import RLIMIT_AS, setrlimit
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace, coroutine
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
REACHED_INTO = 77
"""The status by which the script's process leaves where the script reached for what tells its end."""
LOST = 76
"""And where that could not be told."""
UNTOUCHABLE = frozenset({
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace", "sys.setprofile", "sys.addaudithook",
    "sys.monitoring.register_callback", "sys._current_frames", "sys._current_exceptions", "sys.remote_exec",
    "cpython.remote_debugger_script", "cpython.PyInterpreterState_New",
    "sqlite3.enable_load_extension", "sqlite3.load_extension",
})  # fmt: skip
"""Events of Python's audit by which code gets at the objects and calls of others. No proof needs them."""
NATIVE = ("_testcapi", "_testinternalcapi", "_testlimitedcapi", "_testclinic", "_testbuffer")
"""Modules of Python's own tests, which read and write memory as they are told."""
RETURNS = frozenset(opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE") if name in opmap)
LOOKING = ("dataclasses", "enum", "importlib.metadata", "importlib.util", "inspect", "pkgutil", "typing")
"""Python's own modules by which a library is looked at, which are to be as they were."""
mro_of = type.__dict__["__mro__"].__get__
dict_of = type.__dict__["__dict__"].__get__
module_of = type.__dict__["__module__"].__get__
name_of = type.__dict__["__qualname__"].__get__
trace_of, cause_of, context_of, suppressed_of = (
    BaseException.__dict__[name].__get__
    for name in ("__traceback__", "__cause__", "__context__", "__suppress_context__")
)
BUILT_IN = {id(value): value.__name__ for value in vars(builtins).values() if isinstance(value, type)}
MODULES, META_PATH, PATH_HOOKS = sys.modules, sys.meta_path, sys.path_hooks
NAMESPACE = type(importlib.machinery.NamespaceLoader("", [], None)._path)  # type: ignore[attr-defined,arg-type]  # noqa: SLF001

type Json = dict[str, Any]
type Holder = tuple[str, str]
"""A module, and the name of a class in it or nothing."""
type Leave = Callable[[object, BaseException | None, object], None]
"""What a `with` calls when its block is left: with the class of what was raised, what was raised, and its traceback."""


def main(report: int) -> tuple[Any, ...]:  # pragma: no cover - runs in the sandbox alone
    """Read the request from stdin, run it, and write lines of JSON to the descriptor `report`.

    Returns in the script's process alone, with what `run_last` takes. The other process leaves.
    """
    _say(report, {"event": "started"})
    request: Json = json.load(sys.stdin.buffer)
    _alone(request, keep=report)
    # What a library does when it is imported is no more to be trusted than a script.
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    if request["limits"]["own_user"]:
        _limit(resource.RLIMIT_NPROC, MOST_PROCESSES, MOST_PROCESSES)
    if request["steps"] is not None:
        _filter(bytes.fromhex(request["steps"]))
    world = new_world(request["site"], tuple(request["modules"]), os.path.join(os.getcwd(), SCRIPT_NAME))  # noqa: PTH118, PTH109
    failures = world.enter()
    _set_empty(request["empty"])
    taken = {"cpu_seconds": _cpu_seconds(), "memory_bytes": _memory_bytes()}
    _say(report, {"event": "ready", **taken, "failures": failures})
    inside, outside = os.pipe()
    asked, answered = os.pipe()
    token = secrets.token_hex(16).encode()
    _prctl(PR_SET_DUMPABLE, 0)  # and that of the script's process: no other of the same user reads or writes its memory
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        for each in (report, inside, answered):
            os.close(each)
        return _script(request, world, outside, asked, token)
    os.close(outside)
    os.close(asked)
    said = _heard(child, inside, answered, token)
    _, status, used = os.wait4(child, 0)
    left = os.waitstatus_to_exitcode(status)
    _end_orphans()
    _say(
        report,
        {
            "event": "ended",
            "signal": -left if left < 0 else None,
            "reached_into": left == REACHED_INTO,
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "record": _record(said) if left == 0 else None,
        },
    )
    os._exit(0)


def _heard(child: int, inside: int, answered: int, token: bytes) -> bytes:
    """What the script's process told at its end; nothing where it told anything else before.

    It says the token once the script has ended, and is then given a value that was drawn at that moment, which what it
    tells has to begin with.
    """
    ended = os.pidfd_open(child)
    os.set_blocking(inside, False)
    waiting = select.poll()
    waiting.register(inside, select.POLLIN)
    waiting.register(ended, select.POLLIN)
    said, drawn = b"", b""
    over = False
    while not over:
        over = ended in {descriptor for descriptor, _ in waiting.poll()}
        with contextlib.suppress(BlockingIOError):
            while len(said) <= MAX_RECORD_BYTES + len(token) and (chunk := os.read(inside, MAX_RECORD_BYTES)):
                said += chunk
        if said == token and not drawn:
            drawn = secrets.token_hex(16).encode()
            with contextlib.suppress(BrokenPipeError):
                os.write(answered, drawn)
        elif said and not drawn and not token.startswith(said):
            break  # something else wrote here: nothing from here is believed
        elif len(said) > MAX_RECORD_BYTES + len(token):
            break
    for each in (ended, inside, answered):
        os.close(each)
    start = token + drawn
    return said.removeprefix(start) if drawn and said.startswith(start) else b""


def _record(said: bytes) -> Json | None:
    try:
        record = json.loads(said)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def new_world(site_folder: str | None, modules: tuple[str, ...], script: str) -> SimpleNamespace:  # noqa: C901, PLR0915 - no class
    """The library that a script is judged by, as it was before the script: functions that share what they know.

    No class holds them, so that a script finds none of them by looking through all classes.
    """
    names: dict[str, ModuleType] = {}
    before: dict[Holder, dict[str, object]] = {}
    known: dict[str, ModuleType] = {}
    made: list[tuple[str, object, tuple[object, ...]]] = []
    own_code: dict[int, CodeType] = {}
    file_code: dict[str, frozenset[CodeType]] = {}

    def enter() -> dict[str, str]:
        """Import the target and remember what it is made of.

        Returns why a module could not be imported, by name. Nothing of the target is there without a folder of it.
        """
        if site_folder is None:
            return {}
        sys.path.insert(0, site_folder)
        site.addsitedir(site_folder)
        failures: dict[str, str] = {}
        for name in modules:
            try:
                names[name] = importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 - whatever a library raises, it cannot be imported
                failures[name] = text_of(error)
        for name in LOOKING:
            importlib.import_module(name)
        before.update(holders())
        for (module, owner), held in before.items():
            if place_of_module(module) == "target":
                made.extend((_dotted(module, owner, name), one, _made_of(one)) for name, one in held.items())
        made[:] = [one for one in made if one[2]]
        known.update(MODULES)
        return failures

    def compiled(text: str) -> CodeType:
        """The script as Python runs it. Raises what Python raises of it."""
        code = compile(text, script, "exec", dont_inherit=True)
        own_code.update((id(each), each) for each in _all_code(code))
        return code

    def faults() -> list[str]:
        """What the script has changed of what it is judged by: the library, and what every program is made of."""
        if site_folder is None:
            return []
        now = dict(holders())
        found: list[str] = []
        for holder, held in before.items():
            left = now.get(holder, {})
            for name, value in held.items():
                if left.get(name) is not value:
                    found += [f"{_dotted(*holder, name)} was replaced"] * _is_fixed(name, value)
                    found += [f"{_dotted(*holder, name)} is the script's own"] * is_script(left.get(name))
        for (module, owner), held in now.items():
            place = place_of_module(module)
            if place in ("target", "bundle") or module not in known:
                known_here = before.get((module, owner))
                for name in held.keys() - (known_here or {}).keys():
                    mock = place != "elsewhere" and is_mock(held[name])
                    found += [f"{_dotted(module, owner, name)} is the script's own"] * (mock or is_script(held[name]))
                    if place == "target" and known_here is not None:
                        found += [f"{_dotted(module, owner, name)} was added"] * _is_added(name, held[name])
        found += [f"{name} was changed" for name, function, parts in made if _made_of(function) != parts]
        found += [f"{name} is no module of the bundle" for name, one in list(MODULES.items()) if is_foreign(name, one)]
        found += [f"sys.{where} is the script's own" for where, one in finders() if is_script(one)]
        return found[:MAX_FAULTS]

    def is_foreign(name: object, module: object) -> bool:
        """Whether a module goes by a name of the target's and did not come from its files."""
        if site_folder is None or place_of_module(name) != "target" or name in known:
            return False
        if type(module) is not ModuleType:
            return place_of_module(_word_of(type(module), module_of)) not in ("target", "bundle")
        path, start = module.__dict__.get("__file__"), f"{site_folder}/{str(name).replace('.', '/')}"
        if path is None:
            return type(module.__dict__.get("__path__")) is not NAMESPACE
        if type(path) is not str or not _exists(path):
            return True
        return path not in (f"{start}.py", f"{start}/__init__.py") and not (path.startswith(start) and ".so" in path)

    def finders() -> list[tuple[str, object]]:
        """What finds modules for the interpreter, by where it stands."""
        return [("meta_path", one) for one in list(META_PATH)] + [("path_hooks", one) for one in list(PATH_HOOKS)]

    def holders() -> list[tuple[Holder, dict[str, object]]]:
        """All that modules and classes hold, by their names: the target's, what it stands on, and Python's own."""
        found: list[tuple[Holder, dict[str, object]]] = []
        for module_name, module in loaded():
            held = dict(module.__dict__)
            found.append(((module_name, ""), held))
            found += [
                ((module_name, name_of(value)), dict(dict_of(value)))
                for value in held.values()
                if type in mro_of(type(value)) and _word_of(value, module_of) == module_name
            ]
        return found

    def is_script(value: object) -> bool:
        kinds = mro_of(type(value))
        if staticmethod in kinds or classmethod in kinds:
            value = value.__func__  # type: ignore[attr-defined]
        elif property in kinds:
            value = value.fget  # type: ignore[attr-defined]
        if type(value) is FunctionType:
            return value.__code__.co_filename == script
        owner = value if type in mro_of(type(value)) else type(value)
        return _word_of(owner, module_of) == "__main__"

    def is_mock(value: object) -> bool:
        return _word_of(value if type in mro_of(type(value)) else type(value), module_of) == "unittest.mock"

    def loaded() -> list[tuple[str, ModuleType]]:
        found = [(name, one) for name, one in list(MODULES.items()) if type(one) is ModuleType and type(name) is str]
        return [(name, one) for name, one in found if name not in ("__main__", "__mp_main__")]

    def place_of_module(name: object) -> str:
        """Whose a module of that name is: `target`, `bundle` (what came with it), `script` or `elsewhere`."""
        if type(name) is not str:
            return "elsewhere"
        if any(name == module or name.startswith(module + ".") for module in modules):
            return "target"
        if name == "__main__":
            return "script"
        module = MODULES.get(name)
        return place_of_file(module.__dict__.get("__file__") if type(module) is ModuleType else None)

    def place_of_file(path: object) -> str:
        """Whose a file is."""
        if type(path) is not str:
            return "elsewhere"
        if path == script:
            return "script"
        if site_folder is None or not path.startswith(site_folder + "/"):
            return "elsewhere"
        name = path[len(site_folder) + 1 :].removesuffix(".py").replace("/", ".")
        own = any(name == module or name.startswith(module + ".") for module in modules)
        return "target" if own else "bundle"

    def owner_of(thing: object) -> str:
        """Whose an object is, by the classes it is made of: the target's where one of them is."""
        kinds = mro_of(type(thing))
        if ModuleType in kinds:
            name = ModuleType.__getattribute__(thing, "__dict__").get("__name__")
            return place_of_module(name) if type(name) is str and MODULES.get(name) is thing else "elsewhere"
        if type(thing) in (FunctionType, BuiltinFunctionType):
            return place_of_module(thing.__module__)
        places = [place_of_module(_word_of(one, module_of)) for one in (mro_of(thing) if type in kinds else kinds)]
        return next((place for place in ("target", "bundle", "script") if place in places), "elsewhere")

    def described(error: BaseException, texts: list[str]) -> list[Json]:
        """An exception and those that it came from, as plain values. `texts` are their messages."""
        chain: list[Json] = []
        for number, one in enumerate(chain_of(error)):
            said = texts[number] if number < len(texts) and type(texts[number]) is str else name_of(type(one))
            chain.append(told_of(one, said[:MAX_MESSAGE_CHARS]))
        return chain

    def told_of(error: BaseException, said: str) -> Json:
        kinds = mro_of(type(error))
        told: Json = {
            "types": [_full_name(one) for one in kinds if one is not object][:MAX_FRAMES],
            "message": said,
            "frames": [frame_told(*one) for one in frames_of(error)[-MAX_FRAMES:]],
        }
        if ImportError in kinds:
            told |= {"name": _word_of(error, _NAME[ImportError]), "name_from": _word_of(error, _NAME_FROM)}
        elif AttributeError in kinds:
            told |= {"name": _word_of(error, _NAME[AttributeError]), "owner": owner_of(_OBJECT(error))}
        elif NameError in kinds:
            told |= {"name": _word_of(error, _NAME[NameError])}
        elif SyntaxError in kinds:
            told |= {"owner": place_of_file(_FILE(error))}
        elif OSError in kinds:
            number = _ERRNO(error)
            told |= {"errno": number if type(number) is int else None}
        return told

    def frame_told(frame: FrameType, instruction: int) -> Json:
        code = frame.f_code
        place = place_of_file(code.co_filename)
        told: Json = {"place": place}
        if place == "script" and id(code) in own_code:
            positions = list(code.co_positions())
            told["span"] = positions[instruction // 2] if 0 <= instruction // 2 < len(positions) else None
        elif place == "target" and not (is_of_file(code) and _was_left_by_raising(frame)):
            told["place"] = "elsewhere"
        return told

    def is_of_file(code: CodeType) -> bool:
        """Whether code that says it is the target's is what the target's file holds."""
        path = code.co_filename
        if path not in file_code:
            try:
                with open(path, "rb") as file:  # noqa: PTH123
                    file_code[path] = frozenset(_all_code(compile(file.read(), path, "exec", dont_inherit=True)))
            except (OSError, SyntaxError, ValueError):
                file_code[path] = frozenset()
        return code in file_code[path]

    return SimpleNamespace(
        enter=enter,
        compiled=compiled,
        faults=faults,
        described=described,
        place_of_file=place_of_file,
        script=script,
        names=names,
    )


_NAME = {kind: kind.__dict__["name"].__get__ for kind in (ImportError, AttributeError, NameError)}
_NAME_FROM = ImportError.__dict__["name_from"].__get__
_OBJECT = AttributeError.__dict__["obj"].__get__
_FILE = SyntaxError.__dict__["filename"].__get__
_ERRNO = OSError.__dict__["errno"].__get__


def _word_of(thing: Any, getter: Callable[[Any], object]) -> str | None:
    try:
        word = getter(thing)
    except AttributeError:
        return None
    return word[:MAX_MESSAGE_CHARS] if type(word) is str else None


def _full_name(kind: type) -> str:
    """A class's name with its module: that of a built-in one only where it is the built-in one."""
    if id(kind) in BUILT_IN:
        return f"builtins.{BUILT_IN[id(kind)]}"
    module, name = _word_of(kind, module_of), _word_of(kind, name_of)
    return f"{'not' if module == 'builtins' else module}.{name}"[:MAX_MESSAGE_CHARS]


def _exists(path: str) -> bool:
    try:
        stat(path)  # noqa: PTH116 - bound before the script
    except OSError:
        return False
    return True


def _made_of(value: Any) -> tuple[object, ...]:
    """What a function is made of, by its identity; nothing for anything else."""
    kinds = mro_of(type(value))
    if staticmethod in kinds or classmethod in kinds:
        value = value.__func__
    elif property in kinds:
        value = value.fget
    if type(value) is not FunctionType:
        return ()
    keywords = [(name, id(given)) for name, given in (value.__kwdefaults__ or {}).items() if type(name) is str]
    return (id(value.__code__), id(value.__defaults__), *keywords)


def _was_left_by_raising(frame: FrameType) -> bool:
    code = frame.f_code.co_code
    return not 0 <= frame.f_lasti < len(code) or code[frame.f_lasti] not in RETURNS


def _all_code(code: CodeType) -> list[CodeType]:
    found = [code]
    for each in found:
        found += [one for one in each.co_consts if type(one) is CodeType]
    return found


def chain_of(error: BaseException) -> list[BaseException]:
    """An exception and those that it came from."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MAX_CHAIN:
        chain.append(current)
        current = cause_of(current) or (None if suppressed_of(current) else context_of(current))
    return chain


def frames_of(error: BaseException) -> list[tuple[FrameType, int]]:
    """Where an exception went through, from the outside in."""
    found, trace = [], trace_of(error)
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def text_of(error: BaseException) -> str:
    """Its class and what it says."""
    try:
        said = str(error)
    except BaseException:  # noqa: BLE001 - an exception's own code may raise
        said = ""
    return f"{type(error).__name__}: {said}"[:MAX_MESSAGE_CHARS]


# What only the script's and the target's own code can say at the end is asked before anything else is looked at. Each
# of the two is given its own namespace, and told only where to put its answer: what it asks can see its frame.


def last_texts(texts: list[str]) -> Leave:
    """Asks an exception what it says of itself, and those that it came from."""

    def ask(_kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            texts.extend(text_of(one) for one in chain_of(error))

    return ask


def last_controls(names: dict[str, ModuleType], faults: list[str]) -> Leave:
    """Tries what is known to hold of the target, and what is not, as it did before the script."""

    def tried() -> dict[str, str]:
        """How the controls end."""
        invented = "touchstone_" + secrets.token_hex(8)
        ends = {}
        for name, module in names.items():
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

    before = tried()

    def ask(_kind: object, _error: BaseException | None, _trace: object) -> None:
        faults.extend(f"{name} {end}" for name, end in tried().items() if before.get(name) != end)

    return ask


def once(leave: Leave) -> Any:
    """What a `with` takes, to call `leave` when its block is left.

    It gives `leave` away when the block is entered. From there on the block's own stack alone holds it, and the class,
    which the script can find, leads to nothing.
    """
    kept = [leave]
    return type("Once", (), {"__enter__": lambda _: None, "__exit__": property(lambda _: kept.pop())})()


def _set_empty(names: list[str]) -> None:
    """Modules of these names that hold nothing: what a script does with them asks nothing of the target."""
    for name in names:
        parent = None
        for end in [place for place, character in enumerate(name + ".") if character == "."]:
            module = sys.modules.setdefault(name[:end], ModuleType(name[:end]))
            if parent is not None:
                setattr(parent, name[:end].rpartition(".")[2], module)
            parent = module


def _dotted(*names: str) -> str:
    return ".".join(filter(None, names))


def _is_added(name: str, value: Any) -> bool:
    """Whether a library does not add this by itself, as it does modules, classes and functions when asked for them."""
    if name in ("__getattr__", "__getattribute__"):
        return True
    if name.startswith("_") or type(value) is ModuleType:
        return False
    if type in mro_of(type(value)):
        return bool(name_of(value).rpartition(".")[2] != name)
    return type(value) is not FunctionType or value.__name__ != name


def _is_fixed(name: str, value: object) -> bool:
    """Whether a library does not change this by itself, as it does its caches and counters."""
    kinds = mro_of(type(value))
    if any(
        kind in kinds
        for kind in (type, ModuleType, FunctionType, BuiltinFunctionType, staticmethod, classmethod, property)
    ):
        return True
    return name.isupper() and any(kind in kinds for kind in (str, bytes, int, float, tuple, frozenset))


def _script(
    request: Json, world: SimpleNamespace, outside: int, asked: int, token: bytes
) -> tuple[Any, ...]:  # pragma: no cover - runs in the sandbox alone
    """Make this process the script's. Returns the script, its namespace, and what is to be done when it has ended."""
    memory = _bound(request["limits"])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if request["no_handlers"] is not None:
        _filter(bytes.fromhex(request["no_handlers"]))
    sys.argv[:] = [world.script]
    main_module = ModuleType("__main__")
    main_module.__dict__["__file__"] = world.script
    sys.modules["__main__"] = main_module
    texts: list[str] = []
    faults: list[str] = []
    here = getpid()
    error: BaseException | None = None
    try:
        with open(world.script, "w", encoding="utf-8") as file:  # noqa: PTH123 - one module less to be patched
            file.write(request["script"])
        code = world.compiled(request["script"])
    except BaseException as raised:  # noqa: BLE001 - as if the script had raised it
        error, code = raised.with_traceback(None), compile("", world.script, "exec")

    def tell(_kind: object, raised: BaseException | None, _trace: object) -> None:
        stop_collecting()
        setrlimit(RLIMIT_AS, (memory, memory))
        if getpid() != here:
            _exit(LOST)  # another process, which the script has made
        raised = error or raised
        told: Json = {"end": "completed", "errors": [], "faults": []}
        if raised is not None and SystemExit in mro_of(type(raised)):
            told["end"] = "exit"
        elif raised is not None:
            told |= {"end": "raised", "errors": world.described(raised, texts or ([text_of(error)] if error else []))}
            for one in told["errors"][:1]:
                one["frames"] = one["frames"] if error else one["frames"][1:]
        told["faults"] = [*world.faults(), *[one for one in faults if type(one) is str]][:MAX_FAULTS]
        try:
            write(outside, token)
            drawn = read(asked, len(token))
            while len(line := drawn + _json(told).encode()) > MAX_RECORD_BYTES and told["errors"]:
                told["errors"].pop()
            write(outside, line)
        except BaseException:  # noqa: BLE001 - whatever the script did to the channel
            _exit(LOST)
        # From here on nothing is told any more: what is printed is not what is asked for.
        with contextlib.suppress(BaseException):
            if raised is not None and told["end"] == "raised":
                trace = raised.__traceback__
                raised.__traceback__ = trace if error or trace is None else trace.tb_next
                traceback.print_exception(raised)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        _exit(0)

    sys.addaudithook(_guard(request["site"], world.script))
    return main_module.__dict__, code, world.names, texts, faults, tell


def _guard(  # noqa: C901 - one case an event
    site_folder: str | None, script: str
) -> Callable[[str, tuple[Any, ...]], None]:  # pragma: no cover - runs in the sandbox alone
    """What ends the process where the script reaches for what tells its end, before it gets there."""
    frame_at, ours = sys._getframe, globals()  # noqa: SLF001 - there is no other way to see who asks
    libraries = tuple(path for path in (site_folder, sys.base_prefix, *sys.path) if path)

    coroutine_code = coroutine.__code__

    def asks_for_it(frame: FrameType | None) -> bool:
        """Whether it is the script that asks, through whatever of Python's own library."""
        while frame is not None:
            path = frame.f_code.co_filename
            if path == script:
                return True
            if site_folder is not None and path.startswith(site_folder):
                return False
            frame = frame.f_back
        return True

    def marks_coroutine(frame: FrameType | None) -> bool:
        """Whether it is `types.coroutine`, which sets a flag of a function: asyncio does so when it is imported."""
        return frame is not None and frame.f_code is coroutine_code

    def is_ours(function: Any) -> bool:
        """Whether a function is of this file."""
        return bool(function.__code__.co_filename == guard.__code__.co_filename)

    def is_ours_set(function: Any, name: str) -> bool:
        """Whether what is set are the defaults of a function of this file."""
        return name in ("__defaults__", "__kwdefaults__") and is_ours(function)

    def guard(event: str, given: tuple[Any, ...]) -> None:
        reached = event in UNTOUCHABLE
        if event == "sys._getframe":
            frame = given[0]
            while frame is not None and frame.f_code is guard.__code__:
                frame = frame.f_back
            while frame is not None and not reached:
                reached = frame.f_globals is ours
                frame = frame.f_back
        elif event == "open":
            path = given[0]
            for _ in range(MAX_CHAIN):
                if type(path) not in (str, bytes):
                    break
                reached = reached or path[-3:] in ("mem", b"mem")
                try:
                    path = readlink(path)  # noqa: PTH115 - as `stat`
                except OSError:
                    break
        elif event == "import":
            file = given[1]
            native = type(file) is str and file.endswith(".so") and not file.startswith(libraries)
            reached = native or given[0] in NATIVE
        elif event == "object.__setattr__":
            coded = given[1] == "__code__" and not (marks_coroutine(frame_at(1)) and not is_ours(given[0]))
            reached = is_ours_set(*given[:2]) or (coded and asks_for_it(frame_at(1)))
        elif event == "code.__new__" or event[:7] == "ctypes.":
            reached = asks_for_it(frame_at(1)) and not marks_coroutine(frame_at(1))
        if reached:
            write(2, f"The proof was ended: it used {event}, which reaches into the interpreter.\n".encode())
            _exit(REACHED_INTO)

    return guard


def _json(value: Any) -> str:
    """JSON of plain values, made by nothing that a script could have replaced."""
    if type(value) is str:
        return quoted(value)
    if type(value) is dict:
        return "{" + ",".join([f"{quoted(key)}:{_json(held)}" for key, held in value.items()]) + "}"
    if type(value) in (list, tuple):
        return "[" + ",".join([_json(held) for held in value]) + "]"
    return "null" if value is None else "true" if value is True else "false" if value is False else int.__repr__(value)


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


def run_last(held: list[Any]) -> None:  # pragma: no cover - runs in the sandbox alone
    """Run the script below nothing but this frame, which holds nothing: the stack of this call alone knows the rest."""
    with held.pop(), held.pop(), held.pop():
        exec(held.pop(), held.pop())  # noqa: S102


if __name__ == "__main__":  # pragma: no cover
    with open(__file__, encoding="utf-8") as _file:  # noqa: PTH123
        _code = compile(_file.read(), __file__, "exec")

    def _apart() -> dict[str, Any]:
        """This file once more, which shares no name with any other."""
        made: dict[str, Any] = {"__name__": "runner", "__builtins__": dict(vars(builtins))}
        exec(_code, made)  # noqa: S102
        return made

    _scope, _script_code, _names, _texts, _faults, _tell = _apart()["main"](int(sys.argv[1]))
    _controls, _asked = _apart()["last_controls"](_names, _faults), _apart()["last_texts"](_texts)
    _held = [_scope, _script_code, once(_asked), once(_controls), once(_tell)]
    del _scope, _script_code, _names, _texts, _faults, _tell, _controls, _asked, _code, _apart
    run_last(_held)
