"""Events on the bus: told whole, under one id, and never taken for sent where the bus did not take them."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from tests.support.oracle import TASK_ID
from tests.support.store_faults import losing_replies, refusing
from touchstone.errors import StoreError
from touchstone.oracle.events import TaskEvent
from touchstone.records.outbox import EventBus, OutboxEvent

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

AT = datetime(2026, 11, 28, 6, 30, tzinfo=UTC)
EVENT = OutboxEvent(
    id="01M7YCR9J0YEPNXK2F1F80QC0Z",
    event=TaskEvent(
        kind="payout.due",
        tenant="acme",
        task_id=TASK_ID,
        path="quality_first",
        owner="Käufer & Söhne",
        at=AT,
        winner="s1",
    ),
    sent_at=None,
)


@pytest.fixture
def client(aws: None) -> "EventBridgeClient":
    events = boto3.client("events", region_name="us-east-1")
    events.create_event_bus(Name="touchstone")
    return events


@pytest.fixture
def heard(client: "EventBridgeClient") -> list[dict[str, Any]]:
    """What the bus was given, call by call, whatever became of it."""
    entries: list[dict[str, Any]] = []

    def hear(params: dict[str, Any], **_: Any) -> None:
        entries.extend(params["Entries"])

    client.meta.events.register("before-parameter-build.events.PutEvents", hear)
    return entries


def test_an_event_arrives_with_its_kind_its_moment_and_an_id_of_its_own(
    client: "EventBridgeClient", heard: Any
) -> None:
    EventBus(lambda: client, "touchstone").send(EVENT)
    (told,) = heard
    assert (told["EventBusName"], told["Source"], told["DetailType"]) == ("touchstone", "touchstone", "payout.due")
    assert told["Time"] == AT
    assert json.loads(told["Detail"]) == {
        "id": EVENT.id,
        "kind": "payout.due",
        "tenant": "acme",
        "task_id": TASK_ID,
        "path": "quality_first",
        "owner": "Käufer & Söhne",
        "at": "2026-11-28T06:30:00Z",
        "winner": "s1",
    }


@pytest.mark.parametrize("code", ["ThrottlingException", "InternalException", "AccessDeniedException"])
def test_r16_a_bus_that_refuses_is_reported_and_the_event_may_be_sent_again(
    client: "EventBridgeClient", heard: list[dict[str, Any]], code: str
) -> None:
    bus = EventBus(lambda: client, "touchstone")
    with refusing(client, "PutEvents", code), pytest.raises(StoreError, match="safe to repeat"):
        bus.send(EVENT)
    with losing_replies(client, "PutEvents"), pytest.raises(StoreError, match="safe to repeat"):
        bus.send(EVENT)
    bus.send(EVENT)
    assert [json.loads(told["Detail"])["id"] for told in heard] == [EVENT.id] * 3


def test_an_entry_that_the_bus_failed_is_not_sent_though_the_call_succeeded(client: "EventBridgeClient") -> None:
    def fail(**_: Any) -> tuple[AWSResponse, dict[str, Any]]:
        body = {
            "FailedEntryCount": 1,
            "Entries": [{"ErrorCode": "InternalFailure", "ErrorMessage": "injected"}],
            "ResponseMetadata": {"HTTPStatusCode": 200},
        }
        return AWSResponse("http://bus", 200, HTTPHeaders(), None), body

    client.meta.events.register_first("before-call.events.PutEvents", fail)  # type: ignore[arg-type] # it may answer
    with pytest.raises(StoreError, match="InternalFailure"):
        EventBus(lambda: client, "touchstone").send(EVENT)


def test_nobody_connects_before_there_is_something_to_tell() -> None:
    def connect() -> "EventBridgeClient":
        raise AssertionError("nothing was to be sent")

    EventBus(connect, "touchstone")
