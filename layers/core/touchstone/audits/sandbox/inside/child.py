"""The process in which a script runs, and what it tells of the script's end."""

import contextlib
import signal
import sys
import traceback
from collections.abc import Callable
from gc import disable as stop_collecting
from json.encoder import encode_basestring_ascii as quoted
from os import _exit, close, getpid, lstat, read, write
from resource import RLIMIT_AS, setrlimit
from threading import get_ident
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from touchstone.audits.sandbox.inside.exceptions import text_of
from touchstone.audits.sandbox.inside.marks import marked
from touchstone.audits.sandbox.inside.objects import is_among, mro_of
from touchstone.audits.sandbox.inside.process import put_filter, set_limits
from touchstone.audits.sandbox.inside.seen import futures_of, seen_of
from touchstone.audits.sandbox.inside.shared import LOST, MAX_FAULTS, MAX_RECORD_BYTES, SENTINEL, Hook, Json
from touchstone.audits.sandbox.inside.syntax import all_code

set_events = sys.monitoring.set_events


def become_script(  # noqa: PLR0915 - one step after another
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
    memory = set_limits(request["limits"])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if request["no_handlers"] is not None:
        put_filter(bytes.fromhex(request["no_handlers"]))
    sys.argv[:] = [world.script]
    main_module = ModuleType("__main__")
    main_module.__dict__["__file__"] = world.script
    sys.modules["__main__"] = main_module
    texts: list[str] = []
    faults: list[str] = []
    started: list[str] = []
    caught: list[Any] = []
    strayed: dict[Any, tuple[CodeType, tuple[type, ...]]] = {}
    here = getpid()
    error: BaseException | None = None
    for each in unseen:
        each.clear()
    try:
        with open(world.script, "w", encoding="utf-8") as file:  # noqa: PTH123 - uses one module less that could be patched
            file.write(request["script"])
        tree, asserted = marked(request["script"], world.script)
        code = world.compiled(tree)
    except BaseException as raised:  # noqa: BLE001 - counts as if the script had raised it
        error, code, asserted = raised.with_traceback(None), compile("", world.script, "exec"), {}
    seen, alone = seen_of(code, asserted, unseen, futures_of(request["script"])), _alone_from_now()
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
        if raised is not None and is_among(SystemExit, mro_of(type(raised))):
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
    ours = frozenset(id(code) for one in functions for code in all_code(one.__code__))
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
        is_among(type, ())
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


def _json(value: Any) -> str:
    """JSON of plain values, made without anything that a script could have replaced."""
    if type(value) is str:
        return quoted(value)
    if type(value) is dict:
        return "{" + ",".join([f"{quoted(key)}:{_json(held)}" for key, held in value.items()]) + "}"
    if type(value) in (list, tuple):
        return "[" + ",".join([_json(held) for held in value]) + "]"
    return "null" if value is None else "true" if value is True else "false" if value is False else int.__repr__(value)
