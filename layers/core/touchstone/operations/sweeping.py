"""The sweep: what a crash left behind is taken up again, and the backlog is measured."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from touchstone.clock import Clock, system_clock
from touchstone.records import Backlog, DeferredEvaluation, DeferredQueue, Evaluations
from touchstone.workflows import Workflows

STALLED_AFTER = timedelta(minutes=10)
"""Past its time by so much, a waiting or running record has lost whoever carried it."""
QUEUE_KEEPS = timedelta(days=14)
RESEND_BEFORE = timedelta(days=1)
"""A message is sent again this long before the queue would forget it."""
MOST = 200
"""Records taken up in one sweep; the next one, a quarter of an hour later, takes the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep found: the deferred backlog, the age of its oldest, and how many records were taken up again.

    `oldest_seconds` is 0.0 where nothing is deferred.
    """

    backlog: Backlog
    oldest_seconds: float
    restarted: int
    resent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Looks for deep evaluations that nothing carries any more."""

    evaluations: Evaluations
    queue: DeferredQueue
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> Swept:
        """Restart what stalled, send again what the queue is about to forget, and measure the backlog."""
        restarted, resent, backlog = self._restart(), self._resend(), self.evaluations.backlog()
        oldest = backlog.oldest_requested_at
        age = 0.0 if oldest is None else max(0.0, (self.clock() - oldest).total_seconds())
        return Swept(backlog=backlog, oldest_seconds=age, restarted=restarted, resent=resent)

    def _restart(self) -> int:
        stalled = self.evaluations.stalled(older_than=STALLED_AFTER, limit=MOST)
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"{self.clock():%Y%m%d%H}"
        for pending in stalled:
            self.workflows().evaluate(tenant=pending.tenant, answer_id=pending.answer_id, run=run)
        return len(stalled)

    def _resend(self) -> int:
        ageing = self.evaluations.oldest_deferred(limit=MOST, not_after=self.clock() - (QUEUE_KEEPS - RESEND_BEFORE))
        for pending in ageing:
            self.queue.send(
                DeferredEvaluation(tenant=pending.tenant, answer_id=pending.answer_id, request_id=pending.request_id)
            )
        return len(ageing)
