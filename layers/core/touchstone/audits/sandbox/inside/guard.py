"""The hook that ends a script's process when the script reaches for the code that reports its end."""

import importlib
import os
import sys
from opcode import opmap
from os import _exit, lstat, readlink, write
from types import CodeType, FrameType, FunctionType, ModuleType, coroutine
from typing import Any

from touchstone.audits.sandbox.inside.exceptions import trace_of
from touchstone.audits.sandbox.inside.marks import CAUGHT, MISTAKES
from touchstone.audits.sandbox.inside.objects import mro_of
from touchstone.audits.sandbox.inside.shared import (
    MAX_CHAIN,
    MAX_FAULTS,
    MAX_TOLD,
    MODULES,
    OBSERVER,
    RAW_MEMORY,
    REACHED_INTO,
    RENAMER,
    Hook,
)

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
BYTECODE_START = 16
"""The bytes of a file of bytecode before the code itself."""
NATIVE = ("_testcapi", "_testinternalcapi", "_testlimitedcapi", "_testclinic", "_testbuffer")
"""Modules of Python's own tests, which can be told to read and write any memory."""
LOOKED_AT = {
    CAUGHT: (1, int), "import": (0, str), "object.__setattr__": (1, str), "sys._getframe": (0, FrameType),
    "marshal.loads": (0, bytes),
}  # fmt: skip
"""By audit event: the place of an argument that is looked at, and its type. A script may tell an event with any other,
whose methods would find the frame that looks at it."""
MISTAKEN = frozenset(map(id, MISTAKES))
OWN_MISTAKES = frozenset(map(id, (NameError, UnboundLocalError, AttributeError)))
"""What no function of the script raises to tell a library that something it was given is wrong."""
RAISES = opmap["RAISE_VARARGS"]
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
CODE_REPLACE = CodeType.__dict__["replace"]
CODE_NAME = 2
"""The place of the new name in what Python tells of code that is made."""
_PARTS = BaseExceptionGroup.__dict__["exceptions"].__get__


def guard_of(  # noqa: C901, PLR0915 - one case an event
    site_folder: str | None,
    script: str,
    *,
    began: int,
    started: list[str],
    caught: list[Any],
    strayed: dict[Any, tuple[CodeType, tuple[type, ...]]],
) -> Hook:  # pragma: no cover - runs in the sandbox alone
    """A hook that ends the process when the script reaches for the code that reports its end, before it gets there.

    It also ends the process when a file of the bundle is read that was changed since `began` (ns), and writes into
    `started` how the script started other processes, and into `caught` the traceback of each AssertionError that an
    `except` or a `with` of the script tells of, also in a group. Into `strayed` it writes where the script made one of
    `MISTAKES` that came out of no code of the bundle: the line of the `except`, and the instruction, with its code, the
    class of the exception where no `raise` made it there, and those of the groups around it that came out of the
    bundle. A finalizer of the script may be called in the middle of it, so its namespace must not be that of the code
    that reports the end.
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

    def keep(line: int, error: Any) -> None:
        waiting: list[tuple[Any, tuple[type, ...]]] = [(error, ())]
        while waiting and len(caught) < MAX_TOLD:
            error, makers = waiting.pop()
            kinds = frozenset(map(id, mro_of(type(error))))
            if id(AssertionError) in kinds:
                caught.append(trace_of(error))
                continue
            found, through = passed_by(error)
            if id(BaseExceptionGroup) in kinds:
                made = (*makers, type(error)) if through == "bundle" else makers
                waiting += [(one, made) for one in _PARTS(error)]
            elif found is not None and through != "bundle" and not MISTAKEN.isdisjoint(kinds):
                made = () if id(type(error)) in OWN_MISTAKES else makers
                made = (*made, type(error)) if through == "script" else made
                if len(strayed) < MAX_FAULTS:
                    strayed[line, id(found[0]), found[1], *map(id, made)] = (found[0], made)

    def passed_by(error: Any) -> tuple[tuple[CodeType, int] | None, str]:
        """The last instruction of the script that an exception came through, and where it came from.

        From the `bundle` where a frame of it is among them, from the `script` where that is the innermost and has no
        `raise`, or from elsewhere, which is empty.
        """
        found, through, trace = None, "", trace_of(error)
        while trace is not None:
            frame = trace.tb_frame
            path = file_of(frame.f_code)
            found = (frame.f_code, trace.tb_lasti) if path == script else found
            through = "script" if path == script else ""
            if site_folder is not None and path.startswith(site_folder):
                through = "bundle"
                break
            trace = trace.tb_next
        raised = found is not None and found[0].co_code[found[1]] == RAISES
        return found, "" if raised and through == "script" else through

    def reaches(event: str, given: tuple[Any, ...]) -> bool:  # noqa: C901, PLR0912 - as above
        place, kind = LOOKED_AT.get(event, (0, None))
        reached = event in UNTOUCHABLE or (kind is not None and type(given[place]) is not kind)
        if reached:
            return True
        if event == CAUGHT:
            keep(given[1], given[0])
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


def _renamer() -> CodeType | None:
    """The code of `RENAMER`, if a name is all that it can change of code; None if there is no such function."""
    module = MODULES.get(RENAMER[0])
    function = module.__dict__.get(RENAMER[1]) if type(module) is ModuleType else None
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    parts = [one for one in code.co_consts if type(one) is tuple and any(str(part)[:3] == "co_" for part in one)]
    return code if parts == [("co_name",)] and opmap["CALL_FUNCTION_EX"] not in code.co_code[::2] else None
