"""Deep evaluations requested in bulk: they wait in the backlog, which a drain works off.

If each had a workflow, every slot of the minute would wake them all, and only one would be taken: the work would grow
with the square of their number. In the backlog each is touched once, in the order of arrival. It leaves the share of
the day that is for fresh work to those who wait for an answer.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from touchstone.answers.model import AnswerRecord
from touchstone.errors import StoreError
from touchstone.operations.draining import lease_of
from touchstone.records import DeferredEvaluation, DeferredQueue, Evaluations, Leases, evaluation_request_id
from touchstone.workflows import Workflows


@dataclass(kw_only=True)
class BulkEvaluations:
    """Puts evaluations of any tenant into the line, and starts the drains that work it off.

    `spent` tells whether the quota has nothing left for the backlog today: then no drain is started. `drains` is the
    number of drains that run side by side. `batches` tells whether evaluations go by a provider's batch, which needs no
    quota.
    """

    evaluations: Evaluations
    queue: Callable[[], DeferredQueue]
    leases: Leases
    workflows: Callable[[], Workflows]
    spent: Callable[[], bool]
    batches: Callable[[], bool] = bool
    drains: int = 1
    _enqueued: bool = field(default=False, init=False)

    def add(self, record: AnswerRecord) -> AnswerRecord:
        """Put a waiting evaluation into the line. A repeat changes nothing."""
        queued = self.evaluations.enqueue(tenant=record.tenant, answer_id=record.id, cheap=self.batches())
        if queued.evaluation.state != "deferred":
            return queued
        self._enqueued = True
        if queued.evaluation.when != "cheap":  # it has a list of its own, and for a day nobody takes the message
            with suppress(StoreError):  # the record is in the line; without the message nothing is lost
                self.queue().send(
                    DeferredEvaluation(
                        tenant=record.tenant, answer_id=record.id, request_id=evaluation_request_id(queued)
                    )
                )
        return queued

    def start(self) -> None:
        """Start the drains for evaluations that were added since the last start, if there are any."""
        if self._enqueued:
            self._enqueued = False
            self.wake()

    def wake(self) -> None:
        """Start each drain, unless it is at work and told to look again, or nothing may be asked today.

        A drain that is not started here, also for a fault of the store, is started by the hourly schedule.
        """
        with suppress(StoreError):
            idle = [shard for shard in range(self.drains) if not self.leases.ask(lease_of(shard))]
            if idle and (self.batches() or not self.spent()):
                for shard in idle:
                    self.workflows().drain(shard)
