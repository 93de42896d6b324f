"""A hard limit on the time that bounded CPU work may take, in any thread and on any platform of a Lambda.

Signals work in the main thread only, and a process costs more than the work. So the work runs in a thread that an
asynchronous exception stops. Python raises such an exception only between two bytecodes: a single C call (a product of
integers with millions of digits) would hold the interpreter. So the caller bounds the numbers first
(`values.exact.bound`).

The time that counts is the processor time of the work itself, so that a busy machine does not change an answer. If the
system does not tell the processor time, the wall clock counts instead. In any case the work is stopped after a multiple
of the limit on the wall clock.
"""

import ctypes
import threading
import time
from collections.abc import Callable

WALL_CLOCK_FACTOR = 5
"""How many times its limit the work may take on the wall clock, since the machine may be busy."""
AT_ONCE_SECONDS = 0.005
"""About the longest time of a check that answers at once, whatever the text. An event loop loses no more time by
running such a check itself than by a thread: a thread that computes holds the interpreter for as long before others may
run (`sys.getswitchinterval`)."""
SMALLEST_WAIT_SECONDS = 0.005
"""The shortest wait between two looks at the clock."""
STOP_ATTEMPTS = 2
"""How many times a late worker is told to stop: its code may swallow the first exception. See `_Work.__call__` for why
there are only two."""
STOP_WAIT_SECONDS = 0.02
"""How long one stop attempt waits for the worker to end. All attempts together stay far below the limits in use."""


class NotAtOnceError(Exception):
    """The check was asked to answer at once and may need longer: it has to load algebra, or to read a long text."""


class _ExpiredError(BaseException):
    """Thrown into a worker whose time is over. Not an `Exception`, so that `except Exception` does not catch it."""


class Allowance:
    """Time for several pieces of work together. Not shared between threads."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._wall_left = WALL_CLOCK_FACTOR * seconds

    def spend[**P, R](self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Return `function(*args, **kwargs)`, or None if it does not end within the time that is left.

        `function` runs in a thread of its own. If it raises, the same exception is raised here. It must have no
        effects, since it may be stopped at any bytecode. The modules that it needs must be imported before the call,
        since a stopped import leaves half a module.
        """
        if self._left <= 0 or self._wall_left <= 0:
            return None
        work = _Work(lambda: function(*args, **kwargs))
        worker = threading.Thread(target=work, name="touchstone-within", daemon=True)
        started = time.monotonic()
        worker.start()
        while worker.is_alive():
            left = min(self._left - work.seconds(), self._wall_left - (time.monotonic() - started))
            if left <= 0:
                break
            worker.join(max(left, SMALLEST_WAIT_SECONDS))
        self._left -= work.seconds()
        self._wall_left -= time.monotonic() - started
        if worker.is_alive():
            work.stop(worker)
        if work.failure is not None:
            raise work.failure
        return work.results[0] if work.results else None


class _Work[R]:
    """A call in a worker thread: its result or failure, and the processor time that it has taken."""

    def __init__(self, call: Callable[[], R]) -> None:
        self._call = call
        self._clock: int | None = None
        self._started = time.monotonic()
        self._ended: float | None = None
        self._turn = threading.Lock()
        self._stoppable = False
        self._cancelled = False
        self.results: list[R] = []
        self.failure: BaseException | None = None

    def __call__(self) -> None:
        # A second exception may come while the first one is handled. There are two at most, so none escapes.
        try:
            try:  # noqa: SIM105 - a context manager would run more code in which a second exception may come
                self._run()
            except _ExpiredError:
                pass
            self._end()
        except _ExpiredError:
            self._end()

    def _run(self) -> None:
        # Asked for in the thread itself, where the thread's id is certainly valid. The clock may outlive the thread.
        self._clock = None if _WALL_ONLY else time.pthread_getcpuclockid(threading.get_ident())
        with self._turn:
            self._stoppable = not self._cancelled
        try:
            if self._stoppable:
                self.results.append(self._call())
        except _ExpiredError:
            raise
        except BaseException as failure:  # noqa: BLE001 - carried over to the caller's thread, where it is raised
            self.failure = failure

    def _end(self) -> None:
        with self._turn:
            self._stoppable = False
        self._ended = self._measured()

    def stop(self, worker: threading.Thread) -> None:
        """Tell the worker to end, unless it is about to end. A worker that has not begun is kept from beginning."""
        for _ in range(STOP_ATTEMPTS):
            with self._turn:
                self._cancelled = True
                if self._stoppable and worker.ident is not None:
                    thread, error = ctypes.c_ulong(worker.ident), ctypes.py_object(_ExpiredError)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)
            worker.join(STOP_WAIT_SECONDS)
            if not worker.is_alive():
                return

    def seconds(self) -> float:
        """The processor time that the call has taken so far, in seconds; where the system tells none, the wall time."""
        return self._measured() if self._ended is None else self._ended

    def _measured(self) -> float:
        if _WALL_ONLY:
            return time.monotonic() - self._started
        try:
            return 0.0 if self._clock is None else time.clock_gettime(self._clock)
        except OSError:
            # The thread has ended meanwhile.
            return self._ended or 0.0


_WALL_ONLY = not hasattr(time, "pthread_getcpuclockid")
