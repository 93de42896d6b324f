"""Keeping what was asked of judges for a record: beside the work, and never in its way."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate

from touchstone.operations.context import StepContext

if TYPE_CHECKING:
    from concurrent.futures import Future
    from queue import Queue

    from touchstone.clock import Deadline

KEEP_SECONDS = 2.0
"""How long a step waits at its end for its trace to be kept."""
KEEPING_THREADS = 2
"""Traces that are written at a time, in threads of their own: those of the event loop are for admissions and checks."""
MOST_WAITING = 64
"""Traces that wait for such a thread. A further one is lost: a store that hangs must not fill the memory."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def tracing_calls(
    context: StepContext, record_id: str, *, deadline: "Deadline | None" = None
) -> AsyncIterator[Callable[[], None]]:
    """Keeps what judges are asked in its block, for a record: at the end of the block, or as soon as it is told to.

    Whoever stores a record after its judges have spoken tells it before, so that both are stored side by side. The end
    waits until the trace is kept, `KEEP_SECONDS` at most and never past `deadline`.
    """
    traces = context.traces
    if traces is None:
        yield lambda: None
        return
    from touchstone.judges.tracing import collecting

    keeping: list[asyncio.Future[None]] = []
    with collecting() as calls:

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
    """A step over a record whose judge calls are kept as that record's, where the context keeps any."""

    @wraps(step)
    async def kept(context: C, record_id: str, /, *given: P.args, **named: P.kwargs) -> T:
        async with tracing_calls(context, record_id):
            return await step(context, record_id, *given, **named)

    return kept


def _kept_apart(work: Callable[[], None]) -> "Future[None] | None":
    """Lets a trace be kept beside all other work; None where too many wait. A process ends without waiting for it."""
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
