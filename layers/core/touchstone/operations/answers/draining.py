"""The drain: it works off deferred evaluations, oldest first, as fast as the budget admits; one drain at a time.

If one drain is too slow, several run side by side, each with its share of the records by their ids. The order comes
from the table. The queue only carries messages, and a message is deleted when its record is over. If a drain dies, its
lease runs out and its claims are taken again; it holds nothing else.
"""

import asyncio
import logging
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from pydantic import ValidationError

from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import ConflictError, JudgeError, LimitError, NotFoundError
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.evaluating import Claimed, Judged, TryOutcome, claim, judged, store
from touchstone.records import DeferredQueue, Evaluations, Lease, Leases, PendingEvaluation
from touchstone.references import Reference

DRAIN_LEASE = "drain"
LEASE_SECONDS = 300.0
"""Longer than one round of judging takes. The lease is prolonged before each round."""
ROUND = 20
"""The most records judged side by side, further limited by the units of the minute. A drain that dies loses the replies
of one round."""
ROUND_SECONDS = 120.0
"""The time that a round may take. If less of the function's time is left, the rest is left to the next step."""
WINDOW = 250
"""How many requests of the backlog are read at once: a day's quota of a free tier, in one query of 40 KB."""
MAX_READS = 1_000
"""The most windows read in one step, which takes some seconds: enough to pass over a quarter of a million requests of
tenants that may not continue."""
MAX_MESSAGES_LOOKED_AT = 200
"""How many messages are looked at after a round, so that cleaning up stays cheap."""
PAUSE = timedelta(seconds=60)
"""The pause if nothing says until when to wait."""
SOON = timedelta(minutes=10)
"""A pause up to this long is waited for, such as a minute's quota or a provider's pause. After a longer one, the hourly
schedule continues."""
SLOW = "timed_out"
"""The reason of a try in which no judge answered in time: the record is too long for it, or the provider answers
nobody."""
INDEX_DELAY = timedelta(seconds=5)
"""After this time the index shows an evaluation that was added while another drain held the lease."""

type DrainState = Literal["continue", "empty", "exhausted", "busy"]

