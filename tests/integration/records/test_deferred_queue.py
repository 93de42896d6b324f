"""The queue of deferred evaluations: in order, once within its window, and whatever is in it is shown."""

from typing import TYPE_CHECKING

import boto3
import pytest

from tests.support.store_faults import refusing
from touchstone.errors import StoreError
from touchstone.records import DeferredEvaluation, DeferredQueue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@pytest.fixture
def sqs(aws: None) -> "SQSClient":
    return boto3.client("sqs", region_name="us-east-1")


@pytest.fixture
def url(sqs: "SQSClient") -> str:
    attributes = {"FifoQueue": "true", "VisibilityTimeout": "60"}
    return sqs.create_queue(QueueName="deferred.fifo", Attributes=attributes)["QueueUrl"]  # type: ignore[arg-type]


@pytest.fixture
def queue(sqs: "SQSClient", url: str) -> DeferredQueue:
    return DeferredQueue(sqs, url)


def _request(number: int) -> DeferredEvaluation:
    return DeferredEvaluation(tenant="acme", answer_id=f"answer-{number}", request_id=f"request-{number}")


def test_requests_arrive_in_order_and_stay_until_deleted(queue: DeferredQueue) -> None:
    for number in range(3):
        queue.send(_request(number))
    received = queue.receive()
    assert [message.evaluation for message in received] == [_request(number) for number in range(3)]
    assert queue.receive() == ()
    for message in received:
        queue.release(message)
    again = queue.receive(limit=99)
    assert [message.receives for message in again] == [2, 2, 2]
    for message in again:
        queue.delete(message)
        queue.delete(message)
    assert queue.receive() == ()


def test_the_same_request_sent_twice_is_one_message(queue: DeferredQueue) -> None:
    queue.send(_request(1))
    queue.send(_request(1))
    assert len(queue.receive()) == 1


@pytest.mark.parametrize("body", ["", "{", "null", "[]", '{"tenant": "acme"}', '{"tenant": 1}', "[" * 10_000])
def test_r5_a_body_that_is_none_of_ours_is_shown_and_holds_up_nothing(
    queue: DeferredQueue, sqs: "SQSClient", url: str, body: str
) -> None:
    body = body or " "
    sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId="deferred", MessageDeduplicationId="odd")
    queue.send(_request(1))
    odd, good = queue.receive()
    assert (odd.evaluation, odd.body) == (None, body)
    assert good.evaluation == _request(1)


def test_r16_faults_of_the_queue_are_store_errors(queue: DeferredQueue, sqs: "SQSClient") -> None:
    queue.send(_request(1))
    (message,) = queue.receive()
    with refusing(sqs, "SendMessage", "ThrottlingException"), pytest.raises(StoreError):
        queue.send(_request(2))
    with refusing(sqs, "ReceiveMessage", "ThrottlingException"), pytest.raises(StoreError):
        queue.receive()
    with refusing(sqs, "DeleteMessage", "ThrottlingException"), pytest.raises(StoreError):
        queue.delete(message)
    with refusing(sqs, "ChangeMessageVisibility", "ThrottlingException"), pytest.raises(StoreError):
        queue.release(message)
