"""Calls to one model: each within the quota and the deadline, repeated only where that can help, accounted for.

    load the SDK ─> admission ─> the provider ─> settle
                       ^             │
                       └─── wait <───┘ retryable     every call has a permit of its own

The connection of a provider, and the quota, cache and clock around it, are shared by all judges that call it. Nothing
of a prompt or a reply is logged or stands in an error.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from touchstone.clock import Clock, Deadline
from touchstone.errors import (
    FailedCall,
    JudgeError,
    LimitError,
    MinuteQuotaError,
    QuotaExceededError,
    StoreError,
    TimedOutError,
    UnreadableError,
)
from touchstone.judges import tracing
from touchstone.judges.adapters import Adapter
from touchstone.judges.base import Admission, Answered, Call, Permit, Purpose, Reply, ReplyCache
from touchstone.judges.questions import cost_usd
from touchstone.judges.registry import Model
from touchstone.usage import Usage

ATTEMPTS = 3
"""The most calls for one question. With a quota of 10 a minute, three calls are a third of it; a fourth seldom helps.
"""

UNREADABLE_ATTEMPTS = 2
"""The most unreadable replies to one question. A judge that twice gave none that is readable will not give one the
third time, and each reply is paid for."""

BASE_SECONDS = 0.5
"""The first back-off in seconds: a provider's hiccup is about that long, and a verification has five seconds in all."""

CAP_SECONDS = 8.0
"""The longest back-off of our own, in seconds. A provider that needs longer says so."""

LEAST_CALL_SECONDS = 0.2
"""Seconds that the deadline must leave after the wait, or another call makes no sense: no judge answers faster."""


@dataclass(slots=True)
class Retries:
    """When the failed calls of one question are repeated: only where repeating can succeed, and within the deadline.

        day quota, refused, misconfigured   never
        unreadable                          once more, at once
        minute quota, overloaded, timed out up to `ATTEMPTS` calls in all, after the provider's own `retry_after`, else
                                            after an exponential back-off with full jitter

    `draw` returns a number in [0, 1) for the jitter.
    """

    draw: Callable[[], float] = random.random
    attempts: int = 0
    unreadable: int = field(default=0, init=False)

    def wait(self, error: JudgeError, *, remaining: float) -> float | None:
        """How many seconds to wait after a failed call before the next one. None if the call is not to be repeated.

        `remaining` is how many seconds the deadline leaves. Full jitter:
        https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ . The wait exceeds a provider's own
        advice by up to `BASE_SECONDS`, so that callers which were refused together do not come back together.
        """
        self.attempts += 1
        if isinstance(error, UnreadableError):
            self.unreadable += 1
        if not error.retryable or self.attempts >= ATTEMPTS or self.unreadable >= UNREADABLE_ATTEMPTS:
            return None
        pause = self._pause(error)
        return pause if pause + LEAST_CALL_SECONDS <= remaining else None

    def _pause(self, error: JudgeError) -> float:
        if error.retry_after is not None:
            return max(0.0, error.retry_after) + self.draw() * BASE_SECONDS
        if isinstance(error, UnreadableError):
            return 0.0
        return self.draw() * min(CAP_SECONDS, BASE_SECONDS * 2.0 ** (self.attempts - 1))


SETTLE_SECONDS = 0.05
"""Seconds of the deadline that are kept to settle a call which used up the rest. One write to the table takes about 10
ms."""

MAX_ADMISSIONS = 3
"""How many permits in a row may expire before they are used: the third means that something stalls."""

POSSIBLY_BILLED = frozenset({"timed_out", "refused", "unreadable"})
"""Failures after which a provider may have billed tokens. If it tells no number, the call's highest possible cost is
settled."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ProviderConnection:
    """One provider's adapter, shared by all judges of that provider.

    `endpoint` is the adapter's base URL, "" for the SDK's own. `secret` is the key that the adapter was made with; None
    if the provider wants no key.
    """

    adapter: Adapter
    account: str
    endpoint: str = ""
    secret: str | None = field(default=None, repr=False)
    loaded: bool = False
    _loading: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Load the SDK in a thread, since that takes up to a second and a half the first time.

        All callers that wait for the SDK share one thread: the other threads are needed for checks.
        """
        if self.loaded:
            return
        # A task of another event loop (of a thread that was left alone, say) cannot be awaited in this loop.
        if self._loading is None or self._loading.done() or self._loading.get_loop() is not asyncio.get_running_loop():
            self._loading = asyncio.create_task(asyncio.to_thread(self.adapter.load))
            self._loading.add_done_callback(self._ended)
        await asyncio.shield(self._loading)

    def _ended(self, loading: asyncio.Task[None]) -> None:
        self.loaded = not loading.cancelled() and loading.exception() is None


