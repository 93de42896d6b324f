"""Asking one model: from the cache, else within the quota, within the deadline, repeated only where that can help.

    cache ─miss─> load the SDK ─> admission ─> the provider ─> settle ─> cache
                                      ^                          │
                                      └── wait <── retryable ────┘     every call has a permit of its own

Nothing of a prompt or a reply is logged or stands in an error.
"""

import asyncio
import json
import logging
import time
from collections.abc import Coroutine
from dataclasses import replace

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import (
    FailedCall,
    JudgeError,
    LimitError,
    MinuteQuotaError,
    QuotaExceededError,
    StoreError,
    TimedOutError,
)
from touchstone.judges.base import Admission, Answered, Call, Permit, Purpose, Question, Reply, ReplyCache
from touchstone.judges.cost import cost_usd
from touchstone.judges.questions import address_of, highest_cost_usd
from touchstone.judges.registry import Model
from touchstone.judges.retrying import Retries
from touchstone.judges.surroundings import Connection, Surroundings

SETTLE_SECONDS = 0.05
"""What is kept of the deadline to settle a call that used it up: one write to the table takes about 10 ms."""

RECALL_SECONDS = 0.5
"""A cache that takes longer is skipped: looking a reply up must not use up the time to ask for it."""

MAX_ADMISSIONS = 3
"""Permits that expired before they could be used, one after the other; the third means that something stalls."""

POSSIBLY_BILLED = frozenset({"timed_out", "refused", "unreadable"})
"""Failures after which a provider may have counted tokens. Where it tells no number, the highest cost is kept."""

logger = logging.getLogger(__name__)


