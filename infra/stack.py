"""All of Touchstone as one stack."""

from aws_cdk import CfnOutput, DefaultStackSynthesizer, Stack
from constructs import Construct

from infra.constructs.alarms import Operations
from infra.constructs.answers import AnswerFunctions
from infra.constructs.api import Api
from infra.constructs.audits import Audits
from infra.constructs.batch import BatchFunctions
from infra.constructs.function import Function, Runtime
from infra.constructs.intake import IntakeFunction
from infra.constructs.machine import Machine
from infra.constructs.oracle import Oracle
from infra.constructs.provider_batches import BatchesAtProviders
from infra.constructs.queues import Queues
from infra.constructs.quizzes import Quizzes
from infra.constructs.schedules import Schedules
from infra.constructs.store import Store
from infra.constructs.surfaces import Surfaces
from infra.layers import Code
from infra.settings import Settings
from touchstone import __version__


class TouchstoneStack(Stack):
    """Everything that one deployment needs, in any account and region."""

    def __init__(self, scope: Construct, *, settings: Settings, code: Code | None) -> None:
        super().__init__(
            scope,
            settings.stack_name,
            # A laptop's cloud was never bootstrapped, so there is no bootstrap version to check.
            synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=not settings.local),
            description="Touchstone: verdicts on model-made teaching material",
        )
        self.settings = settings
        runtime = Runtime(self, "Code", code=code, settings=settings)
        self.store = Store(self, "Store", settings=settings)
        self.queues = Queues(self, "Queues", local=settings.local)
        self.answers = AnswerFunctions(self, "Answers", runtime=runtime, store=self.store, queues=self.queues)
        self.oracle = Oracle(self, "Oracle", runtime=runtime, store=self.store, answers=self.answers)
        self.surfaces = Surfaces(self, "Surfaces", runtime=runtime, store=self.store, answers=self.answers)
        self.quizzes = Quizzes(self, "Quizzes", runtime=runtime, store=self.store, answers=self.answers)
        self.audits = Audits(
            self, "Audits", runtime=runtime, store=self.store, queues=self.queues, answers=self.answers
        )
        self.provider_batches = BatchesAtProviders(
            self,
            "ProviderBatches",
            runtime=runtime,
            store=self.store,
            queues=self.queues,
            answers=self.answers,
            surfaces=self.surfaces,
            audits=self.audits,
            oracle=self.oracle,
        )
        self.batch = BatchFunctions(
            self,
            "Batch",
            runtime=runtime,
            store=self.store,
            queues=self.queues,
            answers=self.answers,
            oracle=self.oracle,
            surfaces=self.surfaces,
            quizzes=self.quizzes,
            provider_batches=self.provider_batches,
        )
        jobs = (self.oracle, self.surfaces, self.quizzes, self.audits)
        self.api = Api(self, "Api", runtime=runtime, store=self.store, answers=self.answers, jobs=jobs)
        IntakeFunction(self, "Intake", runtime=runtime, store=self.store, queues=self.queues, answers=self.answers)
        Schedules(
            self, "Schedules", answers=self.answers, dead_letters=self.queues.dead_letters, drains=settings.drains
        )
        self.operations = Operations(
            self,
            "Operations",
            api=self.api,
            functions=[construct for construct in self.node.find_all() if isinstance(construct, Function)],
            machines=[construct for construct in self.node.find_all() if isinstance(construct, Machine)],
            queues=self.queues,
            settings=settings,
        )
        self._outputs(
            {
                "AlarmTopicArn": self.operations.topic.topic_arn,
                "BrokenOffQueueUrl": self.operations.broken_off.queue_url,
            }
        )

    def _outputs(self, more: dict[str, str]) -> None:
        outputs = {
            "Version": __version__,
            "ApiId": self.api.api.api_id,
            "ApiUrl": self.api.api.api_endpoint,
            "TableName": self.store.table.table_name,
            "IdempotencyTableName": self.store.idempotency.table_name,
            "BucketName": self.store.bucket.bucket_name,
            "JudgeKeysSecretArn": self.store.judge_keys_arn,
            "DeferredQueueUrl": self.queues.deferred.queue_url,
            "IntakeQueueUrl": self.queues.intake.queue_url,
            "DeadLetterQueueUrl": self.queues.dead_letters.queue_url,
            "SolveMachineArn": self.answers.solve_machine.arn,
            "EvaluateMachineArn": self.answers.evaluate_machine.arn,
            "DrainMachineArn": self.answers.drain_machine.arn,
            "ProviderBatchMachineArn": self.provider_batches.machine.arn,
            "BatchMachineArn": self.batch.machine.arn,
            "TaskMachineArn": self.oracle.task_machine.arn,
            "SubmissionMachineArn": self.oracle.submission_machine.arn,
            "ChallengeMachineArn": self.oracle.challenge_machine.arn,
            "MeasureMachineArn": self.surfaces.measure_machine.arn,
            "ExperimentMachineArn": self.surfaces.experiment_machine.arn,
            "QuizMachineArn": self.quizzes.machine.arn,
            "AuditMachineArn": self.audits.machine.arn,
            "SandboxFunctionName": self.audits.sandbox.function.function_name,
            "WeeklyFunctionName": self.audits.weekly.function.function_name,
            "EventBusName": self.oracle.bus.event_bus_name,
            "SweepFunctionName": self.answers.sweep.function.function_name,
            "DrainFunctionName": self.answers.drain.function.function_name,
            "EvaluateFunctionName": self.answers.evaluate.function.function_name,
            **more,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)