@dataclass(slots=True)
class JudgeContext:
    """What all judges of one `Judges` share.

    `secrets` returns the keys of all providers, which no trace may show. `unfinished` are the tasks that still settle a
    permit or store a reply after their question has ended.
    """

    tenant: str
    clock: Clock
    admission: Admission | None
    cache: ReplyCache | None
    sleep: Callable[[float], Awaitable[None]]
    draw: Callable[[], float]
    secrets: Callable[[], Iterable[str]] = tuple
    unfinished: set[asyncio.Task[None]] = field(default_factory=set)

    async def finish(self, ending: Coroutine[object, object, None], *, within: float) -> None:
        """Run the coroutine that ends a call, but wait no longer than `within` seconds. It goes on after that.

        A failure is logged, not raised: the unit stays reserved, and a reply that was paid for is not thrown away.
        """
        # Started eagerly: an ending that need not wait for a table is done here, without a turn of the event loop.
        task = asyncio.Task(ending, loop=asyncio.get_running_loop(), eager_start=True)
        if task.done():
            self._finished(task)
            return
        self.unfinished.add(task)
        task.add_done_callback(self._finished)
        await asyncio.wait({task}, timeout=within)

    def finish_later(self, ending: Coroutine[object, object, None]) -> None:
        """Run the coroutine that ends a call without waiting for it at all."""
        task = asyncio.create_task(ending)
        self.unfinished.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self.unfinished.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("A judge call could not be settled or kept: %s", type(error).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest[T: BaseModel]:
    """One reply wanted of a model, with as many calls as it takes.

    `send` makes one call within the number of seconds that it is given. `most` is the highest usage of one call.
    `seconds` is how long all calls have together; None means until the deadline.
    """

    send: Callable[[float], Awaitable[Answered[T]]]
    prompt_version: str
    most: Usage
    seconds: float | None = None


class Caller:
    """Makes the calls to one model of one provider."""

    def __init__(
        self, model: Model, connection: ProviderConnection, context: JudgeContext, *, purpose: Purpose = "fresh"
    ) -> None:
        self._model = model
        self._connection = connection
        self._context = context
        self._purpose: Purpose = purpose

    async def call[T: BaseModel](self, request: CallRequest[T], deadline: Deadline) -> Reply[T]:
        """Call, retrying only what can succeed, all within `deadline`. Raises `JudgeError` or `LimitError`.

        If a call failed and a limit or the store keeps it from being repeated, the failure is raised, not the limit:
        the failed call was paid for, and must not be counted as a limit that was met before anything was sent. Only a
        provider's own "too many a minute" gives way to our limit, since it costs nothing and says the same. If no time
        was left to repeat the call, its failure is raised too, not the lack of time: the failure is why there is no
        reply.
        """
        if not self._connection.loaded:
            await self._in_time(self._connection.load(), deadline)
        if request.seconds is not None:
            deadline = deadline.within(request.seconds)
        retries, failed = Retries(self._context.draw), tuple[FailedCall, ...]()
        before: JudgeError | None = None
        last: JudgeError | None = None
        while True:
            try:
                reply = await self._call(request, deadline, attempt=retries.attempts + 1)
                return replace(reply, failed_calls=failed) if failed else reply
            except (LimitError, StoreError) as error:
                if before is not None:
                    before.failed_calls = failed
                    if isinstance(error, QuotaExceededError) and error.window == "minute":
                        before.repeat_at = error.until
                    raise before from error
                if isinstance(error, LimitError):
                    error.failed_calls = failed
                raise
            except JudgeError as error:
                if last is not None and isinstance(error, TimedOutError) and not error.sent:
                    raise last from error
                last, before = error, before if isinstance(error, MinuteQuotaError) else error
                error.failed_calls = failed = (*failed, *error.failed_calls)
                pause = retries.wait(error, remaining=deadline.remaining)
                self._log(error, retries.attempts, pause)
                if pause is None:
                    raise
                tracing.note_repeat(pause)
                if pause > 0.0:
                    await self._context.sleep(pause)

    def _log(self, error: JudgeError, attempts: int, pause: float | None) -> None:
        logger.info(
            "%s's %s failed (%s), call %d, %s",
            self._model.provider,
            self._model.name,
            error.reason,
            attempts,
            "given up" if pause is None else f"next in {pause:.2f} s",
        )

    async def _call[T: BaseModel](self, request: CallRequest[T], deadline: Deadline, *, attempt: int) -> Reply[T]:
        if deadline.passed:
            raise self._too_late(sent=False)
        admission = self._context.admission
        highest = self._cost(request.most)
        permit = None if admission is None else await self._in_time(self._admitted(admission, highest), deadline)
        timeout = deadline.remaining
        if permit is not None:
            timeout -= SETTLE_SECONDS
            if timeout <= 0.0:
                await self._context.finish(permit.release(), within=deadline.remaining)
                raise self._too_late(sent=False)
        started = time.perf_counter()
        tracing.note_sent()
        try:
            async with asyncio.timeout(timeout):
                answered = await request.send(timeout)
        except JudgeError as error:
            tracing.note_end(error)
            latency_ms = (time.perf_counter() - started) * 1000.0
            failed = self._paid(request, error, latency_ms)
            error.failed_calls = () if failed is None else (failed,)
            await self._failed(permit, error, _known_cost(error, failed, highest), deadline)
            raise
        except TimeoutError:
            late = self._too_late(sent=True)
            tracing.note_end(late)
            await self._failed(permit, late, highest, deadline)
            raise late from None
        except BaseException:  # cancelled, or a fault in the adapter: the call may have been sent, so it stays spent
            if permit is not None:
                self._context.finish_later(permit.settle(cost_usd=highest, error=self._too_late(sent=True)))
            raise
        tracing.note_end()
        latency_ms = (time.perf_counter() - started) * 1000.0
        usage = answered.usage.within(request.most)
        cost = self._cost(usage)
        if permit is not None:
            await self._context.finish(permit.settle(cost_usd=cost), within=deadline.remaining)
        return Reply(
            value=answered.value,
            provider=self._model.provider,
            model=answered.model,
            requested_model=self._model.name,
            prompt_version=request.prompt_version,
            usage=usage,
            cost_usd=cost,
            latency_ms=latency_ms,
            attempts=attempt,
            line_id=answered.line_id,
        )

    async def _in_time[R](self, before: Coroutine[object, object, R], deadline: Deadline) -> R:
        """Await a step that comes before the call. Raises `TimedOutError` if the deadline passes first."""
        try:
            async with asyncio.timeout(deadline.remaining):
                return await before
        except TimeoutError:
            raise self._too_late(sent=False) from None

    async def _admitted(self, admission: Admission, highest: float | None) -> Permit:
        for _ in range(MAX_ADMISSIONS):
            permit = await admission.admit(
                Call(
                    provider=self._model.provider,
                    model=self._model.name,
                    account=self._connection.account,
                    tenant=self._context.tenant,
                    purpose=self._purpose,
                    limits=self._model.limits,
                    max_cost_usd=highest,
                )
            )
            if not permit.expired:
                return permit
            await permit.release()
        raise self._too_late(sent=False)

    def _cost(self, usage: Usage) -> float | None:
        """The price of this usage in US dollars.

        None if the model has no known price, or the provider told no usage.
        """
        return cost_usd(self._model, usage, on=self._context.clock().date()) if usage.known else None

    def _paid(self, request: CallRequest[Any], error: JudgeError, latency_ms: float) -> FailedCall | None:
        """The record of a failed call that is paid for. None if the provider told no usage."""
        if error.usage is None:
            return None
        usage = error.usage = error.usage.within(request.most)
        return FailedCall(
            reason=error.reason,
            provider=self._model.provider,
            model=error.model or self._model.name,
            prompt_version=request.prompt_version,
            usage=usage,
            cost_usd=self._cost(usage),
            latency_ms=latency_ms,
            line_id=error.line_id,
        )

    async def _failed(self, permit: Permit | None, error: JudgeError, cost: float | None, deadline: Deadline) -> None:
        if permit is None:
            return
        ending = permit.settle(cost_usd=cost, error=error) if error.sent else permit.release()
        await self._context.finish(ending, within=deadline.remaining)

    def _too_late(self, *, sent: bool) -> TimedOutError:
        sentence = f"{self._model.provider}'s {self._model.name} gave no whole reply within the deadline."
        return TimedOutError(sentence, sent=sent)


def _known_cost(error: JudgeError, failed: FailedCall | None, highest: float | None) -> float | None:
    if failed is not None:
        return failed.cost_usd
    return highest if error.reason in POSSIBLY_BILLED else 0.0
