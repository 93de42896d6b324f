"""Batches at providers: the function that advances a batch by a step, and the machine that waits between steps."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.audits import Audits
from infra.constructs.function import JobConstruct, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.oracle import Oracle
from infra.constructs.queues import Queues
from infra.constructs.store import Store
from infra.constructs.surfaces import Surfaces

CARRYING = Size(memory_mb=768, timeout_s=900)
"""For a function that holds a whole batch of 20 MB, and stores a thousand results one by one."""


class BatchesAtProviders(JobConstruct):
    """One execution of the machine per batch.

    The drain, files of requests, and work with batches of its own start executions. The sweep does so for
    batches that were left without one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        runtime: Runtime,
        store: Store,
        queues: Queues,
        answers: AnswerFunctions,
        surfaces: Surfaces,
        audits: Audits,
        oracle: Oracle,
    ) -> None:
        super().__init__(scope, construct_id, runtime=runtime, package="provider_batches")
        advance = self._function("Advance", CARRYING)
        store.let_use(advance)
        store.let_read_judge_keys(advance)
        self.machine = Machine(self, "Machine", name="provider_batch", calls={"ProviderBatchFunction": advance})
        self.machine.let_start(
            *(answers.drain, answers.sweep, surfaces.measure, surfaces.plan, audits.prepare, oracle.score)
        )
        # A rule starts the drain, not a step of this machine: the drain's function starts the machine, and if each
        # named the other, neither could be deployed first.
        events.Rule(
            self,
            "Ended",
            description="A batch at a provider has ended: ask what it did not bring, and gather what its money held up",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={"stateMachineArn": [self.machine.arn], "status": ["SUCCEEDED"]},
            ),
            targets=[
                targets.SfnStateMachine(
                    answers.drain_machine.machine,
                    input=events.RuleTargetInput.from_object({"shard": 0}),
                    dead_letter_queue=queues.dead_letters,
                )
            ],
        )
