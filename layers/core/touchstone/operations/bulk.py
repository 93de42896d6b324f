"""Deep evaluations asked for in bulk: they take their turn in the backlog, worked off by one drain.

A workflow each would wake them all at every slot of the minute, for one of them to be taken: work that grows with the
square of their number. In the backlog each is touched once, in the order of arrival, and leaves the fresh share of the
day to those who wait for an answer.
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
    """Lines up evaluations of any tenant, and has them worked off.

    `spent` tells whether the quota behind them has nothing left for the backlog today: then no drain is started.
    `drains` go side by side. `batches` tells whether they go by a provider's batch, which touches no quota.
    """

    evaluations: Evaluations
    queue: Callable[[], DeferredQueue]
    leases: Leases
    workflows: Callable[[], Workflows]
    spent: Callable[[], bool]
    batches: Callable[[], bool] = bool
    drains: int = 1
    _lined_up: bool = field(default=False, init=False)

    def add(self, record: AnswerRecord) -> AnswerRecord:
        """Put a waiting evaluation in the line; a repeat changes nothing."""
        lined_up = self.evaluations.line_up(tenant=record.tenant, answer_id=record.id, cheap=self.batches())
        if lined_up.evaluation.state == "deferred":
            self._lined_up = True
            with suppress(StoreError):  # the record is in the line; its message is only a buffer
                self.queue().send(
                    DeferredEvaluation(
                        tenant=record.tenant, answer_id=record.id, request_id=evaluation_request_id(lined_up)
                    )
                )
        return lined_up

    def start(self) -> None:
        """Start the drain for what was lined up here since the last time, if anything was."""
        if self._lined_up:
            self._lined_up = False
            self.wake()

    def wake(self) -> None:
        """Start each drain, unless it is at work and told to look again, or nothing may be asked today.

        What this leaves, a fault of the store included, is taken up by the schedule of every hour.
        """
        with suppress(StoreError):
            idle = [shard for shard in range(self.drains) if not self.leases.ask(lease_of(shard))]
            if idle and (self.batches() or not self.spent()):
                for shard in idle:
                    self.workflows().drain(shard)
