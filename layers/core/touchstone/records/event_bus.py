"""The event bus that tells the world of what happened: whoever listens sets a rule on it."""

import json
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from touchstone.errors import StoreError
from touchstone.records.outbox import OutboxEvent

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE = "touchstone"


class EventBus:
    """Sends events. `connect` gives the client, asked on first use: most steps send nothing."""

    def __init__(self, connect: "Callable[[], EventBridgeClient]", name: str) -> None:
        self._connect = connect
        self._name = name

    @cached_property
    def _events(self) -> "EventBridgeClient":
        return self._connect()

    def send(self, event: OutboxEvent) -> None:
        """Send one. `detail-type` is its kind, and `detail.id` the same however often it is sent.

        Raises `StoreError` where the bus did not take it.
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
