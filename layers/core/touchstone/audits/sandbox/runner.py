"""Runs one script inside the sandbox and says how it ended. Standard library only, one file, started by `python -I -S`.

There are two processes. The first imports the target, holds the channel to the outside, and watches. The second is
forked from it and runs the script. So the script has no descriptor by which a result leaves the sandbox, its changes to
the library die with its process, and its processor time counts from zero.

Only the process in which a script ran knows how it ended. So the code that reports the end from there is kept from the
script:

- It consists of functions of its own, with built-in functions of their own, and of objects that were bound before the
  script ran. Once the script runs, no class leads to them, whatever `object.__subclasses__` shows, and no frame of
  theirs is below the script's. Only the stack of one call holds them.
- Everything else that could lead to them ends the process at once, with a status that the kernel passes to the first
  process: the list of all objects, functions that trace, hooks, raw memory.
- No signal can be given a function, because it would be called in the middle of them.
- The first process believes a record only if it begins with a secret that the script was never given, holds a value
  that was drawn after the script had ended, and was written by a process that then left in order.

Decision 0012 says what is left to a script that takes the interpreter apart.
"""

import builtins
import contextlib
import ctypes
import importlib
import importlib.machinery
import json
import marshal
import math
import os
import resource
import select
import signal
import site
import struct
import sys
import threading
import traceback
from _ast import (
    And,
    Assert,
    Assign,
    AsyncFunctionDef,
    AsyncWith,
    Attribute,
    BoolOp,
    Call,
    ClassDef,
    Constant,
    ExceptHandler,
    Expr,
    For,
    FunctionDef,
    GeneratorExp,
    Global,
    If,
    IfExp,
    Lambda,
    ListComp,
    Load,
    Name,
    Not,
    Or,
    Pass,
    Raise,
    Return,
    Store,
    Subscript,
    Try,
    UnaryOp,
    While,
    With,
    alias,
    arguments,
)
from collections.abc import Callable
from gc import disable as stop_collecting
from json.encoder import encode_basestring_ascii as quoted
from opcode import opmap
from os import _exit, close, getpid, lstat, read, readlink, stat, write
from resource import RLIMIT_AS, setrlimit
from sys import exception
from threading import get_ident
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace, coroutine
from typing import Any

