"""A hard limit on the time that bounded CPU work may take, in any thread and on any platform of a Lambda.

Signals work in the main thread alone and a process costs more than the work itself, so the work runs in a thread that
is stopped by an asynchronous exception. Such an exception is seen between two bytecodes only: a single C call (a
multiplication of integers with millions of digits) would hold the interpreter. Whoever calls `within` bounds the size
of the numbers first; `touchstone.checks.syntax` does that for expressions.
"""

import ctypes
import threading
from collections.abc import Callable

STOP_ATTEMPTS = 3
"""How often a late worker is told to stop: code that swallows every exception may swallow the first ones."""
STOP_WAIT_SECONDS = 0.01
"""How long one attempt waits for the worker to end. All attempts together stay far below the limits in use."""


class _ExpiredError(BaseException):
    """Thrown into a worker whose time is over; not an Exception, so that `except Exception` does not stop it."""


def within[**P, R](seconds: float, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Return `function(*args, **kwargs)`, or None when it has not ended after `seconds` of wall-clock time.

    `function` runs in a thread of its own. What it raises is raised here. It must be free of effects: it may be stopped
    at any bytecode. Modules it needs are imported before, since a stopped import leaves half a module.
    """
    results: list[R] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function(*args, **kwargs))
        except _ExpiredError:
            return
        except BaseException as failure:  # noqa: BLE001 - carried over to the caller's thread, where it is raised
            failures.append(failure)

    worker = threading.Thread(target=work, name="touchstone-within", daemon=True)
    worker.start()
    worker.join(seconds)
    if worker.is_alive():
        _stop(worker)
        return None
    if failures:
        raise failures[0]
    return results[0] if results else None


def _stop(worker: threading.Thread) -> None:
    """Tell `worker` to end, a few times."""
    for _ in range(STOP_ATTEMPTS):
        if worker.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(_ExpiredError))
        worker.join(STOP_WAIT_SECONDS)
        if not worker.is_alive():
            return