class ModelJudge:
    """One model of one provider as a `Judge`."""

    def __init__(
        self, model: Model, connection: Connection, surroundings: Surroundings, *, purpose: Purpose = "fresh"
    ) -> None:
        self._model = model
        self._connection = connection
        self._around = surroundings
        self._purpose: Purpose = purpose

    @property
    def provider(self) -> str:
        """The provider's name in the registry."""
        return self._model.provider

    @property
    def model(self) -> str:
        """The model asked for."""
        return self._model.name

    async def ask[T: BaseModel](self, question: Question[T], *, deadline: Deadline) -> Reply[T]:
        """Ask, retrying only what can succeed, all within `deadline`. Raises `JudgeError` or `LimitError`.

        Where a call failed and a limit or the store keeps it from being repeated, the failure is raised: it was paid
        for, and whoever counts failures must not take it for a limit that was met before anything was sent. Only a
        provider's own "too many a minute" gives way to our limit, since it costs nothing and says the same.
        """
        cache = self._around.cache if question.use_cache else None
        key = "" if cache is None else self._key(question)
        if cache is not None and (known := await self._recall(cache, key, question, deadline)) is not None:
            return known
        await self._in_time(self._connection.load(), deadline)
        reply = await self._answer(question, deadline)
        if cache is not None:
            await self._around.finish(_remember(cache, key, reply), within=deadline.remaining)
        return reply

    async def _answer[T: BaseModel](self, question: Question[T], deadline: Deadline) -> Reply[T]:
        retries, failed = Retries(self._around.draw), tuple[FailedCall, ...]()
        before: JudgeError | None = None
        # What a model thinks counts against the limit of its output, so that is where it gets the room for it.
        question = replace(question, max_output_tokens=question.max_output_tokens + self._model.thinking_tokens)
        while True:
            try:
                reply = await self._call(question, deadline, attempt=retries.attempts + 1)
                return replace(reply, failed_calls=failed)
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
                before = before if isinstance(error, MinuteQuotaError) else error
                error.failed_calls = failed = (*failed, *error.failed_calls)
                pause = retries.wait(error, remaining=deadline.remaining)
                logger.info(
                    "%s's %s failed (%s), call %d, %s",
                    self.provider,
                    self.model,
                    error.reason,
                    retries.attempts,
                    "given up" if pause is None else f"next in {pause:.2f} s",
                )
                if pause is None:
                    raise
                if pause > 0.0:
                    await self._around.sleep(pause)

    async def _call[T: BaseModel](self, question: Question[T], deadline: Deadline, *, attempt: int) -> Reply[T]:
        if deadline.passed:
            raise self._too_late(sent=False)
        admission = self._around.admission
        highest = None if admission is None else self._highest_cost(question)
        permit = None if admission is None else await self._in_time(self._admitted(admission, highest), deadline)
        timeout = deadline.remaining
        if permit is not None:
            timeout -= SETTLE_SECONDS
            if timeout <= 0.0:
                await self._around.finish(permit.release(), within=deadline.remaining)
                raise self._too_late(sent=False)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(timeout):
                answered = await self._connection.adapter.ask(self.model, question, timeout=timeout)
        except JudgeError as error:
            latency_ms = (time.perf_counter() - started) * 1000.0
            failed = self._paid(question, error, latency_ms)
            error.failed_calls = () if failed is None else (failed,)
            await self._failed(permit, error, self._known_cost(error, failed, highest), deadline)
            raise
        except TimeoutError:
            late = self._too_late(sent=True)
            await self._failed(permit, late, highest, deadline)
            raise late from None
        except BaseException:  # cancelled, or a fault in the adapter: the call may have been sent, so it stays spent
            if permit is not None:
                self._around.finish_later(permit.settle(cost_usd=highest, error=self._too_late(sent=True)))
            raise
        latency_ms = (time.perf_counter() - started) * 1000.0
        cost = cost_usd(self._model, answered.usage, on=self._around.clock().date())
        if permit is not None:
            await self._around.finish(permit.settle(cost_usd=cost), within=deadline.remaining)
        return self._reply(question, answered, cost, latency_ms, attempt)

    def _reply[T: BaseModel](
        self, question: Question[T], answered: Answered[T], cost: float | None, latency_ms: float, attempt: int
    ) -> Reply[T]:
        return Reply(
            value=answered.value,
            provider=self.provider,
            model=answered.model,
            requested_model=self.model,
            prompt_version=question.prompt.version,
            usage=answered.usage,
            cost_usd=cost,
            latency_ms=latency_ms,
            attempts=attempt,
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
                    provider=self.provider,
                    model=self.model,
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

    def _paid(self, question: Question[BaseModel], error: JudgeError, latency_ms: float) -> FailedCall | None:
        """What is known of a failed call that is paid for; None where the provider told nothing."""
        if error.usage is None:
            return None
        return FailedCall(
            reason=error.reason,
            provider=self.provider,
            model=error.model or self.model,
            prompt_version=question.prompt.version,
            usage=error.usage,
            cost_usd=cost_usd(self._model, error.usage, on=self._around.clock().date()),
            latency_ms=latency_ms,
        )

    def _known_cost(self, error: JudgeError, failed: FailedCall | None, highest: float | None) -> float | None:
        if failed is not None:
            return failed.cost_usd
        return highest if error.reason in POSSIBLY_BILLED else 0.0

    async def _failed(self, permit: Permit | None, error: JudgeError, cost: float | None, deadline: Deadline) -> None:
        if permit is None:
            return
        ending = permit.settle(cost_usd=cost, error=error) if error.sent else permit.release()
        await self._around.finish(ending, within=deadline.remaining)

    def _highest_cost(self, question: Question[BaseModel]) -> float | None:
        return highest_cost_usd(self._model, question, on=self._around.clock().date())

    async def _recall[T: BaseModel](
        self, cache: ReplyCache, key: str, question: Question[T], deadline: Deadline
    ) -> Reply[T] | None:
        try:
            async with asyncio.timeout(min(RECALL_SECONDS, deadline.remaining)):
                stored = await cache.get(key)
            if stored is None:
                return None
            known = json.loads(stored)
            value = question.reply_type.model_validate_json(known["value"])
            model = str(known["model"])
        except (StoreError, TimeoutError, ValueError, LookupError, TypeError) as error:
            logger.warning("The reply cache could not be read: %s", type(error).__name__)
            return None
        return Reply(
            value=value,
            provider=self.provider,
            model=model,
            requested_model=self.model,
            prompt_version=question.prompt.version,
            cost_usd=0.0,
            attempts=0,
            cached=True,
        )

    def _key(self, question: Question[BaseModel]) -> str:
        return address_of(question, asked=(self.provider, self._connection.endpoint, self.model))

    def _too_late(self, *, sent: bool) -> TimedOutError:
        return TimedOutError(f"{self.provider}'s {self.model} gave no whole reply within the deadline.", sent=sent)


async def _remember(cache: ReplyCache, key: str, reply: Reply[BaseModel]) -> None:
    value = reply.value.model_dump_json(by_alias=True, round_trip=True)
    await cache.put(key, json.dumps({"model": reply.model, "value": value}))