SCRIPT_NAME = "proof.py"
MAX_RECORD_BYTES = 60_000
"""Largest record. It fits into the buffer of a pipe, so that writing it never waits for a reader."""
MAX_MESSAGE_CHARS = 2_000
MAX_FRAMES = 60
MAX_CHAIN = 8
MAX_FAULTS = 20
MOST_PROCESSES = 1024
"""Most processes while the target is imported. The script has a limit of its own, which is no higher."""
SPARE_MEMORY_BYTES = 64 * 1024 * 1024
"""Memory that is added after a script used all of its own, so that its end can still be reported."""
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
SECCOMP_MODE_FILTER = 2
STEP_BYTES = 8
REACHED_INTO = 77
"""The exit status of the script's process if the script reached for the code that reports its end."""
LOST = 76
"""The exit status of the script's process if its end could not be reported."""
UNTOUCHABLE = frozenset({
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace", "sys.setprofile", "sys.addaudithook",
    "sys.monitoring.register_callback", "sys._current_frames", "sys._current_exceptions", "sys.remote_exec",
    "cpython.remote_debugger_script", "cpython.PyInterpreterState_New",
    "sqlite3.enable_load_extension", "sqlite3.load_extension",
})  # fmt: skip
"""Audit events of Python by which code gets at the objects and calls of other code. No proof needs them."""
MADE_CODE = ("code.__new__", "marshal.load", "marshal.loads")
"""Audit events of code that Python does not compile."""
BELOW = ("run_last", "<module>")
"""The functions of this file below every script. Their frames hold nothing, and a traceback shows them as well."""
RAW_MEMORY = ("ctypes", "_ctypes")
"""Modules by which any memory can be read and written, mostly without an audit event. The script must not import
them."""
BYTECODE_START = 16
"""The bytes of a file of bytecode before the code itself."""
NATIVE = ("_testcapi", "_testinternalcapi", "_testlimitedcapi", "_testclinic", "_testbuffer")
"""Modules of Python's own tests, which can be told to read and write any memory."""
SENTINEL, OBSERVER = 3, 4
"""The numbers by which Python knows who is told of a function's start. No tool has them for its own."""
set_events = sys.monitoring.set_events
MAX_TOLD = 2000
PASSED_MARK, FAILED_MARK, MET_MARK = "assertion passed", "assertion failed", "one of all"
"""Names in the code of the marks of an assertion. No name of a script has a space."""
CAUGHT_MARK = "something caught"
"""The name in the code of the mark of an `except`."""
CAUGHT = "touchstone.caught"
"""The audit event by which an `except` tells what it caught."""
LOOKED_AT = {
    CAUGHT: (1, int), "import": (0, str), "object.__setattr__": (1, str), "sys._getframe": (0, FrameType),
    "marshal.loads": (0, bytes),
}  # fmt: skip
"""By audit event: the place of an argument that is looked at, and its type. A script may tell an event with any other,
whose methods would find the frame that looks at it."""
MISTAKES = (NameError, AttributeError, TypeError, ValueError)
"""The exceptions by which a script's own mistakes show, and which a script expects of a library as well."""
TOLD_OF = (AssertionError, BaseExceptionGroup, *MISTAKES)
MISTAKEN = frozenset(map(id, MISTAKES))
IN_CODE = {
    "built-in isinstance": isinstance, "exceptions told of": TOLD_OF, "built-in audit": sys.audit,
    "built-in exception": exception,
}  # fmt: skip
"""Constants in the code of a script, each by the text in whose place it is put. No name of the script leads to them."""
ONLY_SYNTAX = 0x400
"""`ast.PyCF_ONLY_AST`, without the time that the import of `ast` takes."""
STARTING = frozenset({
    "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn", "subprocess.Popen",
})  # fmt: skip
"""Audit events of Python at which another process starts."""
STARTERS = (
    "<frozen os>",
    *(
        f"{os.path.dirname(os.__file__)}/{name}"  # noqa: PTH120
        for name in ("asyncio", "concurrent", "multiprocessing", "os.py", "pty.py", "subprocess.py", "threading.py")
    ),
)
"""Python's own modules for starting processes."""
RETURNS = frozenset(opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE") if name in opmap)
ABOUT_COROUTINES = (
    "iscoroutine(", "isawaitable(", "__await__", "Coroutine", "Awaitable", "CO_COROUTINE", "'coroutine'", '"coroutine"',
)  # fmt: skip
"""Words of a script that looks at a coroutine, and may well not await it."""
LOOKING = ("dataclasses", "enum", "importlib.metadata", "importlib.util", "inspect", "pkgutil", "typing")
"""Python's own modules by which a script looks into a library. The script must not change them."""
MOCKS = os.path.join(os.path.dirname(os.__file__), "unittest", "mock.py")  # noqa: PTH118, PTH120
RENAMER = ("jinja2.debug", "fake_traceback")
"""A library's function that renames code, by which a traceback leads into a template; the module is imported late."""
BINDING_BY_TEXT = (b"exec(", b"globals(", b"setattr", b"__dict__", b"vars(", b"locals(")
"""Words of a file that may bind names which do not stand in it."""
FROZEN = ("ntpath", "runpy", "zipimport")
"""Python's own modules that are not in files. They are imported before the script, which must not unmarshal code."""
mro_of = type.__dict__["__mro__"].__get__
dict_of = type.__dict__["__dict__"].__get__
module_of = type.__dict__["__module__"].__get__
name_of = type.__dict__["__qualname__"].__get__
function_of = [kind.__dict__["__func__"].__get__ for kind in (staticmethod, classmethod)]
getter_of = property.__dict__["fget"].__get__
CODE_REPLACE = CodeType.__dict__["replace"]
CODE_NAME = 2
"""The place of the new name in what Python tells of code that is made."""
FUNCTION_NAME = FunctionType.__dict__["__name__"].__get__
trace_of, cause_of, context_of, suppressed_of = (
    BaseException.__dict__[name].__get__
    for name in ("__traceback__", "__cause__", "__context__", "__suppress_context__")
)
BUILT_IN = {id(value): value.__name__ for value in vars(builtins).values() if isinstance(value, type)}
MODULES, META_PATH, PATH_HOOKS = sys.modules, sys.meta_path, sys.path_hooks
NAMESPACE = type(importlib.machinery.NamespaceLoader("", [], None)._path)  # type: ignore[attr-defined,arg-type]  # noqa: SLF001

type Json = dict[str, Any]
type Hook = Callable[[str, tuple[Any, ...]], None]
type Holder = tuple[str, str]
"""The name of a module and of a class in it; the class is empty for the module itself."""
type Leave = Callable[[object, BaseException | None, object], None]
"""The function that a `with` calls when its block is left: with the class of the exception, the exception, and its
traceback."""


def main(
    report: int, make_guard: Callable[..., Hook]
) -> tuple[Any, ...]:  # pragma: no cover - runs in the sandbox alone
    """Read the request from stdin, run it, and write lines of JSON to the descriptor `report`.

    `make_guard` is the `guard_of` of another namespace. Returns only in the script's process, with the values that
    `run_last` needs. The other process exits.
    """
    _say(report, {"event": "started"})
    request: Json = json.load(sys.stdin.buffer)
    _alone(request, keep=report)
    # The import of a library is trusted no more than a script.
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    if request["limits"]["own_user"]:
        _limit(resource.RLIMIT_NPROC, MOST_PROCESSES, MOST_PROCESSES)
    if request["steps"] is not None:
        _filter(bytes.fromhex(request["steps"]))
    world = new_world(request["site"], tuple(request["modules"]), os.path.join(os.getcwd(), SCRIPT_NAME))  # noqa: PTH118, PTH109
    # Told of what ends a thread, and a finalizer. They are lists, which lead a script that finds them to nothing.
    unseen: tuple[list[Any], list[Any]] = ([], [])
    threading.excepthook, sys.unraisablehook = unseen[0].append, unseen[1].append
    failures = world.enter()
    _set_empty(request["empty"])
    taken = {"cpu_seconds": _cpu_seconds(), "memory_bytes": _memory_bytes()}
    _say(report, {"event": "ready", **taken, "failures": failures})
    inside, outside = os.pipe()
    asked, answered = os.pipe()
    token = os.urandom(16).hex().encode()
    # Now no other process of the same user can read or write the memory of this process, or of the script's.
    _prctl(PR_SET_DUMPABLE, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        for each in (report, inside, answered):
            os.close(each)
        return _script(request, world, outside, asked, token, unseen=unseen, make_guard=make_guard)
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
    """The record that the script's process sent at its end; empty if it sent anything else before.

    That process sends the token once the script has ended. It is then sent a value that was drawn at that moment, and
    its record has to begin with this value.
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
        chunk = token
        with contextlib.suppress(BlockingIOError):
            while chunk and len(said) <= MAX_RECORD_BYTES + len(token):
                chunk = os.read(inside, MAX_RECORD_BYTES)
                said += chunk
        if not chunk and not over:
            waiting.unregister(inside)  # it was closed, which would be told again and again
        if said == token and not drawn:
            drawn = os.urandom(16).hex().encode()
            with contextlib.suppress(BrokenPipeError):
                os.write(answered, drawn)
        elif said and not drawn and not token.startswith(said):
            break  # other code wrote to the channel: nothing from it is believed
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
    """Functions that know the library as it was before the script ran, and judge the script by it.

    They share what they know as local variables and not in a class, because a script could find a class by looking
    through all classes.
    """
    names: dict[str, ModuleType] = {}
    before: dict[Holder, dict[str, object]] = {}
    known: dict[str, ModuleType] = {}
    made: list[tuple[str, object, tuple[object, ...]]] = []
    answering: list[str] = []
    own_code: dict[int, CodeType] = {}
    file_code: dict[str, frozenset[CodeType]] = {}
    classes: dict[int, Holder] = {}
    set_in: dict[str, set[tuple[str, str]]] = {}
    set_by_script: set[str] = set()

    def enter() -> dict[str, str]:
        """Import the target and remember its parts.

        Returns by module name why a module could not be imported. Without a folder of the target, nothing is imported.
        """
        for name in FROZEN:
            importlib.import_module(name)
        if site_folder is None:
            return {}
        forget_raw_memory()  # a library gets its own, and not this file's
        sys.path.insert(0, site_folder)
        site.addsitedir(site_folder)
        failures: dict[str, str] = {}
        for name in modules:
            try:
                names[name] = importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 - whatever the library raises, its import failed
                failures[name] = text_of(error)
        answering.extend(name for name, module in names.items() if _has_every_name(module))
        _finish([one for _, held in holders() for one in held.values() if type(one) is FunctionType])
        for name in LOOKING:
            importlib.import_module(name)
        if RENAMER[0].partition(".")[0] in MODULES:
            with contextlib.suppress(BaseException):  # a library may have put anything in its place
                importlib.import_module(RENAMER[0])
        forget_raw_memory()
        classes.clear()
        before.update(holders())
        for (module, owner), held in before.items():
            if place_of_module(module) == "target":
                made.extend((_dotted(module, owner, name), one, _made_of(one)) for name, one in held.items())
        made[:] = [one for one in made if one[2]]
        known.update(MODULES)
        return failures

    def forget_raw_memory() -> None:
        """Make the next import of such a module an import indeed, which the guard sees."""
        for name in [name for name in MODULES if name.partition(".")[0] in RAW_MEMORY]:
            del MODULES[name]

    def compiled(source: Any) -> CodeType:
        """The code of the script, from its text or its syntax. Raises whatever Python raises when it compiles that."""
        code = _completed(compile(source, script, "exec", dont_inherit=True))
        set_by_script.update(_set_names(compile(source, script, "exec", ONLY_SYNTAX, dont_inherit=True)))
        own_code.update((id(each), each) for each in _all_code(code))
        return code

    def faults() -> list[str]:
        """What the script has changed of the things by which it is judged.

        These are the library, and the parts that every Python program consists of.
        """
        if site_folder is None:
            return []
        now = dict(holders())
        found: list[str] = []
        for holder, held in before.items():
            left = now.get(holder, {})
            get = left.get
            for name, value in [(name, one) for name, one in held.items() if get(name) is not one]:
                found += [f"{_dotted(*holder, name)} was replaced"] * _is_fixed(name, value)
                found += [f"{_dotted(*holder, name)} is the script's own"] * is_script(get(name))
        places = {module: place_of_module(module) for module, owner in now if not owner}
        for (module, owner), held in now.items():
            place = places.get(module) or place_of_module(module)
            if place in ("target", "bundle") or module not in known:
                known_here = before.get((module, owner))
                for name in held.keys() - (known_here or {}).keys():
                    mock = place not in ("mock", "elsewhere") and is_mock(held[name])
                    found += [f"{_dotted(module, owner, name)} is the script's own"] * (mock or is_script(held[name]))
                    if place == "target" and known_here is not None and _is_added(name, held[name]):
                        by_itself = adds_itself(now, module, owner, name)
                        found += [f"{_dotted(module, owner, name)} was added"] * (not by_itself)
        found += [f"{name} was changed" for name, function, parts in made if _made_of(function) != parts]
        late = [(name, one) for name, one in loaded() if name not in known and is_targets(name)]
        found += [f"{_dotted(name, one)} was {done}" for name, module in late for one, done in altered(name, module)]
        found += [f"{name} is no module of the bundle" for name, one in list(MODULES.items()) if is_foreign(name, one)]
        found += [f"sys.{where} is the script's own" for where, one in finders() if is_script(one)]
        return found[:MAX_FAULTS]

    def adds_itself(now: dict[Holder, dict[str, object]], module: str, owner: str, name: str) -> bool:
        """Whether a library adds this by itself.

        It is a module that was found where its name says, or a function of the library sets what has this name. Or a
        module that answers for others keeps what they hold.
        """
        value = now[module, owner][name]
        if _is_module(value) and is_found(value, _dotted(module, owner, name)):
            return True
        if name not in set_by_script and (sets_itself(module, owner, name) or extends(module, owner, name, value)):
            return True
        if owner or "__getattr__" not in before[module, ""]:
            return False
        return any(
            held.get(name) is value and (other not in known or name in before[other, ""])
            for (other, inner), held in now.items()
            if not inner and other != module and place_of_module(other) in ("target", "bundle")
        )

    def extends(module: str, owner: str, name: str, value: Any) -> bool:
        """Whether a class has a registry of its own, with all that is in the one of its base, whose file sets it."""
        kind = before[module, ""].get(owner)
        for base in mro_of(kind)[1:] if _among(type, mro_of(type(kind))) else ():
            inherited: Any = dict_of(base).get(name)
            if type(inherited) in (dict, list, set):
                whole = type(value) is type(inherited) and all(one in value for one in inherited)
                return whole and sets_itself(_word_of(base, module_of) or "", _word_of(base, name_of) or "", name)
        return False

    def sets_itself(module: str, owner: str, name: str) -> bool:
        """Whether a function in the file of a module sets this, as an attribute of a class or as a global name."""
        path = before.get((module, ""), {}).get("__file__")
        if module not in set_in:
            try:
                with open(str(path), "rb") as file:  # noqa: PTH123
                    tree = compile(file.read(), str(path), "exec", ONLY_SYNTAX, dont_inherit=True)
                set_in[module] = _set_on(tree)
            except (OSError, SyntaxError, ValueError):
                set_in[module] = set()
        places = ("cls", owner.rpartition(".")[2]) if owner else ("",)
        return any((place, name) in set_in[module] for place in places)

    def altered(name: str, module: ModuleType) -> list[tuple[str, str]]:
        """What the script set of a module of the library that it imported itself, if that stands otherwise in its file.

        These are functions and methods whose name the file binds once, without a decorator, and names that it does not
        bind at all; in a file that binds no names by text.
        """
        path, held = module.__dict__.get("__file__"), _named(module.__dict__)
        kinds = [dict_of(one) for one in held.values() if type(one) is type]
        if not any(one in each for each in (held, *kinds) for one in set_by_script):
            return []
        try:
            with open(str(path), "rb") as file:  # noqa: PTH123
                text = file.read()
            if any(word in text for word in BINDING_BY_TEXT):
                return []
            bound, plain = _bound_in(compile(text, str(path), "exec", ONLY_SYNTAX, dont_inherit=True))
        except (OSError, SyntaxError, ValueError):
            return []
        if "*" in bound:
            return []
        replaced = []
        for owner, own in [(owner, one) for owner, one in plain if one in set_by_script or owner in set_by_script]:
            of = held.get(owner) if owner else None
            if owner and type(of) is not type and _among(type, mro_of(type(of))):
                continue  # a class of a class may do anything with the functions that it is given
            one = (held if not owner else _named(dict_of(of)) if type(of) is type else {}).get(own)
            code = one.__code__ if type(one) is FunctionType else None
            if code is None or code.co_filename != path or code.co_name != own or not is_of_file(code):
                replaced.append(_dotted(owner, own))
        added = [
            own
            for own, one in held.items()
            if own in set_by_script
            and own[:1] != "_"
            and own not in bound
            and not (_is_module(one) and is_found(one, _dotted(name, own)))
        ]
        return [(one, "replaced") for one in replaced] + [(one, "added") for one in added]

    def is_found(module: Any, added_as: str) -> bool:
        """Whether a module was there before the script, or comes from the file of the bundle that a name of it says."""
        told = ModuleType.__getattribute__(module, "__dict__").get("__name__")
        names = [one for one in (told, added_as) if type(one) is str and MODULES.get(one) is module]
        return any(
            known.get(one) is module or (place_of_module(one) in ("target", "bundle") and not is_elsewhere(one, module))
            for one in names
        )

    def is_foreign(name: object, module: object) -> bool:
        """Whether a module has a name of the target but does not come from the target's files."""
        if site_folder is None or place_of_module(name) != "target" or name in known:
            return False
        return is_elsewhere(str(name), module)

    def is_elsewhere(name: str, module: object) -> bool:
        """Whether a module does not come from the file that its name says."""
        if type(module) is not ModuleType:
            kind = type(module)
            of = _word_of(kind, module_of)
            holder = MODULES.get(of) if of is not None else None
            held = dict(ModuleType.__getattribute__(holder, "__dict__")) if _is_module(holder) else {}
            return place_of_module(of) not in ("target", "bundle") or not any(one is kind for one in held.values())
        told = module.__dict__.get("__name__")
        if not is_targets(name) and told != name and type(told) is str and MODULES.get(told) is module:
            return is_foreign(told, module)  # Cython gives its modules a short name as well
        if is_part_of_native(name, module):
            return False
        path, start = module.__dict__.get("__file__"), f"{site_folder}/{name.replace('.', '/')}"
        if path is None:
            return type(module.__dict__.get("__path__")) is not NAMESPACE
        if type(path) is not str or not _exists(path):
            return True
        return path not in (f"{start}.py", f"{start}/__init__.py") and not (path.startswith(start) and ".so" in path)

    def is_part_of_native(name: str, module: ModuleType) -> bool:
        """Whether a module is what a module in machine code made together with itself, as those of pybind11 do."""
        above, _, last = name.rpartition(".")
        parent = MODULES.get(above)
        held = parent.__dict__ if type(parent) is ModuleType else {}
        path, own = held.get("__file__"), module.__dict__.get("__file__")
        native = type(path) is str and ".so" in path and own in (None, path)
        if above in known or not native or held.get(last) is not module or is_foreign(above, parent):
            return False
        try:
            with open(str(path), "rb") as file:  # noqa: PTH123
                text = file.read()
        except OSError:
            return False
        # The file knows the names of what it makes.
        names = [last, *[one for one in _named(module.__dict__) if one[:2] != "__"]]
        return all(f"{one}\0".encode(errors="replace") in text for one in names)

    def finders() -> list[tuple[str, object]]:
        """The objects that find modules for the interpreter, each with the name of its list in `sys`."""
        return [("meta_path", one) for one in list(META_PATH)] + [("path_hooks", one) for one in list(PATH_HOOKS)]

    def holders() -> list[tuple[Holder, dict[str, object]]]:
        """Everything that modules and classes hold, by name: those of the target, of its bundle, and of Python."""
        found: list[tuple[Holder, dict[str, object]]] = []
        later: list[tuple[Holder, dict[str, object]]] = []  # they come first: none takes the place of what was there
        are_classes: dict[int, bool] = {}  # by the identity of their class, which lives as long as what is found
        done: set[int] = set()
        for module_name, module in loaded():
            held = _named(module.__dict__)
            found.append(((module_name, ""), held))
            for value in held.values():
                kind = id(type(value))
                if kind not in are_classes:
                    are_classes[kind] = _among(type, mro_of(type(value)))
                if not are_classes[kind] or id(value) in done:
                    continue
                # A library may say later that a class is of another module. It stays the class that it was.
                if id(value) in classes or _word_of(value, module_of) == module_name:
                    done.add(id(value))
                    among = found if id(value) in classes else later
                    holder = classes.setdefault(id(value), (module_name, _word_of(value, name_of) or ""))
                    among.append((holder, _named(dict_of(value))))
        return later + found

    def is_script(value: object) -> bool:
        kinds = mro_of(type(value))
        if _among(staticmethod, kinds) or _among(classmethod, kinds):
            value = function_of[_among(classmethod, kinds)](value)
        elif _among(property, kinds):
            value = getter_of(value)
        if type(value) is FunctionType:
            return value.__code__.co_filename == script
        owner = value if _among(type, mro_of(type(value))) else type(value)
        return _word_of(owner, module_of) == "__main__"

    def is_mock(value: object) -> bool:
        return _word_of(value if _among(type, mro_of(type(value))) else type(value), module_of) == "unittest.mock"

    def loaded() -> list[tuple[str, ModuleType]]:
        found = [(name, one) for name, one in list(MODULES.items()) if type(one) is ModuleType and type(name) is str]
        return [(name, one) for name, one in found if name not in ("__main__", "__mp_main__")]

    def place_of_module(name: object) -> str:
        """To whom a module of that name belongs:

        `target`, `bundle` (installed with the target), `script`, `mock` or `elsewhere`.
        """
        if type(name) is not str:
            return "elsewhere"
        if is_targets(name):
            return "target"
        if name == "__main__":
            return "script"
        module = MODULES.get(name)
        return place_of_file(module.__dict__.get("__file__") if type(module) is ModuleType else None)

    def is_targets(name: object) -> bool:
        """Whether a module's name is the target's."""
        return type(name) is str and any(name == module or name.startswith(module + ".") for module in modules)

    def place_of_file(path: object) -> str:
        """To whom a file belongs."""
        if type(path) is not str:
            return "elsewhere"
        if path == script:
            return "script"
        if path == MOCKS:
            return "mock"
        if site_folder is None or not path.startswith(site_folder + "/"):
            return "elsewhere"
        name = path[len(site_folder) + 1 :].removesuffix(".py").replace("/", ".")
        return "target" if is_targets(name) else "bundle"

    def owner_of(thing: object) -> str:
        """To whom an object belongs, by its classes: to the target if one of them is the target's."""
        kinds = mro_of(type(thing))
        if _among(ModuleType, kinds):
            name = ModuleType.__getattribute__(thing, "__dict__").get("__name__")
            return place_of_module(name) if type(name) is str and MODULES.get(name) is thing else "elsewhere"
        if type(thing) in (FunctionType, BuiltinFunctionType):
            return place_of_module(thing.__module__)
        classes = mro_of(thing) if _among(type, kinds) else kinds
        places = [place_of_module(_word_of(one, module_of)) for one in classes]
        return next((place for place in ("target", "bundle", "script") if place in places), "elsewhere")

    def described(error: BaseException, texts: list[str]) -> list[Json]:
        """An exception and its causes, as plain values. `texts` are their messages."""
        chain: list[Json] = []
        for number, one in enumerate(chain_of(error)):
            said = texts[number] if number < len(texts) and type(texts[number]) is str else _full_name(type(one))
            chain.append(told_of(one, said[:MAX_MESSAGE_CHARS]))
        return chain

    def told_of(error: BaseException, said: str) -> Json:
        kinds = mro_of(type(error))
        told: Json = {
            "types": [_full_name(one) for one in kinds if one is not object][:MAX_FRAMES],
            "message": said,
            "frames": [frame_told(*one) for one in frames_of(error)[-MAX_FRAMES:]],
        }
        if _among(ImportError, kinds):
            told |= {"name": _word_of(error, _NAME[ImportError]), "name_from": _word_of(error, _NAME_FROM)}
        elif _among(AttributeError, kinds):
            told |= {"name": _word_of(error, _NAME[AttributeError]), "owner": owner_of(_OBJECT(error))}
        elif _among(NameError, kinds):
            told |= {"name": _word_of(error, _NAME[NameError])}
        elif _among(SyntaxError, kinds):
            told |= {"owner": place_of_file(_FILE(error))}
        elif _among(OSError, kinds):
            number = _ERRNO(error)
            told |= {"errno": number if type(number) is int else None}
        return told

    def frame_told(frame: FrameType, instruction: int) -> Json:
        code = frame.f_code
        place = place_of_file(code.co_filename)
        told: Json = {"place": place}
        if place == "script" and id(code) in own_code:
            told["span"] = span_of(code, instruction)
        elif place == "target" and not (is_of_file(code) and _was_left_by_raising(frame)):
            told["place"] = "elsewhere"
        return told

    def span_of(code: CodeType, instruction: int) -> Any:
        positions = list(code.co_positions())
        return positions[instruction // 2] if 0 <= instruction // 2 < len(positions) else None

    def strays(strayed: dict[Any, CodeType]) -> list[Any]:
        """The lines of the `except` and the places of `strayed`."""
        told = [(line, span_of(code, at)) for (line, _, at), code in dict.items(strayed) if id(code) in own_code]
        return [(line, span) for line, span in told if span is not None and None not in span]

    def is_of_file(code: CodeType) -> bool:
        """Whether code that claims to be from a file of the target is really in that file."""
        path = code.co_filename
        if path not in file_code:
            try:
                with open(path, "rb") as file:  # noqa: PTH123
                    file_code[path] = frozenset(_all_code(compile(file.read(), path, "exec", dont_inherit=True)))
            except (OSError, SyntaxError, ValueError):
                file_code[path] = frozenset()
        return code in file_code[path]

    def failed_at(caught: list[Any]) -> set[int]:
        """The lines of the script where an AssertionError came from that an `except` caught: from it, or from Python.

        One that the target raised by itself is what the script asks for, unless there are more than are kept.
        """
        lines: set[int] = set()
        for begin in list(caught):
            trace, place, line = begin, "", 0
            while trace is not None:
                place = place_of_file(trace.tb_frame.f_code.co_filename)
                line = trace.tb_lineno if place == "script" else line
                trace = trace.tb_next
            told = place not in ("target", "bundle") or len(caught) >= MAX_TOLD
            lines |= {line} if line and told else set()
        return lines

    def left_at(error: BaseException) -> object:
        """Where the script's outermost code left with the status 0; None if a function did, or with another."""
        code = _CODE(error)
        if code is not None and not (type(code) is int and code == 0):
            return None  # False is the status 0 to Python, and may mean the opposite
        told = [frame_told(*one) for one in frames_of(error)]
        spans = [one.get("span") for one in told if one["place"] == "script"]
        return spans[0] if len(spans) == 1 and spans[0] is not None and None not in spans[0] else None

    return SimpleNamespace(
        enter=enter,
        failed_at=failed_at,
        strays=strays,
        answering=answering,
        left_at=left_at,
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
_PARTS = BaseExceptionGroup.__dict__["exceptions"].__get__
_CODE = SystemExit.__dict__["code"].__get__


def _word_of(thing: Any, getter: Callable[[Any], object]) -> str | None:
    try:
        word = getter(thing)
    except AttributeError:
        return None
    return word[:MAX_MESSAGE_CHARS] if type(word) is str else None


def _full_name(kind: type) -> str:
    """A class's name with its module. The module is `builtins` only for a class that really is built in."""
    if id(kind) in BUILT_IN:
        return f"builtins.{BUILT_IN[id(kind)]}"
    module, name = _word_of(kind, module_of), _word_of(kind, name_of)
    return f"{'not' if module == 'builtins' else module}.{name}"[:MAX_MESSAGE_CHARS]


def _among(kind: type, kinds: tuple[type, ...]) -> bool:
    """Whether a class is one of `kinds`: the same, since what is equal is said by a class's own class."""
    return id(kind) in map(id, kinds)


def _named(held: Any) -> dict[str, object]:
    """What a module or a class holds by plain names."""
    found: dict[str, object] = held.copy()
    odd = [name for name in found if type(name) is not str]
    return {name: one for name, one in found.items() if type(name) is str} if odd else found


def _finish(waiting: list[Any]) -> None:
    """Have a library's functions given their code that get it when they are first called, before any script runs.

    Such a function is given itself by a default, and may wrap another. None has the keyword that it is called with.
    """
    seen = set()
    for one in waiting:
        given = one.__kwdefaults__ if type(one) is FunctionType and id(one) not in seen else None
        seen.add(id(one))
        if given is not None and any(value is one for value in given.values()):
            with contextlib.suppress(BaseException):
                one(**{"touchstone_" + os.urandom(8).hex(): None})
            with contextlib.suppress(BaseException):
                waiting += [one.__wrapped__, *vars(one.__wrapped__).values()]


def _is_module(value: object) -> bool:
    return _among(ModuleType, mro_of(type(value)))


def _has_every_name(module: ModuleType) -> bool:
    with contextlib.suppress(BaseException):
        getattr(module, "touchstone_" + os.urandom(8).hex())
        return True
    return False


def _exists(path: str) -> bool:
    try:
        stat(path)  # noqa: PTH116 - bound before the script ran
    except (OSError, ValueError):
        return False
    return True


def _made_of(value: Any) -> tuple[object, ...]:
    """The parts of a function, by their identity; empty for anything that is not a function."""
    kinds = mro_of(type(value))
    if _among(staticmethod, kinds) or _among(classmethod, kinds):
        value = function_of[_among(classmethod, kinds)](value)
    elif _among(property, kinds):
        value = getter_of(value)
    if type(value) is not FunctionType:
        return ()
    given = value.__kwdefaults__
    keywords = [] if given is None else [(name, id(one)) for name, one in dict.items(given) if type(name) is str]
    return (id(value.__code__), id(value.__defaults__), *keywords)


def _was_left_by_raising(frame: FrameType) -> bool:
    code = frame.f_code.co_code
    return not 0 <= frame.f_lasti < len(code) or code[frame.f_lasti] not in RETURNS


def _marked(text: str, script: str) -> tuple[Any, dict[str, set[int]]]:
    """The syntax of a script with marks, and the lines where each mark is to be met, by its name.

    Raises what Python raises for wrong syntax.

    A mark is a call of a function that does nothing: that it started tells that an assertion passed, or failed.
    `assert x` becomes `assert x and not passed() or failed()`, and in it `all(y for …)` becomes `all(not met() and y
    for …)`. `raise AssertionError` has a mark of the second kind. So has the `raise` of an exception of Python's that
    ends what a `try` did, which only prints or notes it. Each `except` begins by a mark and by telling what it caught,
    and each `with` tells what leaves its block, which it may keep to itself.
    """
    tree = compile(text, script, "exec", ONLY_SYNTAX, dont_inherit=True)
    lines: dict[str, set[int]] = {PASSED_MARK: set(), MET_MARK: set(), CAUGHT_MARK: set()}
    told: set[int] = set()
    parts: list[Any] = [tree]
    for each in parts:
        parts += _parts_of(each)
        if type(each) is Assert:
            lines[PASSED_MARK].add(each.lineno)
            for one in _all_of_several(each.test):
                lines[MET_MARK].add(each.lineno)
                where = _where(one.elt)
                one.elt = BoolOp(And(), [UnaryOp(Not(), _mark(MET_MARK, each), **where), one.elt], **where)
            where = _where(each.test)
            passed = BoolOp(And(), [each.test, UnaryOp(Not(), _mark(PASSED_MARK, each), **where)], **where)
            each.test = BoolOp(Or(), [passed, _mark(FAILED_MARK, each)], **where)
        elif type(each) is Try:
            alone = len(each.handlers) == 1
            told |= {
                id(one) for one in _own_raises(each.body) if any(_only_tells(by, one, alone) for by in each.handlers)
            }
        elif type(each) is Raise and each.exc is not None and (id(each) in told or _is_failure(each.exc)):
            each.exc = BoolOp(Or(), [_mark(FAILED_MARK, each), each.exc], **_where(each.exc))
        elif type(each) is ExceptHandler:
            lines[CAUGHT_MARK].add(each.lineno)
            each.body[:0] = [Expr(_mark(CAUGHT_MARK, each), **_where(each)), _telling(each)]
        elif type(each) in (With, AsyncWith):
            where = _where(each)
            told_on = ExceptHandler(None, None, [_telling(each), Raise(None, None, **where)], **where)
            each.body = [Try(each.body, [told_on], [], [], **where)]
    return tree, lines


def _parts_of(node: Any) -> list[Any]:
    held = [getattr(node, field, None) for field in node._fields]
    return [one for some in held for one in (some if type(some) is list else [some]) if hasattr(one, "_fields")]


def _walked(tree: Any) -> list[Any]:
    """A part of a syntax and all parts below it."""
    parts = [tree]
    for each in parts:
        parts += _parts_of(each)
    return parts


def _set_names(tree: Any) -> set[str]:
    """The names of the attributes that code sets."""
    parts = _walked(tree)
    words = [one for each in parts if type(each) is Call and _called(each) == "setattr" for one in each.args[1:2]]
    words += [each.slice for each in parts if type(each) is Subscript and type(each.ctx) is Store]
    return {each.attr for each in parts if type(each) is Attribute and type(each.ctx) is Store} | {
        str(one.value) for one in words if type(one) is Constant
    }


def _set_on(tree: Any) -> set[tuple[str, str]]:
    """What code sets: the name of what it is set on, which is empty for a global name of a function, and its own."""
    found = set()
    for each in _walked(tree):
        if type(each) is Global:
            found |= {("", name) for name in each.names}
        elif type(each) is Attribute and type(each.ctx) is Store and type(each.value) is Name:
            found.add((each.value.id, each.attr))
    return found


def _bound_in(tree: Any) -> tuple[dict[str, int], list[Holder]]:
    """How often a file binds each name, and its functions and methods that nothing else in it binds or wraps."""
    parts = _walked(tree)
    bound = [each.id for each in parts if type(each) is Name and type(each.ctx) is not Load]
    bound += [(each.asname or each.name).partition(".")[0] for each in parts if type(each) is alias]
    bound += [one for each in parts if type(each) is Global for one in each.names]
    bound += [each.name for each in parts if type(each) is not alias and type(getattr(each, "name", None)) is str]
    times: dict[str, int] = {}
    for each in bound:
        times[str(each)] = times.get(str(each), 0) + 1
    found = [("", one) for one in tree.body]
    for each in tree.body:
        if type(each) is ClassDef and not each.decorator_list and times[each.name] == 1:
            found += [(each.name, one) for one in each.body]
    return times, [
        (owner, one.name)
        for owner, one in found
        if type(one) in (FunctionDef, AsyncFunctionDef)
        and not one.decorator_list
        and one.name[:2] != "__"
        and times[one.name] == 1
    ]


def _all_of_several(test: Any) -> list[Any]:
    """The comprehensions of which `all` takes the values in an assertion, in any way: `all` of nothing is true."""
    parts = [test]
    for each in parts:
        either = type(each) is IfExp or (type(each) is BoolOp and type(each.op) is Or)
        parts += [] if either else _parts_of(each)
    called = [each.args[0] for each in parts if type(each) is Call and len(each.args) == 1 and _called(each) == "all"]
    return [each for each in called if type(each) in (GeneratorExp, ListComp)]


def _mark(name: str, at: Any) -> Any:
    """`(lambda: 0 and name)()`, of which Python keeps the name, though it is never asked for."""
    where = _where(at)
    value = BoolOp(And(), [Constant(0, **where), Name(name, Load(), **where)], **where)
    return Call(Lambda(arguments([], [], None, [], [], None, []), value, **where), [], [], **where)


def _telling(at: Any) -> Any:
    """`isinstance(exception(), TOLD_OF) and audit(CAUGHT, exception(), <line>)`, of constants of the code."""
    where = _where(at)
    # In an `if`, because Python warns where it sees that a text is called.
    yes, no = Constant(1, **where), Constant(0, **where)
    asked, kinds, audit, caught = (IfExp(yes, Constant(name, **where), no, **where) for name in IN_CODE)
    error = Call(caught, [], [], **where)
    told = Call(audit, [Constant(CAUGHT, **where), error, Constant(at.lineno, **where)], [], **where)
    return Expr(BoolOp(And(), [Call(asked, [error, kinds], [], **where), told], **where), **where)


def _completed(code: CodeType) -> CodeType:
    """Code with the constants of `IN_CODE` in their places."""
    return code.replace(
        co_consts=tuple(
            _completed(each) if type(each) is CodeType else IN_CODE.get(each, each) if type(each) is str else each
            for each in code.co_consts
        )
    )


def _where(node: Any) -> dict[str, Any]:
    return {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}


def _is_failure(raised: Any) -> bool:
    """Whether what is raised is an `AssertionError`."""
    return _called(raised) == "AssertionError"


def _called(node: Any) -> str:
    """The name, or the attribute, that is meant or called; empty for anything else."""
    named = node.func if type(node) is Call else node
    return str(getattr(named, "id", getattr(named, "attr", "")))


def _own_raises(body: list[Any]) -> list[Any]:
    """The `raise` statements of a block, without its first and those in functions, classes and `with` blocks."""
    parts = body[type(body[0]) is Raise :]
    for each in parts:
        for name in ("body", "orelse") if type(each) in (If, For, While) else ():
            parts += getattr(each, name)
    return [each for each in parts if type(each) is Raise and each.exc is not None]


def _only_tells(handler: Any, raised: Any, alone: bool) -> bool:
    """Whether an `except` catches what a `raise` of an exception of Python's raises, and only prints or logs it.

    Or notes it, where no other `except` stands beside it (`alone`), so that nothing tells it from one of the target.
    """
    name, caught = _called(raised.exc), handler.type
    return (
        (alone or name in BUILT_IN.values())
        and (caught is None or _called(caught) in ("Exception", "BaseException", name))
        and all(
            type(each) is Pass or (type(each) is Expr and _prints(each.value)) or (alone and _notes(each, handler.name))
            for each in handler.body
        )
    )


def _notes(statement: Any, caught: str | None) -> bool:
    """Whether a statement only keeps or returns a constant or the exception `caught`, or asserts something of it."""
    if type(statement) is Assert:
        named = [each.id for each in _walked(statement.test) if type(each) is Name]
        return caught in named and all(one == caught or hasattr(builtins, one) for one in named)
    kept = statement.value if type(statement) in (Assign, Return) else statement
    return kept is None or type(kept) is Constant or (type(kept) is Name and kept.id == caught)


def _prints(node: Any) -> bool:
    """Whether an expression only tells a reader something, by Python itself."""
    by = node.func if type(node) is Call else None
    return getattr(by, "id", "") == "print" or getattr(getattr(by, "value", None), "id", "") in ("traceback", "logging")


def _all_code(code: CodeType) -> list[CodeType]:
    found = [code]
    for each in found:
        found += [one for one in each.co_consts if type(one) is CodeType]
    return found


def chain_of(error: BaseException) -> list[BaseException]:
    """An exception and its causes."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MAX_CHAIN:
        chain.append(current)
        cause = cause_of(current)
        current = cause if cause is not None else None if suppressed_of(current) else context_of(current)
    return chain


def frames_of(error: BaseException) -> list[tuple[FrameType, int]]:
    """The frames that an exception passed through, from the outside in, each with its last instruction."""
    found, trace = [], trace_of(error)
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def text_of(error: BaseException) -> str:
    """The exception's class and message."""
    try:
        said = str(error)
    except BaseException:  # noqa: BLE001 - an exception's own code may raise
        said = ""
    return f"{type(error).__name__}: {said}"[:MAX_MESSAGE_CHARS]


# At the end, questions that only code of the script or the target can answer are asked first. Each of the two functions
# below has its own namespace and knows only where to put its answer, because the code that it asks can see its frame.


def last_texts(texts: list[str]) -> Leave:
    """A function that asks an exception and its causes for their messages."""

    def ask(_kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            texts.extend(text_of(one) for one in chain_of(error))

    return ask


def last_controls(names: dict[str, ModuleType], faults: list[str]) -> Leave:
    """A function that repeats controls of the target, whose results must be the same as before the script.

    The controls try things that must work and things that must fail.
    """

    def tried() -> dict[str, str]:
        """The results of the controls, by what was tried."""
        invented = "touchstone_" + os.urandom(8).hex()
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
    """An object for a `with` statement that calls `leave` when its block is left.

    It gives `leave` away when the block is entered. From then on only the block's own stack holds `leave`. The script
    can find the class, but the class leads to nothing.
    """
    kept = [leave]
    return type("Once", (), {"__enter__": lambda _: None, "__exit__": property(lambda _: kept.pop())})()


def _set_empty(names: list[str]) -> None:
    """Create empty modules with these names. Nothing that a script does with them asks anything of the target."""
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
    """Whether the script added this, because a library does not add it by itself.

    By itself a library adds classes and functions when they are asked for.
    """
    if name in ("__getattr__", "__getattribute__"):
        return True
    if name.startswith("_"):
        return False
    if _among(type, mro_of(type(value))):
        return (_word_of(value, name_of) or "").rpartition(".")[2] != name
    return type(value) is not FunctionType or _word_of(value, FUNCTION_NAME) != name


def _is_fixed(name: str, value: object) -> bool:
    """Whether a library does not change this by itself, as it changes its caches and counters."""
    kinds = mro_of(type(value))
    if any(
        _among(kind, kinds)
        for kind in (type, ModuleType, FunctionType, BuiltinFunctionType, staticmethod, classmethod, property)
    ):
        return True
    return name.isupper() and any(_among(kind, kinds) for kind in (str, bytes, int, float, tuple, frozenset))


def _script(  # noqa: PLR0915 - one step after another
    request: Json,
    world: SimpleNamespace,
    outside: int,
    asked: int,
    token: bytes,
    *,
    unseen: tuple[list[Any], list[Any]],
    make_guard: Callable[..., Hook],
) -> tuple[Any, ...]:  # pragma: no cover - runs in the sandbox alone
    """Make this process the script's.

    Returns the script, its namespace, and the functions to call when it has ended.
    """
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
    started: list[str] = []
    caught: list[Any] = []
    strayed: dict[Any, CodeType] = {}
    here = getpid()
    error: BaseException | None = None
    for each in unseen:
        each.clear()
    try:
        with open(world.script, "w", encoding="utf-8") as file:  # noqa: PTH123 - uses one module less that could be patched
            file.write(request["script"])
        tree, asserted = _marked(request["script"], world.script)
        code = world.compiled(tree)
    except BaseException as raised:  # noqa: BLE001 - counts as if the script had raised it
        error, code, asserted = raised.with_traceback(None), compile("", world.script, "exec"), {}
    seen, alone = _seen(code, asserted, unseen, _futures(request["script"])), _alone_from_now()
    began = lstat(world.script).st_ctime_ns
    guard = make_guard(request["site"], world.script, began=began, started=started, caught=caught, strayed=strayed)

    def tell(_kind: object, raised: BaseException | None, _trace: object) -> None:
        # No exception leaves this: the script's `sys.excepthook` would find here what only this process may know.
        try:
            stop_collecting()
            alone()
            tell_alone(raised)
        finally:
            _exit(LOST)

    def tell_alone(raised: BaseException | None) -> None:
        setrlimit(RLIMIT_AS, (memory, memory))
        if getpid() != here:
            _exit(LOST)  # this is another process, which the script forked
        raised = raised if error is None else error
        told: Json = {"end": "completed", "errors": [], "faults": []}
        if raised is not None and _among(SystemExit, mro_of(type(raised))):
            told |= {"end": "exit", "left_at": world.left_at(raised)}
        elif raised is not None:
            told |= {"end": "raised", "errors": world.described(raised, texts or ([text_of(error)] if error else []))}
            for one in told["errors"][:1]:
                one["frames"] = one["frames"] if error else one["frames"][1:]
        told |= seen(world.failed_at(caught)) | {"started": [one for one in started if type(one) is str][:MAX_FAULTS]}
        told |= {"strayed": world.strays(strayed), "answering": world.answering}
        told["faults"] = [*world.faults(), *[one for one in faults if type(one) is str]][:MAX_FAULTS]
        try:
            write(outside, token)
            drawn = read(asked, len(token))
            while len(line := drawn + _json(told).encode()) > MAX_RECORD_BYTES and told["errors"]:
                told["errors"].pop()
            write(outside, line)
            close(outside)
            close(asked)
        except BaseException:  # noqa: BLE001 - the script may have broken the channel
            _exit(LOST)
        set_events(SENTINEL, 0)
        # Code of the script may run from here on: it finds a closed channel, so that nothing more can be reported. The
        # traceback is printed for readers only and decides nothing.
        _show(raised if told["end"] == "raised" else None, unseen, outer=error is None)
        _exit(0)

    sys.addaudithook(guard)
    return main_module.__dict__, code, world.names, texts, faults, tell


def _alone_from_now() -> Callable[[], None]:  # pragma: no cover - runs in the sandbox alone
    """A function from whose call on this process ends if a function that is not this file's starts in this thread.

    A class, a key or a finalizer of the script could otherwise be called in the middle of what tells the end, and find
    its frame.
    """
    here, file = get_ident(), _show.__code__.co_filename
    functions = [one for one in globals().values() if type(one) is FunctionType and one.__code__.co_filename == file]
    ours = frozenset(id(code) for one in functions for code in _all_code(one.__code__))
    heard: list[int] = []
    once_told = sys.monitoring.DISABLE
    event = sys.monitoring.events
    kinds = (event.PY_START, event.PY_RESUME, event.PY_THROW)

    def started(code: CodeType, *where: object) -> object:
        if id(code) in ours:
            heard.append(1)
            return None if where[1:] else once_told  # what is thrown into a generator cannot be told once
        if get_ident() == here:
            _exit(LOST)
        return None

    def alone() -> None:
        set_events(SENTINEL, sum(kinds))
        _among(type, ())
        if not heard:
            _exit(LOST)  # the script has taken the number for itself

    sys.monitoring.use_tool_id(SENTINEL, "proof")
    for each in kinds:
        sys.monitoring.register_callback(SENTINEL, each, started)
    return alone


def _show(
    raised: BaseException | None, unseen: tuple[list[Any], list[Any]], *, outer: bool
) -> None:  # pragma: no cover - runs in the sandbox alone
    """Print what ended the script, and parts of it. `outer`: the first frame of `raised` is this file's."""
    with contextlib.suppress(BaseException):
        for one in [*unseen[0], *unseen[1]][:MAX_FAULTS]:
            traceback.print_exception(one[1])
    with contextlib.suppress(BaseException):
        if raised is not None:
            trace = raised.__traceback__
            raised.__traceback__ = trace.tb_next if outer and trace is not None else trace
            traceback.print_exception(raised)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


def _seen(
    code: CodeType, asserted: Json, unseen: tuple[list[Any], list[Any]], futures: dict[str, CodeType]
) -> Callable[[set[int]], Json]:  # pragma: no cover - runs in the sandbox alone
    """A function that tells what ended unseen, which assertions failed, and what of the script never ran.

    It is given the lines of what failed and was caught.

    Python itself takes from a dictionary what started, and tells of each once.
    """
    watched = _all_code(code)[1:]
    left = dict.fromkeys([*watched, *futures.values()], sys.monitoring.DISABLE)
    start = sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(OBSERVER, "proof")
    sys.monitoring.register_callback(OBSERVER, start, left.pop)
    for each in left:
        sys.monitoring.set_local_events(OBSERVER, each, start)

    def classes(ended: list[Any]) -> list[type]:
        found = [
            tuple.__getitem__(one, 0)
            for one in ended[:MAX_TOLD]
            if _among(tuple, mro_of(type(one))) and tuple.__len__(one)
        ]
        return [kind for kind in found if _among(type, mro_of(type(kind)))]

    def lines(mark: str) -> set[int]:
        """The lines at which a mark of that name started."""
        return {each.co_firstlineno for each in watched if mark in each.co_names and each not in left}

    def told(caught: set[int]) -> Json:
        failed = [kind for kind in classes(unseen[1]) if _among(AssertionError, mro_of(kind))]
        ended = [_full_name(kind).removeprefix("builtins.") for kind in [*classes(unseen[0]), *failed]]
        ran = {name for name, each in futures.items() if each not in left}
        if "default_exception_handler" in ran or ("set_exception" in ran and not ran & {"result", "exception"}):
            ended.append("an exception of a future")
        if "_warn_unawaited_coroutine" in ran:
            ended.append("a coroutine that nobody awaited")
        idle = {each.co_firstlineno for each in watched if each in left and each.co_name[0] != "<"}
        return {
            "unseen": ended[:MAX_FAULTS],
            "failed": sorted(lines(FAILED_MARK) | caught)[:MAX_TOLD],
            "unpassed": sorted(set().union(*(asserted[mark] - lines(mark) for mark in asserted)))[:MAX_TOLD],
            "idle": sorted(idle)[:MAX_TOLD],
        }

    return told


def _futures(script: str) -> dict[str, CodeType]:
    """Python's own functions that are told of an exception in a future, and that a script asks for it, by name.

    Also that which is told of a coroutine that nobody awaited, unless the script looks at coroutines.
    """
    found: list[Any] = []
    if not any(word in script for word in ABOUT_COROUTINES):
        found.append(importlib.import_module("warnings")._warn_unawaited_coroutine)  # noqa: SLF001
    if "concurrent" in script:
        future = importlib.import_module("concurrent.futures").Future
        found += [future.set_exception, future.result, future.exception]
    if "asyncio" in script:
        found.append(importlib.import_module("asyncio").BaseEventLoop.default_exception_handler)
    return {each.__name__: each.__code__ for each in found}


def _renamer() -> CodeType | None:
    """The code of `RENAMER`, if a name is all that it can change of code; None if there is no such function."""
    module = MODULES.get(RENAMER[0])
    function = module.__dict__.get(RENAMER[1]) if type(module) is ModuleType else None
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    parts = [one for one in code.co_consts if type(one) is tuple and any(str(part)[:3] == "co_" for part in one)]
    return code if parts == [("co_name",)] and opmap["CALL_FUNCTION_EX"] not in code.co_code[::2] else None


def guard_of(  # noqa: C901, PLR0915 - one case an event
    site_folder: str | None,
    script: str,
    *,
    began: int,
    started: list[str],
    caught: list[Any],
    strayed: dict[Any, CodeType],
) -> Hook:  # pragma: no cover - runs in the sandbox alone
    """A hook that ends the process when the script reaches for the code that reports its end, before it gets there.

    It also ends the process when a file of the bundle is read that was changed since `began` (ns), and writes into
    `started` how the script started other processes, and into `caught` the traceback of each AssertionError that an
    `except` or a `with` of the script tells of, also in a group. Into `strayed` it writes where the script made one of
    `MISTAKES` that came out of no code of the bundle: the line of the `except`, and the instruction, with its code. A
    finalizer of the script may be called in the middle of it, so its namespace must not be that of the code that
    reports the end.
    """
    libraries = tuple(path for path in (site_folder, sys.base_prefix, *sys.path) if path)

    coroutine_code = coroutine.__code__
    unmarshal_code = importlib.import_module("importlib._bootstrap_external")._compile_bytecode.__code__  # noqa: SLF001

    def file_of(code: CodeType) -> str:
        """The file of code: the script where its name is of a class whose methods would find the frame that asks."""
        return path if type(path := code.co_filename) is str else script

    def caller() -> FrameType | None:
        """The frame that caused the event. (`sys._getframe` would be another event.)"""
        try:
            [].pop()
        except IndexError as error:
            here = trace_of(error).tb_frame
        return here.f_back.f_back.f_back  # type: ignore[no-any-return]  # the guard's caller

    def asks_for_it(frame: FrameType | None) -> bool:
        """Whether the script is the caller, directly or through Python's own library."""
        while frame is not None:
            path = file_of(frame.f_code)
            if path == script:
                return True
            if site_folder is not None and path.startswith(site_folder):
                return False
            frame = frame.f_back
        return True

    def starts_it(frame: FrameType | None) -> bool:
        """Whether the script starts a process, and not a library, such as `platform` to learn of the machine."""
        while frame is not None and file_of(frame.f_code).startswith(STARTERS):
            frame = frame.f_back
        return frame is None or file_of(frame.f_code) == script

    def marks_coroutine(frame: FrameType | None) -> bool:
        """Whether the caller is `types.coroutine`, which sets a flag of a function. An import of asyncio calls it."""
        return frame is not None and frame.f_code is coroutine_code and type(frame.f_locals["func"]) is FunctionType

    renaming: list[FrameType] = []

    def called(code: CodeType, _at: int, function: object, _first: object) -> None:
        """Note the frame of `RENAMER` where it calls `replace` of code. Python says what is called, so no name lies.

        A script can have Python tell of its own code as well.
        """
        ended = False  # an exception would show the script a frame of this
        try:
            try:
                [].pop()
            except IndexError as error:
                frame = trace_of(error).tb_frame.f_back
            renaming[:] = [one for one in renaming if one is not frame]
            if function is CODE_REPLACE and code is renamer:
                renaming.append(frame)
            ended = True
        finally:
            if not ended:
                _exit(REACHED_INTO)

    def renames(given: tuple[Any, ...], frame: FrameType | None) -> bool:
        """Whether the caller gives code another name, and nothing else; the name must have no methods of the script."""
        found = any(one is frame for one in renaming)
        renaming[:] = [one for one in renaming if one is not frame]
        return found and type(given[CODE_NAME]) is str

    renamer = _renamer()
    if renamer is not None:
        sys.monitoring.register_callback(OBSERVER, sys.monitoring.events.CALL, called)
        sys.monitoring.set_local_events(OBSERVER, renamer, sys.monitoring.events.CALL)

    def is_changed(path: object) -> bool:
        """Whether a path leads to a file of the bundle that was not there before, or was changed."""
        if site_folder is None or type(path) is not str or not path.startswith(site_folder):
            return False
        try:
            return lstat(path).st_ctime_ns >= began
        except OSError:
            return False

    def is_librarys(path: str) -> bool:
        """Whether a file is in a folder of libraries."""
        return path.startswith(libraries) and ".." not in path

    def is_of_library(marshalled: object, frame: FrameType | None) -> bool:
        """Whether code is what a library's file of bytecode holds: that file which is being imported."""
        if frame is None or frame.f_code is not unmarshal_code:
            return False  # the names in the frame of other code may be held by a class of the script's
        path = frame.f_locals["bytecode_path"]
        if type(path) is not str or not is_librarys(path):
            return False
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                return file.read()[BYTECODE_START:] == marshalled
        except OSError:
            return False

    def brings_in(event: str, given: tuple[Any, ...], frame: FrameType | None) -> bool:
        """Whether an event brings in code that Python did not compile, or raw memory."""
        if event == "code.__new__":
            # Whoever calls: a script can have a library call what makes code.
            return not (marks_coroutine(frame) or renames(given, frame))
        if event == "marshal.loads":
            return not is_of_library(given[0], frame)
        return event == "marshal.load" or asks_for_it(frame)

    def is_ours(function: Any) -> bool:
        """Whether a function is defined in this file."""
        return type(function) is FunctionType and file_of(function.__code__) == guard.__code__.co_filename

    def is_ours_set(function: Any, name: str) -> bool:
        """Whether the defaults of a function of this file are being set."""
        return name in ("__defaults__", "__kwdefaults__") and is_ours(function)

    def keep(line: int, waiting: list[Any]) -> None:
        while waiting and len(caught) < MAX_TOLD:
            error = waiting.pop()
            kinds = frozenset(map(id, mro_of(type(error))))
            if id(AssertionError) in kinds:
                caught.append(trace_of(error))
            elif id(BaseExceptionGroup) in kinds:
                waiting += _PARTS(error)
            elif len(strayed) < MAX_FAULTS and not MISTAKEN.isdisjoint(kinds):
                stray(line, trace_of(error))

    def stray(line: int, trace: Any) -> None:
        found = None
        while trace is not None:
            frame = trace.tb_frame
            if site_folder is not None and file_of(frame.f_code).startswith(site_folder):
                return
            found = (frame.f_code, trace.tb_lasti) if file_of(frame.f_code) == script else found
            trace = trace.tb_next
        if found is not None:
            strayed[line, id(found[0]), found[1]] = found[0]

    def reaches(event: str, given: tuple[Any, ...]) -> bool:  # noqa: C901, PLR0912 - as above
        place, kind = LOOKED_AT.get(event, (0, None))
        reached = event in UNTOUCHABLE or (kind is not None and type(given[place]) is not kind)
        if reached:
            return True
        if event == CAUGHT:
            keep(given[1], [given[0]])
        elif event == "sys._getframe":
            frame = given[0]
            while frame is not None and frame.f_code is guard.__code__:
                frame = frame.f_back
            while frame is not None and not reached:
                reached = file_of(frame.f_code) == guard.__code__.co_filename and frame.f_code.co_name not in BELOW
                frame = frame.f_back
        elif event == "open":
            path = given[0]
            reached = is_changed(path)
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
            native = type(file) is str and file.endswith(".so") and not is_librarys(file)
            reached = native or given[0] in NATIVE or is_changed(file)
            reached = reached or (given[0] in RAW_MEMORY and asks_for_it(caller()))
        elif event == "object.__setattr__":
            coded = given[1] == "__code__" and not (marks_coroutine(caller()) and not is_ours(given[0]))
            reached = is_ours_set(*given[:2]) or (coded and asks_for_it(caller()))
        elif event in MADE_CODE or event[:7] == "ctypes.":
            reached = brings_in(event, given, caller())
        elif event in STARTING and event not in started and starts_it(caller()):
            started.append(event)
        return reached

    def guard(event: str, given: tuple[Any, ...]) -> None:
        reached = True  # also where an exception would show the script a frame of this
        try:
            reached = reaches(event, given)
        finally:
            if reached:
                try:
                    write(2, f"The proof was ended: it used {event}, which reaches into the interpreter.\n".encode())
                finally:
                    _exit(REACHED_INTO)

    return guard


def _json(value: Any) -> str:
    """JSON of plain values, made without anything that a script could have replaced."""
    if type(value) is str:
        return quoted(value)
    if type(value) is dict:
        return "{" + ",".join([f"{quoted(key)}:{_json(held)}" for key, held in value.items()]) + "}"
    if type(value) in (list, tuple):
        return "[" + ",".join([_json(held) for held in value]) + "]"
    return "null" if value is None else "true" if value is True else "false" if value is False else int.__repr__(value)


def _bound(limits: Json) -> int:  # pragma: no cover - runs in the sandbox alone
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
        _limit(which, bound, bound)
    _limit(resource.RLIMIT_AS, memory, memory + SPARE_MEMORY_BYTES)
    return resource.getrlimit(resource.RLIMIT_AS)[1]


def _limit(which: int, soft: int, hard: int) -> None:  # pragma: no cover - runs in the sandbox alone
    """Set a limit, or keep the present one if that is lower."""
    highest = resource.getrlimit(which)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(which, (soft, hard))


def _filter(steps: bytes) -> None:  # pragma: no cover - as `main`
    """Put a filter of system calls on this process and its children. End this process if the kernel supports none."""
    program = ctypes.create_string_buffer(steps)
    filter_ = struct.pack("@HP", len(steps) // STEP_BYTES, ctypes.addressof(program))
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_):
        os._exit(1)


def _alone(request: Json, *, keep: int) -> None:  # pragma: no cover - runs in the sandbox alone
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


def _end_orphans() -> None:  # pragma: no cover - as `main`
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


def _cpu_seconds() -> float:  # pragma: no cover - runs in the sandbox alone
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _memory_bytes() -> int:  # pragma: no cover - runs in the sandbox alone
    """The memory of this process as it is counted from outside: shared memory counts by its share."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
        return next((int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:")), 0)


def _prctl(option: int, value: int) -> None:  # pragma: no cover - runs in the sandbox alone
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _say(report: int, told: Json) -> None:  # pragma: no cover - runs in the sandbox alone
    # A lone surrogate, which an exception's message may hold, is no JSON to whoever reads this.
    os.write(report, json.dumps(told, ensure_ascii=False).encode(errors="replace") + b"\n")


def run_last(held: list[Any]) -> None:  # pragma: no cover - runs in the sandbox alone
    """Run the script with no other frame on the stack than this one, which holds nothing.

    Only the stack of this call holds the code that reports the end.
    """
    with held.pop(), held.pop(), held.pop():
        exec(held.pop(), held.pop())  # noqa: S102


if __name__ == "__main__":  # pragma: no cover
    # A copy, because the frames below a script show the original. To compile the file again takes ten times as long.
    _code = marshal.loads(marshal.dumps(sys._getframe().f_code))  # noqa: S302, SLF001

    def _apart() -> dict[str, Any]:
        """The names of a new run of this file, which shares none with another run."""
        made: dict[str, Any] = {"__name__": "runner", "__builtins__": dict(vars(builtins))}
        exec(_code, made)  # noqa: S102
        return made

    _main, _guard, _control, _ask = (_apart()[_name] for _name in ("main", "guard_of", "last_controls", "last_texts"))
    _scope, _script_code, _names, _texts, _faults, _tell = _main(int(sys.argv[1]), _guard)
    _controls, _asked = _control(_names, _faults), _ask(_texts)
    _held = [_scope, _script_code, once(_asked), once(_controls), once(_tell)]
    del _scope, _script_code, _names, _texts, _faults, _tell, _controls, _asked, _code, _apart
    del _main, _guard, _control, _ask
    run_last(_held)
