"""Traces: the judge calls made for a record are stored beside the work, and never delay or break it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate

from touchstone.operations.jobs.context import StepContext

if TYPE_CHECKING:
    from concurrent.futures import Future
    from queue import Queue

    from touchstone.clock import Deadline

KEEP_SECONDS = 2.0
"""How long a step waits at its end until its trace is stored."""
KEEPING_THREADS = 2
"""How many traces are written at a time, in threads of their own: the event loop's threads are for admissions and
checks."""
MOST_WAITING = 64
"""How many traces may wait for such a thread. A further trace is lost: a store that hangs must not fill the memory."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def tracing_calls(
    context: StepContext, record_id: str, *, deadline: "Deadline | None" = None
) -> AsyncIterator[Callable[[], None]]:
    """Store what judges are asked in the block, as a trace of a record.

    It is stored at the end of the block, or when the yielded function is called. A step that stores its record after
    its judges have replied calls that function before, so that record and trace are stored side by side. The end of the
    block waits until the trace is stored, for `KEEP_SECONDS` at most and never past `deadline`.
    """
    traces = context.traces
    if traces is None:
        yield lambda: None
        return
    from touchstone.judges.tracing import trace_calls

    keeping: list[asyncio.Future[None]] = []
    with trace_calls() as calls:

        def keep() -> None:
            if calls:
                work = partial(traces.keep, tenant=context.tenant, record_id=record_id, calls=tuple(calls))
                calls.clear()
                if (kept := _kept_apart(work)) is not None:
                    keeping.append(asyncio.wrap_future(kept))

        try:
            yield keep
        finally:
            keep()
            if keeping:
                left = KEEP_SECONDS if deadline is None else min(KEEP_SECONDS, max(0.0, deadline.remaining))
                await asyncio.wait(keeping, timeout=left)


def traced[C: StepContext, **P, T](
    step: Callable[Concatenate[C, str, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[C, str, P], Coroutine[Any, Any, T]]:
    """Decorate a step over a record: its judge calls are stored as that record's, if the context stores traces."""

    @wraps(step)
    async def kept(context: C, record_id: str, /, *given: P.args, **named: P.kwargs) -> T:
        async with tracing_calls(context, record_id):
            return await step(context, record_id, *given, **named)

    return kept


def _kept_apart(work: Callable[[], None]) -> "Future[None] | None":
    """Have a trace stored in another thread. None if too many wait. The process ends without waiting for it."""
    from concurrent.futures import Future
    from queue import Full

    kept = Future[None]()
    kept.set_running_or_notify_cancel()
    try:
        _line().put_nowait((kept, work))
    except Full as error:
        _log.warning("the trace of a record could not be kept: %s", type(error).__name__)
        return None
    return kept


@cache
def _line() -> "Queue[tuple[Future[None], Callable[[], None]]]":
    from queue import Queue
    from threading import Thread

    line = Queue[tuple["Future[None]", Callable[[], None]]](MOST_WAITING)
    for number in range(KEEPING_THREADS):
        Thread(target=_keep_all, args=(line,), name=f"touchstone-traces-{number}", daemon=True).start()
    return line


def _keep_all(line: "Queue[tuple[Future[None], Callable[[], None]]]") -> None:
    while True:
        kept, work = line.get()
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the thread has the next one to keep
            _log.warning("the trace of a record could not be kept: %s", type(error).__name__)
        kept.set_result(None)
        del kept, work
