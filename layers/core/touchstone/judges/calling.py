"""Calls to one model: each within the quota and the deadline, repeated only where that can help, accounted for.

    load the SDK ─> admission ─> the provider ─> settle
                       ^             │
                       └─── wait <───┘ retryable     every call has a permit of its own

The connection of a provider, and the quota, cache and clock around it, are shared by all judges that call it. Nothing
of a prompt or a reply is logged or stands in an error.
"""

import asyncio
import logging
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
)
from touchstone.judges import tracing
from touchstone.judges.adapters import Adapter
from touchstone.judges.base import Admission, Answered, Call, Permit, Purpose, Reply, ReplyCache
from touchstone.judges.questions import cost_usd
from touchstone.judges.registry import Model
from touchstone.judges.retrying import Retries
from touchstone.usage import Usage

SETTLE_SECONDS = 0.05
"""What is kept of the deadline to settle a call that used it up: one write to the table takes about 10 ms."""

MAX_ADMISSIONS = 3
"""Permits that expired before they could be used, one after the other; the third means that something stalls."""

POSSIBLY_BILLED = frozenset({"timed_out", "refused", "unreadable"})
"""Failures after which a provider may have counted tokens. Where it tells no number, the highest cost is kept."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ProviderConnection:
    """One provider's adapter, shared by all judges of that provider. `endpoint` is its base URL, "" the SDK's own.

    `secret` is the key it was made with; None where it wants none.
    """

    adapter: Adapter
    account: str
    endpoint: str = ""
    secret: str | None = field(default=None, repr=False)
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
    """What all judges of one `Judges` share.

    `secrets` are the keys of all providers, which no trace may show. `unfinished` are permits being settled after their
    question has ended.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrder[T: BaseModel]:
    """One thing to be had of a model, by as many calls as it takes.

    `send` makes one call within so many seconds. `most` is what one can use at most. `seconds` is how long all calls
    have together, None: until the deadline.
    """

    send: Callable[[float], Awaitable[Answered[T]]]
    prompt_version: str
    most: Usage
    seconds: float | None = None


class Caller:
    """Who calls one model of one provider."""

    def __init__(
        self, model: Model, connection: ProviderConnection, surroundings: Surroundings, *, purpose: Purpose = "fresh"
    ) -> None:
        self._model = model
        self._connection = connection
        self._around = surroundings
        self._purpose: Purpose = purpose

    async def answered[T: BaseModel](self, order: CallOrder[T], deadline: Deadline) -> Reply[T]:
        """Call, retrying only what can succeed, all within `deadline`. Raises `JudgeError` or `LimitError`.

        Where a call failed and a limit or the store keeps it from being repeated, the failure is raised: it was paid
        for, and whoever counts failures must not take it for a limit that was met before anything was sent. Only a
        provider's own "too many a minute" gives way to our limit, since it costs nothing and says the same. Where no
        time was left to repeat it, the failure is raised too: that nothing more was sent is not why there is no reply.
        """
        if not self._connection.loaded:
            await self._in_time(self._connection.load(), deadline)
        if order.seconds is not None:
            deadline = deadline.within(order.seconds)
        retries, failed = Retries(self._around.draw), tuple[FailedCall, ...]()
        before: JudgeError | None = None
        last: JudgeError | None = None
        while True:
            try:
                reply = await self._call(order, deadline, attempt=retries.attempts + 1)
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
                tracing.repeated(pause)
                if pause > 0.0:
                    await self._around.sleep(pause)

    def _log(self, error: JudgeError, attempts: int, pause: float | None) -> None:
        logger.info(
            "%s's %s failed (%s), call %d, %s",
            self._model.provider,
            self._model.name,
            error.reason,
            attempts,
            "given up" if pause is None else f"next in {pause:.2f} s",
        )

    async def _call[T: BaseModel](self, order: CallOrder[T], deadline: Deadline, *, attempt: int) -> Reply[T]:
        if deadline.passed:
            raise self._too_late(sent=False)
        admission = self._around.admission
        highest = self._cost(order.most)
        permit = None if admission is None else await self._in_time(self._admitted(admission, highest), deadline)
        timeout = deadline.remaining
        if permit is not None:
            timeout -= SETTLE_SECONDS
            if timeout <= 0.0:
                await self._around.finish(permit.release(), within=deadline.remaining)
                raise self._too_late(sent=False)
        started = time.perf_counter()
        tracing.sent()
        try:
            async with asyncio.timeout(timeout):
                answered = await order.send(timeout)
        except JudgeError as error:
            tracing.ended(error)
            latency_ms = (time.perf_counter() - started) * 1000.0
            failed = self._paid(order, error, latency_ms)
            error.failed_calls = () if failed is None else (failed,)
            await self._failed(permit, error, _known_cost(error, failed, highest), deadline)
            raise
        except TimeoutError:
            late = self._too_late(sent=True)
            tracing.ended(late)
            await self._failed(permit, late, highest, deadline)
            raise late from None
        except BaseException:  # cancelled, or a fault in the adapter: the call may have been sent, so it stays spent
            if permit is not None:
                self._around.finish_later(permit.settle(cost_usd=highest, error=self._too_late(sent=True)))
            raise
        tracing.ended()
        latency_ms = (time.perf_counter() - started) * 1000.0
        usage = answered.usage.within(order.most)
        cost = self._cost(usage)
        if permit is not None:
            await self._around.finish(permit.settle(cost_usd=cost), within=deadline.remaining)
        return Reply(
            value=answered.value,
            provider=self._model.provider,
            model=answered.model,
            requested_model=self._model.name,
            prompt_version=order.prompt_version,
            usage=usage,
            cost_usd=cost,
            latency_ms=latency_ms,
            attempts=attempt,
            line_id=answered.line_id,
        )

    async def _in_time[R](self, before: Coroutine[object, object, R], deadline: Deadline) -> R:
        """What comes before a call, within the deadline."""
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
                    tenant=self._around.tenant,
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
        """What a call that used this costs; None where its price is not known, or the provider told no usage."""
        return cost_usd(self._model, usage, on=self._around.clock().date()) if usage.known else None

    def _paid(self, order: CallOrder[Any], error: JudgeError, latency_ms: float) -> FailedCall | None:
        """What is known of a failed call that is paid for; None where the provider told nothing."""
        if error.usage is None:
            return None
        usage = error.usage = error.usage.within(order.most)
        return FailedCall(
            reason=error.reason,
            provider=self._model.provider,
            model=error.model or self._model.name,
            prompt_version=order.prompt_version,
            usage=usage,
            cost_usd=self._cost(usage),
            latency_ms=latency_ms,
            line_id=error.line_id,
        )

    async def _failed(self, permit: Permit | None, error: JudgeError, cost: float | None, deadline: Deadline) -> None:
        if permit is None:
            return
        ending = permit.settle(cost_usd=cost, error=error) if error.sent else permit.release()
        await self._around.finish(ending, within=deadline.remaining)

    def _too_late(self, *, sent: bool) -> TimedOutError:
        sentence = f"{self._model.provider}'s {self._model.name} gave no whole reply within the deadline."
        return TimedOutError(sentence, sent=sent)


def _known_cost(error: JudgeError, failed: FailedCall | None, highest: float | None) -> float | None:
    if failed is not None:
        return failed.cost_usd
    return highest if error.reason in POSSIBLY_BILLED else 0.0
