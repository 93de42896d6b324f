"""The queue of deferred evaluations. It only buffers and wakes the drain; the records are the truth."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from touchstone.aws import store_faults
from touchstone.strict import Strict

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

MAX_RECEIVED = 10
"""The most messages of one receive: SQS's limit."""
_GROUP = "deferred"
"""The message group. There is only one, so that the queue keeps the order of the requests."""


class DeferredEvaluation(Strict):
    """The body of a message: which record, and which request for its evaluation."""

    tenant: str
    answer_id: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredMessage:
    """A received message. `evaluation` is None if the body is not one that we wrote; then there is only `body`.

    `receipt` serves to delete or release the message. `receives` counts how often it was received, this time included.
    """

    receipt: str
    message_id: str
    body: str
    evaluation: DeferredEvaluation | None
    receives: int


class DeferredQueue:
    """The FIFO queue at one URL. Raises `StoreError` if SQS fails."""

    def __init__(self, sqs: "SQSClient", url: str) -> None:
        self._sqs = sqs
        self._url = url

    def send(self, evaluation: DeferredEvaluation) -> None:
        """Send a message. If the same request is sent again within SQS's five minutes, the queue keeps one message."""
        with store_faults("send to the queue"):
            self._sqs.send_message(
                QueueUrl=self._url,
                MessageBody=evaluation.model_dump_json(),
                MessageGroupId=_GROUP,
                MessageDeduplicationId=evaluation.request_id,
            )

    def receive(self, *, limit: int = MAX_RECEIVED, wait_seconds: int = 0) -> tuple[DeferredMessage, ...]:
        """Up to `limit` messages (at most 10), hidden from others for the queue's visibility timeout."""
        with store_faults("receive from the queue"):
            reply = self._sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=max(1, min(limit, MAX_RECEIVED)),
                WaitTimeSeconds=wait_seconds,
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
            )
        return tuple(
            DeferredMessage(
                receipt=message["ReceiptHandle"],
                message_id=message["MessageId"],
                body=message["Body"],
                evaluation=_parsed(message["Body"]),
                receives=int(message.get("Attributes", {}).get("ApproximateReceiveCount", "1")),
            )
            for message in reply.get("Messages", [])
        )

    def delete(self, message: DeferredMessage) -> None:
        """Remove a message whose record is done (or failed); a repeat changes nothing."""
        with store_faults("delete from the queue"):
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message.receipt)

    def release(self, message: DeferredMessage) -> None:
        """Let a message be received again at once."""
        with store_faults("release to the queue"):
            self._sqs.change_message_visibility(QueueUrl=self._url, ReceiptHandle=message.receipt, VisibilityTimeout=0)


def _parsed(body: str) -> DeferredEvaluation | None:
    try:
        return DeferredEvaluation.model_validate_json(body)
    except ValidationError:
        return None
