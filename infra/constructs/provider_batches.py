"""Batches at providers: the function that carries one on, and the machine that waits in between."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.oracle import Oracle
from infra.constructs.queues import Queues
from infra.constructs.store import ARTIFACTS, SCRATCH, Store
from infra.constructs.surfaces import Surfaces

CARRYING = Size(memory_mb=768, timeout_s=900)
"""Holds a batch of 20 MB whole, and stores a thousand results one by one."""


class BatchesAtProviders(Construct):
    """One execution a batch. Drain, files and what has batches of its own begin them; the sweep takes up the rest."""

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
        oracle: Oracle,
    ) -> None:
        super().__init__(scope, construct_id)
        advance = Function(
            self,
            "Advance",
            runtime=runtime,
            handler="functions.provider_batches.advance",
            size=CARRYING,
            layers=("judges", "checks"),
        )
        store.let_use_records(advance)
        store.let_use_objects(advance, roots=[ARTIFACTS, SCRATCH])
        store.let_use_objects(answers.drain, roots=[SCRATCH])
        store.let_read_judge_keys(advance)
        self.machine = Machine(self, "Machine", name="provider_batch", calls={"ProviderBatchFunction": advance})
        self.machine.let_start(
            *(answers.drain, answers.sweep, surfaces.measure, surfaces.plan, oracle.score),
            variable="TOUCHSTONE_PROVIDER_BATCH_MACHINE_ARN",
        )
        # Not started by the step itself: the drain's function starts this machine, and neither could be deployed first.
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
