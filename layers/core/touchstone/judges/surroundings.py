"""What judges share: the connection of their provider, and the quota, cache and clock around all of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field

from touchstone.clock import Clock
from touchstone.judges.base import Adapter, Admission, ReplyCache

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Connection:
    """One provider's adapter, shared by all judges of that provider. `endpoint` is its base URL, "" the SDK's own."""

    adapter: Adapter
    account: str
    endpoint: str = ""
    loaded: bool = False
    _loading: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Load the SDK, off the event loop, since that takes up to a second and a half the first time.

        Many who wait for it take one thread: the others are there for checks.
        """
        if self.loaded:
            return
        # The task of another event loop, as of a thread that was left alone, cannot be waited for here.
        if self._loading is None or self._loading.done() or self._loading.get_loop() is not asyncio.get_running_loop():
            self._loading = asyncio.create_task(asyncio.to_thread(self.adapter.load))
            self._loading.add_done_callback(self._ended)
        await asyncio.shield(self._loading)

    def _ended(self, loading: asyncio.Task[None]) -> None:
        self.loaded = not loading.cancelled() and loading.exception() is None


@dataclass(slots=True)
class Surroundings:
    """What all judges of one `Judges` share. `unfinished` are permits being settled after their question has ended."""

    tenant: str
    clock: Clock
    admission: Admission | None
    cache: ReplyCache | None
    sleep: Callable[[float], Awaitable[None]]
    draw: Callable[[], float]
    unfinished: set[asyncio.Task[None]] = field(default_factory=set)

    async def finish(self, ending: Coroutine[object, object, None], *, within: float) -> None:
        """Run what ends a call, but wait no longer than `within` seconds; it goes on after that, and is not lost.

        A failure is logged, not raised: the unit stays reserved, and a reply that was paid for is not thrown away.
        """
        # Begun at once: what need not wait for a table has ended then, without a turn of the event loop.
        task = asyncio.Task(ending, loop=asyncio.get_running_loop(), eager_start=True)
        if task.done():
            self._finished(task)
            return
        self.unfinished.add(task)
        task.add_done_callback(self._finished)
        await asyncio.wait({task}, timeout=within)

    def finish_later(self, ending: Coroutine[object, object, None]) -> None:
        """Run what ends a call without waiting for it at all."""
        task = asyncio.create_task(ending)
        self.unfinished.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self.unfinished.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("A judge call could not be settled or kept: %s", type(error).__name__)
