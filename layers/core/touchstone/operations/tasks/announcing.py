"""Events of tasks on their way to the event bus. The process that claims an event first sends it."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from touchstone.errors import StoreError
from touchstone.records import Outbox, OutboxEvent
from touchstone.records.outbox import EventBus

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcer:
    """Sends the events that steps wrote into the outbox.

    An event that cannot be sent stays there for the sweep of every quarter hour.
    """

    outbox: Outbox
    bus: Callable[[], EventBus]

    def of_task(self, *, tenant: str, task_id: str) -> int:
        """Send the unsent events of one task. Return how many were sent. A step calls this once it is stored."""
        try:
            return self._send(self.outbox.of_task(tenant=tenant, task_id=task_id))
        except StoreError:
            logger.error("The events of task %s could not be read", task_id)  # noqa: TRY400 - the words add nothing
            return 0

    def pending(self, *, limit: int) -> int:
        """Send up to `limit` unsent events of all tenants. Return how many were sent."""
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
                # The claim expires after a minute, and the next sweep sends the event.
                logger.error("Event %s of task %s could not be sent", event.id, event.event.task_id)  # noqa: TRY400
        return sent
