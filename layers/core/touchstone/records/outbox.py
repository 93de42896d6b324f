"""Events on their way out: each is written with the change that it tells of, and sent to the event bus afterwards.

    written ─ claim ─> being sent ─ sent ─> sent
                 ^          │
                 └ the claim ran out: whoever had it is gone

An event is an item in its task's partition. The transaction that changes the task writes it: there is no event without
the change and no change without the event. Until the event is sent it is in the `deferred` index, sorted by the moment
at which it may be taken (again). Its id follows from its content. So a receiver can recognise an event that comes a
second time, after a crash between the sending and the note that it was sent.
"""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError

from touchstone.errors import NotFoundError, StoreError
from touchstone.oracle.events import TaskEvent
from touchstone.records.keys import OUTBOX, Key, event_key, key_in, key_of, sortable
from touchstone.records.table import Action, Item, OfTable, partition, query, read, update
from touchstone.records.ulids import derived_ulid
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient


CLAIM_SECONDS = 60
"""How long the process that claimed an event has to send it: a call to the bus takes a second, with its retries ten."""
PENDING = "OUTBOX"
"""The partition of the `deferred` index with the events of all tenants that are not sent."""


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEvent:
    """An event and its progress. `sent_at` is None until the event is sent (UTC)."""

    id: str
    event: TaskEvent
    sent_at: datetime | None


class Outbox(OfTable):
    """The events of all tenants. All methods are safe to repeat. Raises `StoreError` if the store fails."""

    def pending(self, *, limit: int = 100) -> tuple[OutboxEvent, ...]:
        """The events of all tenants that nobody has sent or is sending, the longest waiting first.

        They are found by an index, which may be a moment behind. Events that were sent or claimed meanwhile are left
        out.
        """
        now = sortable(self._clock())
        found = query(
            self._table,
            "the events",
            IndexName="deferred",
            KeyConditionExpression="gsi2pk = :pending AND gsi2sk <= :now",
            ExpressionAttributeValues={":pending": PENDING, ":now": f"{now}~"},
            Limit=max(1, limit),
        )
        items = (read(self._table, key_in(item), "the event") for item in found)
        due = (
            _readable(item)
            for item in items
            if item is not None and "sent_at" not in item and str(item["gsi2sk"]) <= f"{now}~"
        )
        return tuple(islice((event for event in due if event is not None), limit))

    def of_task(self, task: Reference) -> tuple[OutboxEvent, ...]:
        """All events of a task, the oldest first, sent or not; strongly consistent."""
        found = partition(self._table, "the events", key_of(task)["pk"], begins=OUTBOX)
        return tuple(map(_event_of, found))

    def claim(self, event: OutboxEvent, *, seconds: float = CLAIM_SECONDS) -> bool:
        """Claim an event to send it now, for `seconds`: of many callers at once exactly one gets it.

        False for an event that is sent. Raises `NotFoundError` if there is no such event.
        """
        now = self._clock()
        until = sortable(now + timedelta(seconds=seconds))
        return self._update(
            event,
            "SET gsi2sk = :until",
            condition="attribute_not_exists(sent_at) AND gsi2sk <= :now",
            values={":until": f"{until}#{event.id}", ":now": f"{sortable(now)}~"},
        )

    def sent(self, event: OutboxEvent) -> None:
        """Note that an event was sent; the first time stays. Raises `NotFoundError` if there is no such event."""
        self._update(
            event,
            "SET sent_at = :now REMOVE gsi2pk, gsi2sk",
            condition="attribute_exists(pk) AND attribute_not_exists(sent_at)",
            values={":now": self._clock().isoformat()},
        )

    def _update(self, event: OutboxEvent, expression: str, *, condition: str, values: Item) -> bool:
        """Update an event's item. Return whether the condition held and the item was changed."""
        key = _key(event.id, event.event)
        if update(self._table, "store the event", key, expression, condition=condition, values=values) is not None:
            return True
        if read(self._table, key, "the event") is None:
            raise NotFoundError("There is no event with this id.")
        return False


def outbox_actions(events: Sequence[TaskEvent]) -> tuple[Action, ...]:
    """The writes that put events into the outbox; each event only once."""
    return tuple({"Put": {"Item": _item(event), "ConditionExpression": "attribute_not_exists(pk)"}} for event in events)


def _item(event: TaskEvent) -> Item:
    event_id = derived_ulid(event.at, event.tenant, event.task_id, event.kind)
    return {
        **_key(event_id, event),
        "event_id": event_id,
        "body": event.model_dump_json(),
        "gsi2pk": PENDING,
        "gsi2sk": f"{sortable(event.at)}#{event_id}",
    }


def _key(event_id: str, event: TaskEvent) -> Key:
    return event_key(Reference(event.tenant, "task", event.task_id), event_id)


def _readable(item: Item) -> OutboxEvent | None:
    """The event of an item; None for one that cannot be read, which must not block the others."""
    try:
        return _event_of(item)
    except ValidationError:
        logger.error("Event %s cannot be read", item["event_id"])  # noqa: TRY400 - a validation quotes it
        return None


def _event_of(item: Item) -> OutboxEvent:
    sent = item.get("sent_at")
    return OutboxEvent(
        id=item["event_id"],
        event=TaskEvent.model_validate_json(item["body"]),
        sent_at=None if sent is None else datetime.fromisoformat(sent),
    )


SOURCE = "touchstone"


class EventBus:
    """Sends events. `connect` returns the client and is called on first use, since most steps send nothing."""

    def __init__(self, connect: "Callable[[], EventBridgeClient]", name: str) -> None:
        self._connect = connect
        self._name = name

    @cached_property
    def _events(self) -> "EventBridgeClient":
        return self._connect()

    def send(self, event: OutboxEvent) -> None:
        """Send an event. Its `detail-type` is its kind, and `detail.id` stays the same however often it is sent.

        Raises `StoreError` if the bus did not take it.
        """
        told = event.event
        entry = {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": told.kind,
            "Time": told.at,
            "Detail": json.dumps({"id": event.id, **told.model_dump(mode="json")}, ensure_ascii=False),
        }
        try:
            reply = self._events.put_events(Entries=[entry])  # type: ignore[list-item] # built as a plain dictionary
        except (ClientError, BotoCoreError) as error:
            raise StoreError("The event could not be sent; it is safe to repeat.") from error
        if reply["FailedEntryCount"]:
            code = reply["Entries"][0].get("ErrorCode", "unknown")
            raise StoreError(f"The event could not be sent ({code}); it is safe to repeat.")
