"""A judge whose replies are kept and whose cost is counted. It wraps any other judge."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from pydantic import BaseModel

from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    LimitError,
    QuotaExceededError,
    SpendingCeilingError,
    StoreError,
    UnavailableModelError,
)
from touchstone.judges.base import Around, Judge, JudgeQuestion, Reply
from touchstone.judges.caller import POSSIBLY_BILLED, UNREADABLE_ATTEMPTS
from touchstone.judges.questions import address_of, highest_cost_usd
from touchstone.judges.registry import Model
from touchstone.judges.spends import Spend, count_unpriced, spends_of, spends_of_failure
from touchstone.surfaces.experiments.conclusion import Stopped
from touchstone.surfaces.experiments.journal import ExperimentJournal


@dataclass(slots=True)
class Ledger:
    """What an experiment has cost, and what it may cost (US dollars; None: no limit).

    `spent` is the sum of the known prices. A call that may have been billed and told no usage counts with its highest
    price. `stopped` is why nothing more is asked in this run, and `unavailable` is the error of a model that answers
    nobody; both are None while questions are asked. `lost`: a reply could not be stored, so that no other is paid for.
    """

    limit: float | None = None
    spent: float = 0.0
    stopped: Stopped | None = None
    unavailable: UnavailableModelError | None = None
    lost: bool = False
    _held: float = 0.0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def hold(self, highest: float) -> AsyncIterator[None]:
        """Reserve the highest price of a question while it is asked.

        If the limit could be passed, this waits for calls under way, which may turn out cheaper. Raises
        `SpendingCeilingError` if the limit could be passed even so, and `LimitError` if nothing more is asked for
        another reason.
        """
        async with self._changed:
            await self._changed.wait_for(
                lambda: self.ended or not self._fits(highest) or self._fits(self._held + highest)
            )
            if self.ended:
                raise LimitError("Nothing more is asked in this run.", until=None)
            if not self._fits(highest):
                self.stopped = "max_cost"
                self._changed.notify_all()
                raise SpendingCeilingError(
                    f"The next call could cost more than what is left of {self.limit:.2f} USD.", until=None
                )
            self._held += highest
        try:
            yield
        finally:
            async with self._changed:
                self._held -= highest
                self._changed.notify_all()

    @property
    def ended(self) -> bool:
        """Whether nothing more is asked in this run."""
        return self.stopped is not None or self.unavailable is not None or self.lost

    def learn(self, error: JudgeError | LimitError) -> None:
        """Stop the run if a failure tells that every other question of today would fail too."""
        match error:
            case UnavailableModelError():
                self.unavailable = error
            case DayQuotaError() | QuotaExceededError(window="day"):
                self.stopped = self.stopped or "day_quota"
            case _:
                pass

    def _fits(self, cost: float) -> bool:
        return self.limit is None or self.spent + cost <= self.limit


@dataclass(slots=True)
class Records:
    """Where replies and costs are kept: in the journal of a folder, or in the memory of this run."""

    ledger: Ledger
    journal: ExperimentJournal | None = None
    clock: Clock = system_clock
    paid: list[Spend] = field(default_factory=list)
    _replies: dict[str, str] = field(default_factory=dict)
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def turn(self, key: str) -> asyncio.Lock:
        """The lock of a question.

        If a question is asked twice at a time, the second caller waits for the reply and pays nothing.
        """
        lock = self._turns.get(key) or asyncio.Lock()
        return self._turns.setdefault(key, lock)

    async def known(self, key: str) -> str | None:
        """An earlier reply to the question; None if there is none."""
        return self._replies.get(key) if self.journal is None else await self.journal.get(key)

    async def keep(
        self, spends: tuple[Spend, ...], *, reply: tuple[str, str] | None = None, untold: float = 0.0
    ) -> None:
        """Keep the calls that were paid for, and the reply that they brought, behind its key; None: they brought none.

        `untold` is the highest price of calls that may have been billed and told no usage.
        """
        self.ledger.spent += untold + sum(spend.cost_usd or 0.0 for spend in spends)
        self.paid.extend(spends)
        key, reply_json = reply or (None, None)
        if self.journal is not None:
            try:
                await self.journal.record(key=key, reply_json=reply_json, spends=spends, untold=untold)
            except StoreError:
                self.ledger.lost = True
                raise
        elif key is not None and reply_json is not None:
            self._replies[key] = reply_json

    def note_cut_off(self, highest: float) -> None:
        """Keep the highest price of a call that was cut off.

        It does not wait for the disk, as nobody waits for the call.
        """
        self.ledger.spent += highest
        if self.journal is not None and highest:
            with suppress(StoreError):  # the caller must learn that it was cut off, and not this
                self.journal.note(untold=highest)


class RecordedJudge(Around[Judge]):
    """A judge that answers from the records of the experiment if it can, else asks within the limit of cost."""

    def __init__(self, judge: Judge, records: Records, *, model: Model | None = None) -> None:
        """`model` is the judge's entry in the registry, for its highest price; None if that is not known."""
        self.inner = judge
        self._records = records
        self._model = model

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:
        """Answer from an earlier reply, or ask. Raises `JudgeError` or `LimitError`."""
        key = address_of(question, recipient=(self.provider, self.model))
        async with self._records.turn(key):
            if (known := await self._recall(key, question)) is not None:
                return known
            highest = self._highest(question)
            async with self._records.ledger.hold(UNREADABLE_ATTEMPTS * highest):  # each unreadable reply is paid for
                return await self._ask(key, question, deadline, highest)

    async def _ask[T: BaseModel](
        self, key: str, question: JudgeQuestion[T], deadline: Deadline, highest: float
    ) -> Reply[T]:
        try:
            reply = await self.inner.ask(question, deadline=deadline)
        except (JudgeError, LimitError) as error:
            spends = spends_of_failure(error, question.prompt.name)
            untold = (
                isinstance(error, JudgeError) and error.sent and error.reason in POSSIBLY_BILLED and error.usage is None
            )
            self._records.ledger.learn(error)
            await self._records.keep(spends, untold=highest if untold else 0.0)
            raise
        except asyncio.CancelledError:  # the question may have been sent, as when the deadline passes
            self._records.note_cut_off(highest)
            raise
        kept = {
            "provider": reply.provider,
            "model": reply.model,
            "value": reply.value.model_dump_json(by_alias=True, round_trip=True),
            "borrowed": reply.cached,
        }
        spends = spends_of(reply, question.prompt.name)
        await self._records.keep(spends, reply=(key, json.dumps(kept)), untold=count_unpriced(spends) * highest)
        return reply

    async def _recall[T: BaseModel](self, key: str, question: JudgeQuestion[T]) -> Reply[T] | None:
        stored = await self._records.known(key)
        if stored is None:
            return None
        try:
            known = json.loads(stored)
            # A reply of no use that this experiment paid for is an end; one that it found in the cache is none.
            if question.renewed and known.get("borrowed"):
                return None
            return Reply(
                value=question.reply_type.model_validate_json(known["value"]),
                provider=str(known["provider"]),
                model=str(known["model"]),
                requested_model=self.model,
                prompt_version=question.prompt.version,
                cost_usd=0.0,
                attempts=0,
                cached=True,
            )
        except (ValueError, LookupError, TypeError, AttributeError):
            return None

    def _highest(self, question: JudgeQuestion[BaseModel]) -> float:
        if self._model is None:
            return 0.0
        room = question.max_output_tokens + self._model.thinking_tokens
        whole = replace(question, max_output_tokens=room)
        return highest_cost_usd(self._model, whole, on=self._records.clock().date()) or 0.0
