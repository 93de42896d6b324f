"""Thousands of requests in one JSONL file that is dropped in the bucket: split, and worked on some chunks at a time."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import JobConstruct, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.oracle import Oracle
from infra.constructs.provider_batches import BatchesAtProviders
from infra.constructs.queues import Queues
from infra.constructs.quizzes import Quizzes
from infra.constructs.store import Store
from infra.constructs.surfaces import Surfaces
from infra.grants import INBOX, SCRATCH

PREPARING = Size(memory_mb=1024, timeout_s=300)
"""For a function that parses a file of tens of thousands of lines, which takes a processor."""
WORKING = Size(memory_mb=1769, timeout_s=900)
"""For a function that verifies many lines at once: checks compute while judges are waited for."""
COLLECTING = Size(memory_mb=1024, timeout_s=900, storage_mb=4096)
"""For a function that joins the results of all lines on its disk: a gigabyte for a file of the greatest size."""


class BatchFunctions(JobConstruct):
    """The three functions, the machine, and the rule that starts the machine when a file is dropped."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        runtime: Runtime,
        store: Store,
        queues: Queues,
        answers: AnswerFunctions,
        oracle: Oracle,
        surfaces: Surfaces,
        quizzes: Quizzes,
        provider_batches: BatchesAtProviders,
    ) -> None:
        super().__init__(scope, construct_id, runtime=runtime, package="batch")
        prepare = self._function("Prepare", PREPARING)
        lines = self._function("Lines", WORKING)
        collect = self._function("Collect", COLLECTING)
        store.let_use(prepare, lines, collect)
        provider_batches.machine.let_start(collect)
        store.let_read_judge_keys(lines)
        queues.let_defer(lines)
        answers.let_wake(lines)
        oracle.let_judge(lines)
        oracle.let_announce(lines)
        surfaces.let_measure(lines)
        quizzes.let_start_machines(lines)
        self.machine = Machine(
            self,
            "Machine",
            name="batch",
            calls={"PrepareFunction": prepare, "LinesFunction": lines, "CollectFunction": collect},
            places={"Bucket": store.bucket.bucket_name},
            at_once=runtime.settings.batch_concurrency,
        )
        self.machine.let_map_over(store.objects(SCRATCH))
        events.Rule(
            self,
            "Dropped",
            description="A file of requests was dropped in the bucket",
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created"],
                detail={
                    "bucket": {"name": [store.bucket.bucket_name]},
                    "object": {"key": [{"wildcard": f"{INBOX}/*.jsonl"}]},
                },
            ),
            targets=[targets.SfnStateMachine(self.machine.machine, dead_letter_queue=queues.dead_letters)],
        )
