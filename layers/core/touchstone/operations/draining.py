"""The drain: deferred evaluations worked off oldest first, as fast as the budget admits, by one drain at a time.

Where one is too slow, several go side by side, each with its share of the records by their ids. The order comes from
the table; the queue only carries messages, and one is deleted when its record is over. A drain that dies leaves its
lease to run out and its claims to be taken again; nothing else is in its hands.
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
from touchstone.operations.context import AnswerContext
from touchstone.operations.evaluating import Claimed, Judged, TryOutcome, claim, judged, store
from touchstone.records import DeferredQueue, Evaluations, Lease, Leases, PendingEvaluation
from touchstone.references import Reference

DRAIN_LEASE = "drain"
LEASE_SECONDS = 300.0
"""Longer than one round of judging takes; prolonged before each round."""
ROUND = 20
"""Judged side by side at most, and no more than the minute has units for; a drain that dies loses so many replies."""
ROUND_SECONDS = 120.0
"""Time a round may take; with less left of the function's own, the rest is left to the next step."""
WINDOW = 250
"""Requests read of the backlog at once: a day's quota of a free tier, in one query of 40 KB."""
MAX_READS = 1_000
"""Windows read in one step, some seconds' work: a quarter of a million requests of tenants that may not go on."""
MAX_MESSAGES_LOOKED_AT = 200
"""Messages looked at after a round, so that cleaning up stays cheap."""
PAUSE = timedelta(seconds=60)
"""Before going on where nothing says until when."""
SOON = timedelta(minutes=10)
"""What comes as soon as that is waited for, a minute's quota and a provider's pause included; the rest is left to the
schedule of every hour."""
SLOW = "timed_out"
"""The reason of a try that no judge answered in time: of a record that is too long for it, or of all."""
INDEX_DELAY = timedelta(seconds=5)
"""By then the index shows what somebody lined up and left word of."""

type DrainState = Literal["continue", "empty", "exhausted", "busy"]

OVER = frozenset({"done", "failed"})
"""States of an evaluation that is not to be tried again."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What a step of the drain did. `until`: when to go on (UTC). `outcomes` are of the records it came to."""

    state: DrainState
    until: datetime | None = None
    outcomes: tuple[TryOutcome, ...] = ()

    @property
    def finished(self) -> int:
        """How many records are over, by this step or by another's doing."""
        return sum(outcome.state in OVER for outcome in self.outcomes)

    @property
    def put_back(self) -> int:
        """How many records stay in the backlog."""
        return sum(outcome.state == "deferred" for outcome in self.outcomes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """Works off the backlog of all tenants. `free` tells how many units the budget has now (None: no limit known).

    It is the drain `shard` of so many `shards`, and leaves the records of others to them.
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
        """Evaluate until the backlog, the budget or the time ends. A second drain meanwhile is told `busy`."""
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
                return self._going_on(drained, lease, until=drained.until or self.clock())
            case "empty":
                if self.leases.release_unless_asked(lease):
                    return drained
                # Whoever lined something up while the lease was held left it to this drain.
                return self._going_on(drained, lease, until=self.clock() + INDEX_DELAY)
            case _:
                self.leases.release(lease)
                return drained

    def _going_on(self, drained: Drained, lease: Lease, *, until: datetime) -> Drained:
        """Keep the lease through the pause, so that of all that are started meanwhile none waits beside this one."""
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
            except ConflictError:  # it ran out, and another drain holds it now
                return Drained(state="busy", outcomes=tuple(done))
            free = self.free()
            due = line.next(ROUND if free is None else min(ROUND, max(1, free)))
            if not due:
                again = line.again_at
                soon = again is not None and again - self.clock() <= SOON
                return Drained(
                    state="continue" if soon else "empty", until=again if soon else None, outcomes=tuple(done)
                )
            # The first that is judged goes alone: where a model is gone or a quota cut, one call finds out. After one
            # that no judge answered in time the next does: either it was that record, or the provider answers nobody.
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
        """Claim in order, judge side by side, store in order: results are as old as their requests.

        The outcomes are in the order of `due`, as far as it was taken: up to the first claim where it is to be judged
        `alone`; what is left comes with them. A fault is raised when everything that was claimed before it is judged
        and all the rest is stored: each reply is paid for.
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
        taken = list(zip(claims, contexts, strict=False))  # fewer than contexts where not all were claimed
        results = await asyncio.gather(
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
        """Whether a refusal says that nothing more can be asked for now, and until when."""
        refused = [outcome for outcome in outcomes if outcome.state == "deferred" and outcome.scope == "everyone"]
        if any(outcome.state == "done" for outcome in outcomes):  # who answered others was slow for a record of its own
            refused = [outcome for outcome in refused if outcome.reason != SLOW]
        if not refused:
            return None
        soonest = min(outcome.until or self.clock() + PAUSE for outcome in refused)
        if soonest - self.clock() <= SOON:
            return "continue", max(soonest, self.clock())
        return "exhausted", soonest

    def _clean_up(self) -> None:
        """Delete the messages whose records are over; they are in order, so the first that is not ends the search.

        Of several drains the first one does.
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
    """The name of the lease that one of several drains holds."""
    return DRAIN_LEASE if shard == 0 else f"{DRAIN_LEASE}-{shard}"


@dataclass(slots=True)
class _Line:
    """The deferred requests as one drain takes them: oldest first, each once, without tenants that may not go on.

    The backlog is read a window at a time, each behind the one before; what joins it further ahead meanwhile, or is put
    back, is the next step's. A tenant whose ceiling or share is spent costs one try: the rest of its requests are
    passed over without a look at them.
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
    """When the first of the tenants that may not go on, or of the records that pause, may do so (UTC); None where none
    said."""

    def next(self, limit: int) -> list[PendingEvaluation]:
        """Up to `limit` requests; none at the end of the backlog, or after `MAX_READS` windows of it."""
        due: list[PendingEvaluation] = []
        while len(due) < limit and (self._window or self._read_on()):
            pending = self._window.popleft()
            mine = self.shards == 1 or zlib.crc32(pending.answer_id.encode()) % self.shards == self.shard
            if mine and pending.tenant not in self._spent:
                due.append(pending)
        return due

    def give_back(self, left: Sequence[PendingEvaluation]) -> None:
        """Take back requests that were not come to; they are the next."""
        self._window.extendleft(reversed(left))

    def note(self, due: Sequence[PendingEvaluation], outcomes: Sequence[TryOutcome]) -> None:
        """Take down which tenants may not go on, and which records were passed over in the pause after a try."""
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
            # The one that the last window ended with comes again where it is still deferred.
            self._window.extend(pending for pending in found if pending.request_id != self._behind)
            self._behind = found[-1].request_id if found else self._behind
            self._reads += 1
            self._ended = len(found) < WINDOW or self._reads >= MAX_READS
        return bool(self._window)


def _claimed(pending: PendingEvaluation, context: AnswerContext) -> Claimed | TryOutcome:
    """Claim a request; one without a record that can be read is passed over, and stays in the backlog."""
    try:
        return claim(context, pending.answer_id, purpose="backlog")
    except (NotFoundError, ConflictError, ValidationError) as error:
        # The type only: a validation quotes the record.
        logger.error("The record %s cannot be claimed: %s", pending.answer_id, type(error).__name__)  # noqa: TRY400
        return TryOutcome(state="deferred", request_id=pending.request_id, reason="unreadable", scope="record")


async def _result(claimed: Claimed | TryOutcome, context: AnswerContext) -> Judged | None:
    """What the judge says of a record that is ours; None for one that is not."""
    return None if isinstance(claimed, TryOutcome) else await judged(claimed, context)
