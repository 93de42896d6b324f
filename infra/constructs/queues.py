"""The queues: evaluations deferred to another day, requests sent as messages, and messages that failed for good."""

from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.function import Function
from touchstone.operations.answers.again import DELIVERIES, VISIBLE_AFTER

LONGEST_RETENTION = Duration.days(14)
INTAKE_RETENTION = Duration.days(4)
"""Shorter than for dead letters: a message's age counts from its first sending, in whichever queue it lies."""


def queue(scope: Construct, construct_id: str, *, kept: Duration, local: bool, **more: Any) -> sqs.Queue:
    """An encrypted queue that keeps messages so long; `more` as in `sqs.Queue`.

    `local`: it is on a laptop, where it is reached over a loopback without a certificate.
    """
    return sqs.Queue(
        scope,
        construct_id,
        retention_period=kept,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=not local,
        **more,
    )


class Queues(Construct):
    """The queues. The deferred queue has no consumer of its own: the drain takes from it what the day's budget allows.

    `local` is as in `queue`.
    """

    def __init__(self, scope: Construct, construct_id: str, *, local: bool) -> None:
        super().__init__(scope, construct_id)
        self.deferred = queue(
            self, "Deferred", kept=LONGEST_RETENTION, local=local, fifo=True, visibility_timeout=Duration.minutes(15)
        )
        self.dead_letters = queue(self, "DeadLetters", kept=LONGEST_RETENTION, local=local)
        self.intake = queue(
            self,
            "Intake",
            kept=INTAKE_RETENTION,
            local=local,
            visibility_timeout=Duration.seconds(VISIBLE_AFTER.total_seconds()),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=DELIVERIES),
        )

    def let_ask_again(self, function: Function) -> None:
        """Let a function send the messages by which waiting answers are verified once more."""
        function.allow(["sqs:SendMessage"], self.intake.queue_arn)
        function.set(TOUCHSTONE_INTAKE_QUEUE_URL=self.intake.queue_url)

    def let_drain(self, function: Function) -> None:
        """Let a function receive deferred evaluations and delete those that are finished."""
        function.allow(
            ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"], self.deferred.queue_arn
        )
        function.set(TOUCHSTONE_DEFERRED_QUEUE_URL=self.deferred.queue_url)

    def let_defer(self, *functions: Function) -> None:
        """Let functions send evaluations to the deferred queue."""
        for function in functions:
            function.allow(["sqs:SendMessage"], self.deferred.queue_arn)
            function.set(TOUCHSTONE_DEFERRED_QUEUE_URL=self.deferred.queue_url)
