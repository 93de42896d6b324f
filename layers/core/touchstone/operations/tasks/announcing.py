"""Events of tasks on their way to the bus: each is sent by whoever claims it first."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from touchstone.errors import StoreError
from touchstone.records import Outbox, OutboxEvent
from touchstone.records.outbox import EventBus

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcer:
    """Sends what steps wrote into the outbox. What it cannot send stays there, for the sweep of every quarter hour."""

    outbox: Outbox
    bus: Callable[[], EventBus]

    def of_task(self, *, tenant: str, task_id: str) -> int:
        """Send the events of one task that are not sent; how many were. A step calls it when it is stored."""
        try:
            return self._send(self.outbox.of_task(tenant=tenant, task_id=task_id))
        except StoreError:
            logger.error("The events of task %s could not be read", task_id)  # noqa: TRY400 - the words add nothing
            return 0

    def pending(self, *, limit: int) -> int:
        """Send up to `limit` events, of all tenants, that nobody sent; how many were."""
        return self._send(self.outbox.pending(limit=limit))

    def _send(self, events: Iterable[OutboxEvent]) -> int:
        sent = 0
        for event in events:
            try:
                if event.sent_at is None and self.outbox.claim(event):
                    self.bus().send(event)
                    self.outbox.sent(event)
                    sent += 1
            except StoreError:
                # The claim runs out in a minute, and the next sweep sends it.
                logger.error("Event %s of task %s could not be sent", event.id, event.event.task_id)  # noqa: TRY400
        return sent
