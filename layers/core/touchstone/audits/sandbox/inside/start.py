"""Runs one script inside the sandbox and says how it ended. `python -I -S` starts it, by `sandbox.runner`.

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
import json
import marshal
import os
import resource
import select
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from touchstone.audits.sandbox.inside.child import become_script
from touchstone.audits.sandbox.inside.guard import guard_of
from touchstone.audits.sandbox.inside.last import last_controls, last_texts, once, run_last
from touchstone.audits.sandbox.inside.process import (
    MOST_PROCESSES,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    cpu_seconds,
    drop_rights,
    end_orphans,
    fake_faulthandler,
    limit,
    memory_bytes,
    prctl,
    put_filter,
)
from touchstone.audits.sandbox.inside.shared import MAX_RECORD_BYTES, REACHED_INTO, Hook, Json
from touchstone.audits.sandbox.inside.world import new_world

SCRIPT_NAME = "proof.py"


def main(
    report: int, make_guard: Callable[..., Hook]
) -> tuple[Any, ...]:  # pragma: no cover - runs in the sandbox alone
    """Read the request from stdin, run it, and write lines of JSON to the descriptor `report`.

    `make_guard` is the `guard_of` of another namespace. Returns only in the script's process, with the values that
    `run_last` needs. The other process exits.
    """
    _say(report, {"event": "started"})
    request: Json = json.load(sys.stdin.buffer)
    drop_rights(request, keep=report)
    # The import of a library is trusted no more than a script.
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if request["limits"]["own_user"]:
        limit(resource.RLIMIT_NPROC, MOST_PROCESSES, MOST_PROCESSES)
    if request["steps"] is not None:
        put_filter(bytes.fromhex(request["steps"]))
    fake_faulthandler()
    world = new_world(request["site"], tuple(request["modules"]), os.path.join(os.getcwd(), SCRIPT_NAME))  # noqa: PTH118, PTH109
    # Told of what ends a thread, and a finalizer. They are lists, which lead a script that finds them to nothing.
    unseen: tuple[list[Any], list[Any]] = ([], [])
    threading.excepthook, sys.unraisablehook = unseen[0].append, unseen[1].append
    failures = world.enter()
    _set_empty(request["empty"])
    if request["site"] is not None:
        os.environ["PYTHONPATH"] = request["site"]  # for a Python that the script or the library starts
    taken = {"cpu_seconds": cpu_seconds(), "memory_bytes": memory_bytes()}
    _say(report, {"event": "ready", **taken, "failures": failures})
    inside, outside = os.pipe()
    asked, answered = os.pipe()
    token = os.urandom(16).hex().encode()
    # Now no other process of the same user can read or write the memory of this process, or of the script's.
    prctl(PR_SET_DUMPABLE, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        for each in (report, inside, answered):
            os.close(each)
        return become_script(request, world, outside, asked, token, unseen=unseen, make_guard=make_guard)
    os.close(outside)
    os.close(asked)
    said = _heard(child, inside, answered, token)
    _, status, used = os.wait4(child, 0)
    left = os.waitstatus_to_exitcode(status)
    end_orphans()
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


def _set_empty(names: list[str]) -> None:
    """Create empty modules with these names. Nothing that a script does with them asks anything of the target."""
    for name in names:
        parent = None
        for end in [place for place, character in enumerate(name + ".") if character == "."]:
            module = sys.modules.setdefault(name[:end], ModuleType(name[:end]))
            if parent is not None:
                setattr(parent, name[:end].rpartition(".")[2], module)
            parent = module


def _say(report: int, told: Json) -> None:  # pragma: no cover - runs in the sandbox alone
    # A lone surrogate, which an exception's message may hold, is no JSON to whoever reads this.
    os.write(report, json.dumps(told, ensure_ascii=False).encode(errors="replace") + b"\n")


if __name__ == "__main__":  # pragma: no cover
    # A copy, because the frames below a script show the original. Compiling it again would take ten times as long.
    _code = marshal.loads(marshal.dumps(sys._getframe().f_code))  # noqa: S302, SLF001

    def _apart() -> dict[str, Any]:
        """The names of a new run of all these files, which shares none with another run."""
        made: dict[str, Any] = {"__name__": "runner", "__builtins__": dict(vars(builtins))}
        exec(_code, made)  # noqa: S102
        return made

    _parts = (main, guard_of, last_controls, last_texts)
    _main, _guard, _control, _ask = (_apart()[_part.__name__] for _part in _parts)
    _scope, _script_code, _names, _texts, _faults, _tell = _main(int(sys.argv[1]), _guard)
    _controls, _asked = _control(_names, _faults), _ask(_texts)
    _held = [_scope, _script_code, once(_asked), once(_controls), once(_tell)]
    del _scope, _script_code, _names, _texts, _faults, _tell, _controls, _asked, _code, _apart
    del _main, _guard, _control, _ask, _parts
    run_last(_held)
