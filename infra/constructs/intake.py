"""Requests that arrive as messages: each message fails alone, and hopeless messages are kept as dead letters."""

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function, Runtime, Size
from infra.constructs.queues import Queues
from infra.constructs.store import Store
from touchstone.operations.answers.again import INTAKE_SECONDS

RECEIVING = Size(memory_mb=1769, timeout_s=INTAKE_SECONDS)
BATCH_SIZE = 1
"""One message per call: the messages of a batch would be processed in turn, each waiting for the others' judges."""


class IntakeFunction(Construct):
    """The function that takes messages from the intake queue."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        runtime: Runtime,
        store: Store,
        queues: Queues,
        answers: AnswerFunctions,
    ) -> None:
        super().__init__(scope, construct_id)
        function = Function(self, "Intake", runtime=runtime, handler="functions.intake.handler", size=RECEIVING)
        store.let_use(function)
        store.let_remember_requests(function)
        store.let_read_judge_keys(function)
        queues.let_defer(function)
        answers.let_wake(function)
        queues.let_ask_again(answers.sweep)
        function.allow(
            ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"],
            queues.intake.queue_arn,
        )
        lambda_.EventSourceMapping(
            self,
            "Messages",
            target=function.function,
            event_source_arn=queues.intake.queue_arn,
            batch_size=BATCH_SIZE,
            max_batching_window=Duration.seconds(0),
            # Messages can wait. Without a limit, a flood of them would use all of the account's concurrency.
            max_concurrency=runtime.settings.intake_concurrency,
            report_batch_item_failures=True,
        )
