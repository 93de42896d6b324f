"""The drain: deferred evaluations worked off oldest first, as fast as the budget admits, by one drain at a time.

The order comes from the table; the queue only carries messages, and one is deleted when its record is over. A drain
that dies leaves its lease to run out and its claims to be taken again; nothing else is in its hands.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import NotFoundError
from touchstone.operations.desk import Desk
from touchstone.operations.evaluating import Claimed, Outcome, claim, judged, store
from touchstone.records import DeferredQueue, Evaluations, Lease, Leases, PendingEvaluation

LEASE = "drain"
LEASE_SECONDS = 300.0
"""Longer than one round of judging takes; prolonged before each round."""
ROUND = 5
"""Judged side by side. A round of today's slowest judges takes a minute and a half; five of them exceed a free tier's
rate of 10 a minute only where answers come fast, and then the budget holds them back."""
ROUND_SECONDS = 120.0
"""Time a round may take; with less left of the function's own, the rest is left to the next step."""
MAX_MESSAGES_LOOKED_AT = 200
"""Messages looked at after a round, so that cleaning up stays cheap."""
PAUSE = timedelta(seconds=60)
"""Before going on where nothing says until when: a minute's quota is free again by then."""

type DrainState = Literal["continue", "empty", "exhausted", "busy"]

OWN_TENANT_REASONS = frozenset({"spending_ceiling"})
"""Reasons that hold for one tenant only, so that the drain goes on with the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What a step of the drain did. `until`: when to go on (UTC); `finished` and `put_back` count records."""

    state: DrainState
    until: datetime | None = None
    finished: int = 0
    put_back: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """Works off the backlog of all tenants. `free` tells how many units the budget has now (None: no limit known)."""

    evaluations: Evaluations
    leases: Leases
    queue: DeferredQueue
    desk: Callable[[str], Desk]
    free: Callable[[], int | None]
    clock: Clock = system_clock

    async def run(self, *, owner: str, deadline: Deadline) -> Drained:
        """Evaluate until the backlog, the budget or the time ends. A second drain meanwhile is told `busy`."""
        lease = self.leases.acquire(LEASE, owner=owner, seconds=LEASE_SECONDS)
        if lease is None:
            return Drained(state="busy")
        try:
            return await self._rounds(lease, deadline)
        finally:
            self.leases.release(lease)

    async def _rounds(self, lease: Lease, deadline: Deadline) -> Drained:
        finished = put_back = 0
        passed_over: set[str] = set()
        while deadline.remaining > ROUND_SECONDS:
            self.leases.renew(lease, seconds=LEASE_SECONDS)
            # The first of a drain goes alone: where a model is gone or a quota cut, one call finds out.
            width = 1 if finished + put_back == 0 else ROUND
            free = self.free()
            room = width if free is None else min(width, max(1, free))
            waiting = self.evaluations.oldest_deferred(limit=room + len(passed_over))
            due = [pending for pending in waiting if pending.request_id not in passed_over][:room]
            if not due:
                return Drained(state="empty", finished=finished, put_back=put_back)
            outcomes = await self._round(due)
            self._clean_up()
            finished += sum(outcome.state in {"done", "failed"} for outcome in outcomes)
            put_back += sum(outcome.state == "deferred" for outcome in outcomes)
            passed_over |= {outcome.request_id for outcome in outcomes if outcome.state not in {"done", "failed"}}
            stopped = self._stopped(outcomes)
            if stopped is not None:
                return Drained(state=stopped[0], until=stopped[1], finished=finished, put_back=put_back)
        return Drained(state="continue", until=self.clock(), finished=finished, put_back=put_back)

    async def _round(self, due: Sequence[PendingEvaluation]) -> list[Outcome]:
        """Claim in order, judge side by side, store in order: results are as old as their requests."""
        outcomes: list[Outcome] = []
        ours: list[tuple[Desk, Claimed]] = []
        for pending in due:
            desk = self.desk(pending.tenant)
            claimed = claim(desk, pending.answer_id, purpose="backlog")
            if isinstance(claimed, Outcome):
                outcomes.append(claimed)
            else:
                ours.append((desk, claimed))
        results = await asyncio.gather(*(judged(claimed, desk) for desk, claimed in ours))
        outcomes += [
            store(claimed, result, desk, carrier="drain") for (desk, claimed), result in zip(ours, results, strict=True)
        ]
        return outcomes

    def _stopped(self, outcomes: Sequence[Outcome]) -> tuple[DrainState, datetime | None] | None:
        """Whether a refusal says that nothing more can be asked for now, and until when."""
        refused = [
            outcome for outcome in outcomes if outcome.state == "deferred" and outcome.reason not in OWN_TENANT_REASONS
        ]
        if not refused:
            return None
        soonest = min(outcome.until or self.clock() + PAUSE for outcome in refused)
        if soonest - self.clock() <= PAUSE:
            return "continue", max(soonest, self.clock())
        return "exhausted", soonest

    def _clean_up(self) -> None:
        """Delete the messages whose records are over; they are in order, so the first that is not ends the search."""
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
            record = self.desk(tenant).answers.get(tenant=tenant, answer_id=answer_id)
        except NotFoundError:
            return True
        return record.evaluation.state in {"done", "failed"}
