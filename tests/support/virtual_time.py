"""Time that passes only while everybody waits: real SDKs, threads and connections, and no second that is waited.

Event loops, deadlines and the system's clock show the same made-up moment. It stands while anything is at work, however
slow the machine is, and jumps to whatever is due next once each thread waits for a timer or for a reply that the
judges' server holds back. So a minute's quota, a hung call and an endpoint of twenty seconds are exact, and cost none.
"""

import asyncio
import itertools
import math
import selectors
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.providers import CALL_HEADER

LOOK_SECONDS = 0.001
"""Between two real looks at the connections, while all wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    until: float
    let_go: Callable[[], None]


@dataclass
class VirtualTime:
    """A made-up moment for one process. `longest_call` is how long a call to a judge took at most, in its seconds."""

    start: datetime
    longest_call: float = 0.0
    _seconds: float = 0.0
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _threads: dict[int, float | None] = field(default_factory=dict)
    _jobs: int = 0
    _calls: set[str] = field(default_factory=set)
    _held: dict[str, _Held] = field(default_factory=dict)

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self._seconds

    def now(self) -> datetime:
        """The made-up moment, in UTC."""
        return self.start + timedelta(seconds=self._seconds)

    def timestamp(self) -> float:
        """The same as Unix time."""
        return self.now().timestamp()

    def forward(self, seconds: float) -> None:
        """Let time pass while nobody is at work."""
        with self._lock:
            self._seconds += max(0.0, seconds)

    @contextmanager
    def working(self) -> Iterator[None]:
        """This thread works: time stands, but for what its event loop waits for."""
        me = threading.get_ident()
        with self._lock:
            self._threads[me] = None
        try:
            yield
        finally:
            with self._lock:
                del self._threads[me]

    @contextmanager
    def job(self) -> Iterator[None]:
        """Something is done that no event loop shows, and time stands."""
        self.job_begun()
        try:
            yield
        finally:
            self.job_ended()

    def job_begun(self) -> None:
        """A thread of an event loop's own begins."""
        with self._lock:
            self._jobs += 1

    def job_ended(self) -> None:
        """Its event loop has seen that it ended."""
        with self._lock:
            self._jobs -= 1

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        """A call to the judges' server is under way."""
        begun = self._seconds
        with self._lock:
            self._calls.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._calls.discard(name)
                self.longest_call = max(self.longest_call, self._seconds - begun)

    async def hold(self, name: str | None, seconds: float) -> None:
        """Hold the reply to a call back, on the server's own event loop."""
        loop = asyncio.get_running_loop()
        free = loop.create_future()

        def let_go() -> None:
            loop.call_soon_threadsafe(free.set_result, None)

        assert name is not None, f"a call without {CALL_HEADER}"
        with self._lock:
            self._held[name] = _Held(until=self._seconds + seconds, let_go=let_go)
        await free

    def waits(self, until: float) -> None:
        """This thread waits for that moment, or for its connections; where all do, time jumps."""
        with self._lock:
            me = threading.get_ident()
            if me in self._threads:
                self._threads[me] = until
            self._jump()

    def works(self) -> None:
        """This thread waits no more."""
        with self._lock:
            if (me := threading.get_ident()) in self._threads:
                self._threads[me] = None

    def _jump(self) -> None:
        wakes = [wake for wake in self._threads.values() if wake is not None]
        if self._jobs or len(wakes) < len(self._threads) or not self._calls <= self._held.keys():
            return
        due = min((*wakes, *(held.until for held in self._held.values())), default=math.inf)
        if due == math.inf:
            return
        self._seconds = max(self._seconds, due)
        for thread, wake in self._threads.items():
            if wake is not None and wake <= self._seconds:
                self._threads[thread] = None
        for name in [name for name, held in self._held.items() if held.until <= self._seconds]:
            self._held.pop(name).let_go()

    def take_over(self, patch: pytest.MonkeyPatch) -> None:
        """Show this moment to the library, and to the event loops that are made from now on."""
        names = itertools.count(1)

        class Moment(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override] # a plain one
                return outer.now().astimezone(tz or UTC)

        outer = self
        from touchstone.judges.adapters.connections import Connections
        from touchstone.operations.jobs.patience import PatientJudges

        sent = Connections.handle_async_request

        async def handle(connections: Connections, request: Any) -> Any:
            name = str(next(names))
            request.headers[CALL_HEADER] = name
            with self.call(name):
                return await sent(connections, request)

        patch.setattr(Connections, "handle_async_request", handle)
        patch.setattr("touchstone.clock.datetime", Moment)
        patch.setattr("touchstone.clock.time", SimpleNamespace(monotonic=self.monotonic, time=self.timestamp))
        patch.setattr("asyncio.events.new_event_loop", lambda: _Loop(self))
        patch.setattr(PatientJudges, "sleep", staticmethod(asyncio.sleep))  # which waits in this time


class _Selector(selectors.EpollSelector):
    """Looks at connections in real time, and waits in made-up time."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self._time = time

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        until = math.inf if timeout is None else self._time.monotonic() + timeout
        while not events and self._time.monotonic() < until:
            self._time.waits(until)
            events = super().select(LOOK_SECONDS)
            self._time.works()
        return events


class _Loop(asyncio.SelectorEventLoop):
    """An event loop in made-up time. What it hands to threads of its own is work."""

    def __init__(self, time: VirtualTime) -> None:
        self._virtual = time
        super().__init__(_Selector(time))

    def time(self) -> float:
        return self._virtual.monotonic()

    def run_in_executor[*Ts, T](
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        self._virtual.job_begun()
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(lambda _: self._virtual.job_ended())
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - asyncio's own
        with self._virtual.job():
            await super().shutdown_default_executor(timeout)
