"""The queues: evaluations deferred to another day, requests sent as messages, and messages that failed for good."""

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.function import Function
from touchstone.operations.again import DELIVERIES, VISIBLE_AFTER

LONGEST_RETENTION = Duration.days(14)
INTAKE_RETENTION = Duration.days(4)
"""Shorter than for dead letters: a message's age counts from its first sending, in whichever queue it lies."""


class Queues(Construct):
    """The queues. The deferred queue has no consumer of its own: the drain takes from it what the day's budget allows.

    `local`: the deployment is on a laptop, where the queues are reached over a loopback without a certificate.
    """

    def __init__(self, scope: Construct, construct_id: str, *, local: bool) -> None:
        super().__init__(scope, construct_id)
        self.deferred = sqs.Queue(
            self,
            "Deferred",
            fifo=True,
            retention_period=LONGEST_RETENTION,
            visibility_timeout=Duration.minutes(15),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not local,
        )
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            retention_period=LONGEST_RETENTION,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not local,
        )
        self.intake = sqs.Queue(
            self,
            "Intake",
            retention_period=INTAKE_RETENTION,
            visibility_timeout=Duration.seconds(VISIBLE_AFTER.total_seconds()),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not local,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=DELIVERIES),
        )

    def let_ask_again(self, function: Function) -> None:
        """Let a function send the messages by which waiting answers are verified once more."""
        function.allow(["sqs:SendMessage"], self.intake.queue_arn)
        function.set(TOUCHSTONE_INTAKE_QUEUE_URL=self.intake.queue_url)

    def let_drain(self, function: Function) -> None:
        """Let a function receive deferred evaluations and delete those that are finished."""
        function.allow(
            ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"],
            self.deferred.queue_arn,
        )
        function.set(TOUCHSTONE_DEFERRED_QUEUE_URL=self.deferred.queue_url)

    def let_defer(self, *functions: Function) -> None:
        """Let functions send evaluations to the deferred queue."""
        for function in functions:
            function.allow(["sqs:SendMessage"], self.deferred.queue_arn)
            function.set(TOUCHSTONE_DEFERRED_QUEUE_URL=self.deferred.queue_url)
