"""Audits: the functions of each step, the sandbox that proofs run in, the machine, and the weekly schedule."""

from aws_cdk import Duration
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function, JobConstruct, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.queues import Queues
from infra.constructs.sandbox import ProofSandbox
from infra.constructs.schedules import call_regularly
from infra.constructs.store import Store
from infra.grants import SCRATCH

INSTALLING = Size(memory_mb=3008, timeout_s=900, storage_mb=10_240)
"""For a function that downloads, unpacks and compiles a target with its dependencies, and packs the result."""
PREPARING = Size(memory_mb=1024, timeout_s=900)
"""For a function that waits for the target's import in the sandbox, and writes a file for each case."""
TURNING = Size(memory_mb=1769, timeout_s=900, storage_mb=6144)
"""For a function that reads the target's sources, which it keeps on disk, and waits for the model and for proofs."""
CONCLUDING = Size(memory_mb=3008, timeout_s=900)
"""For a function that holds all proofs of a thousand cases, about 50 KB each."""
BEGINNING = Size(memory_mb=512, timeout_s=300)


class Audits(JobConstruct):
    """Audits, from their definitions to their reports."""

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
        super().__init__(scope, construct_id, runtime=runtime, package="audits")
        self.sandbox = ProofSandbox(self, "Sandbox", runtime=runtime, store=store)
        self._functions(store)
        self.machine = Machine(
            self,
            "Machine",
            name="audit",
            calls={
                "AuditInstallFunction": self.install,
                "AuditPrepareFunction": self.prepare,
                "AuditTurnFunction": self.turn,
                "AuditConcludeFunction": self.conclude,
            },
            places={"Bucket": store.bucket.bucket_name},
            # Each case occupies a function for minutes, and a second function while a proof runs.
            at_once=max(1, runtime.settings.batch_concurrency // 2),
        )
        self.machine.let_map_over(store.objects(SCRATCH))
        self.let_start_machines(answers.sweep, self.weekly)
        call_regularly(
            self,
            "EachWeek",
            self.weekly,
            description="Audit again what is to be audited each week",
            schedule=scheduler.ScheduleExpression.cron(minute="0", hour="3", week_day="MON"),
            within=Duration.minutes(60),
            dead_letters=queues.dead_letters,
        )

    def let_start_machines(self, *functions: Function) -> None:
        """Let functions start the machine that runs audits."""
        self.machine.let_start(*functions)

    def _functions(self, store: Store) -> None:
        self.install = self._function("Install", INSTALLING)
        self.prepare = self._function("Prepare", PREPARING)
        self.turn = self._function("Turn", TURNING)
        self.conclude = self._function("Conclude", CONCLUDING)
        self.weekly = self._function("Weekly", BEGINNING)
        # A function's home is read-only, and a function that installs one target downloads nothing twice.
        self.install.set(UV_NO_CACHE="1")
        everyone = (self.install, self.prepare, self.turn, self.conclude, self.weekly)
        store.let_use_records(*everyone)
        store.let_use_objects(*everyone)
        store.let_read_judge_keys(self.prepare, self.turn)
        self.sandbox.let_run_proofs(self.prepare, self.turn)