OVER = frozenset({"done", "failed"})
"""The states of an evaluation that is not tried again."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The result of a step of the drain. `until` is when to continue (UTC).

    `outcomes` are of the records that it reached.
    """

    state: DrainState
    until: datetime | None = None
    outcomes: tuple[TryOutcome, ...] = ()

    @property
    def finished(self) -> int:
        """How many of the records are over, by this step or otherwise."""
        return sum(outcome.state in OVER for outcome in self.outcomes)

    @property
    def put_back(self) -> int:
        """How many records stay in the backlog."""
        return sum(outcome.state == "deferred" for outcome in self.outcomes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """Works off the backlog of all tenants. `free` gives the units that the budget has now (None: no limit is known).

    This is the drain number `shard` of `shards`; it leaves the records of the others to them.
    """

    evaluations: Evaluations
    leases: Leases
    queue: DeferredQueue
    context: Callable[[str], AnswerContext]
    free: Callable[[], int | None]
    clock: Clock = system_clock
    shard: int = 0
    shards: int = 1

    async def run(self, *, owner: str, deadline: Deadline) -> Drained:
        """Evaluate until the backlog, the budget or the time ends. A second drain at the same time gets `busy`."""
        lease = self.leases.acquire(lease_of(self.shard), owner=owner, seconds=LEASE_SECONDS)
        if lease is None:
            return Drained(state="busy")
        try:
            drained = await self._rounds(lease, deadline)
        except BaseException:
            self.leases.release(lease)
            raise
        match drained.state:
            case "continue":
                return self._pause_with_lease(drained, lease, until=drained.until or self.clock())
            case "empty":
                if self.leases.release_unless_asked(lease):
                    return drained
                # Somebody added evaluations while the lease was held, and left them to this drain.
                return self._pause_with_lease(drained, lease, until=self.clock() + INDEX_DELAY)
            case _:
                self.leases.release(lease)
                return drained

    def _pause_with_lease(self, drained: Drained, lease: Lease, *, until: datetime) -> Drained:
        """Keep the lease through the pause, so that drains started meanwhile end and do not wait beside this one."""
        pause = max(0.0, (until - self.clock()).total_seconds())
        try:
            self.leases.renew(lease, seconds=pause + LEASE_SECONDS)
        except ConflictError:
            return replace(drained, state="busy", until=None)
        return replace(drained, state="continue", until=until)

    async def _rounds(self, lease: Lease, deadline: Deadline) -> Drained:
        done: list[TryOutcome] = []
        line = _Line(self.evaluations, shard=self.shard, shards=self.shards)
        while deadline.remaining > ROUND_SECONDS:
            try:
                self.leases.renew(lease, seconds=LEASE_SECONDS)
            except ConflictError:  # the lease ran out, and another drain holds it now
                return Drained(state="busy", outcomes=tuple(done))
            free = self.free()
            due = line.next(ROUND if free is None else min(ROUND, max(1, free)))
            if not due:
                again = line.again_at
                soon = again is not None and again - self.clock() <= SOON
                return Drained(
                    state="continue" if soon else "empty", until=again if soon else None, outcomes=tuple(done)
                )
            # The first record is judged alone: if a model is gone or a quota was cut, one call finds out. After a
            # record that no judge answered in time, the next one is judged alone too: either that record was too long,
            # or the provider answers nobody.
            tried = [outcome for outcome in done if outcome.tried]
            slow = bool(tried) and tried[-1].reason == SLOW
            outcomes, left = await self._round(due, alone=not tried or slow)
            self._clean_up()
            done += outcomes
            line.note(due, outcomes)
            line.give_back(left)
            stopped = self._stopped(outcomes)
            if stopped is not None and not slow and [one.reason for one in outcomes if one.tried] == [SLOW]:
                continue
            if stopped is not None:
                return Drained(state=stopped[0], until=stopped[1], outcomes=tuple(done))
        return Drained(state="continue", until=self.clock(), outcomes=tuple(done))

    async def _round(
        self, due: Sequence[PendingEvaluation], *, alone: bool
    ) -> tuple[list[TryOutcome], Sequence[PendingEvaluation]]:
        """Claim in order, judge side by side, store in order: older requests get their results first.

        Return the outcomes in the order of `due`, and the requests that were not reached. If `alone`, only one claimed
        record is judged. A fault is raised only after everything claimed before it is judged and all other results are
        stored, because each reply is paid for.
        """
        contexts = [self.context(pending.tenant) for pending in due]
        faults: list[BaseException] = []
        claims: list[Claimed | TryOutcome] = []
        for pending, context in zip(due, contexts, strict=True):
            try:
                claims.append(_claimed(pending, context))
            except Exception as error:  # noqa: BLE001 - raised below
                faults.append(error)
                break
            if alone and isinstance(claims[-1], Claimed):
                break
        taken = list(zip(claims, contexts, strict=False))  # fewer than contexts if not all were claimed
        results = await asyncio.gather(  # noqa: TID251 - each failure is looked at below
            *(_result(claimed, context) for claimed, context in taken), return_exceptions=True
        )
        outcomes: list[TryOutcome] = []
        for (claimed, context), result in zip(taken, results, strict=True):
            if isinstance(claimed, TryOutcome):
                outcomes.append(claimed)
            elif isinstance(result, BaseException) and not isinstance(result, JudgeError | LimitError):
                faults.append(result)
            elif result is not None:
                try:
                    outcomes.append(store(claimed, result, context))
                except Exception as error:  # noqa: BLE001 - raised below
                    faults.append(error)
        if faults:
            raise faults[0]
        return outcomes, due[len(claims) :]

    def _stopped(self, outcomes: Sequence[TryOutcome]) -> tuple[DrainState, datetime | None] | None:
        """The new state, and until when it lasts, if a refusal says that nothing more can be asked now.

        None if none does.
        """
        refused = [outcome for outcome in outcomes if outcome.state == "deferred" and outcome.scope == "everyone"]
        if any(outcome.state == "done" for outcome in outcomes):  # others were answered: it was slow for one record
            refused = [outcome for outcome in refused if outcome.reason != SLOW]
        if not refused:
            return None
        soonest = min(outcome.until or self.clock() + PAUSE for outcome in refused)
        if soonest - self.clock() <= SOON:
            return "continue", max(soonest, self.clock())
        return "exhausted", soonest

    def _clean_up(self) -> None:
        """Delete the messages whose records are over.

        They are in order, so the first record that is not over ends the search. Of several drains, only the first one
        does this.
        """
        if self.shard != 0:
            return
        looked_at = 0
        while looked_at < MAX_MESSAGES_LOOKED_AT:
            messages = self.queue.receive()
            if not messages:
                return
            pending = False
            for message in messages:
                over = message.evaluation is None or self._over(message.evaluation.tenant, message.evaluation.answer_id)
                if over and not pending:
                    self.queue.delete(message)
                else:
                    pending = True
                    self.queue.release(message)
            if pending:
                return
            looked_at += len(messages)

    def _over(self, tenant: str, answer_id: str) -> bool:
        try:
            record = self.context(tenant).answers.get(Reference(tenant, "answer", answer_id))
        except (NotFoundError, ValidationError):  # the table leads to a record, readable or not, without a message
            return True
        return record.evaluation.state in OVER


def lease_of(shard: int) -> str:
    """The name of the lease of one of several drains."""
    return DRAIN_LEASE if shard == 0 else f"{DRAIN_LEASE}-{shard}"


@dataclass(slots=True)
class _Line:
    """The deferred requests as one drain takes them: oldest first, each once, without tenants that may not continue.

    The backlog is read window by window. Requests that join it meanwhile before the present window, or are put back
    there, are left to the next step. A tenant whose ceiling or share is spent costs one try: its other requests are
    passed over without reading their records.
    """

    evaluations: Evaluations
    shard: int = 0
    shards: int = 1
    _window: deque[PendingEvaluation] = field(default_factory=deque)
    _spent: set[str] = field(default_factory=set)
    _behind: str | None = None
    _reads: int = 0
    _ended: bool = False
    again_at: datetime | None = None
    """When the first of the tenants that may not continue, or of the records that pause, may continue (UTC); None if
    none says."""

    def next(self, limit: int) -> list[PendingEvaluation]:
        """The next requests, up to `limit`. Empty at the end of the backlog, or after `MAX_READS` windows."""
        due: list[PendingEvaluation] = []
        while len(due) < limit and (self._window or self._read_on()):
            pending = self._window.popleft()
            mine = self.shards == 1 or zlib.crc32(pending.answer_id.encode()) % self.shards == self.shard
            if mine and pending.tenant not in self._spent:
                due.append(pending)
        return due

    def give_back(self, left: Sequence[PendingEvaluation]) -> None:
        """Put requests that were not reached back in front of the line."""
        self._window.extendleft(reversed(left))

    def note(self, due: Sequence[PendingEvaluation], outcomes: Sequence[TryOutcome]) -> None:
        """Note which tenants may not continue, and which records were passed over because they pause after a try."""
        for pending, outcome in zip(due, outcomes, strict=False):
            if outcome.state != "deferred":
                continue
            if outcome.scope == "tenant":
                self._spent.add(pending.tenant)
            if outcome.scope == "tenant" or not outcome.tried:
                moments = [moment for moment in (self.again_at, outcome.until) if moment is not None]
                self.again_at = min(moments, default=None)

    def _read_on(self) -> bool:
        while not self._window and not self._ended:
            found = self.evaluations.oldest_deferred(limit=WINDOW, behind=self._behind)
            # A window may begin with the last request of the window before, if that request is still deferred.
            self._window.extend(pending for pending in found if pending.request_id != self._behind)
            self._behind = found[-1].request_id if found else self._behind
            self._reads += 1
            self._ended = len(found) < WINDOW or self._reads >= MAX_READS
        return bool(self._window)


def _claimed(pending: PendingEvaluation, context: AnswerContext) -> Claimed | TryOutcome:
    """Claim a request. A request whose record is gone or cannot be read is passed over, and stays in the backlog."""
    try:
        return claim(context, pending.answer_id, purpose="backlog")
    except (NotFoundError, ConflictError, ValidationError) as error:
        # Log the error's type only: the message of a validation error quotes the record.
        logger.error("The record %s cannot be claimed: %s", pending.answer_id, type(error).__name__)  # noqa: TRY400
        return TryOutcome(state="deferred", request_id=pending.request_id, reason="unreadable", scope="record")


async def _result(claimed: Claimed | TryOutcome, context: AnswerContext) -> Judged | None:
    """The judge's result for a claimed record; None for a record that was not claimed."""
    return None if isinstance(claimed, TryOutcome) else await judged(claimed, context)
