"""Surfaces: the functions and machines that measure quizzes, summaries and flashcards, and compare variants of them."""

from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function, JobConstruct, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.store import Store
from infra.grants import SCRATCH

MEASURING = Size(memory_mb=1024, timeout_s=900)
"""A quiz of five hundred questions takes minutes, and longer if the judge allows few calls a minute."""
PLANNING = Size(memory_mb=2048, timeout_s=900)
"""For a function that holds a file of 32 MB as text and as models, and writes a file for each of its pairs."""
CONCLUDING = Size(memory_mb=3008, timeout_s=900)
"""For a function that holds the results of two thousand pairs and computes intervals, which takes a processor."""


class Surfaces(JobConstruct):
    """Measurements, from the material to its scores; experiments, from their variants to the report."""

    def __init__(
        self, scope: Construct, construct_id: str, *, runtime: Runtime, store: Store, answers: AnswerFunctions
    ) -> None:
        super().__init__(scope, construct_id, runtime=runtime, package="surfaces")
        self._functions(store)
        at_once = runtime.settings.batch_concurrency
        self.measure_machine = Machine(
            self, "MeasureMachine", name="measure", calls={"MeasureFunction": self.measure}, at_once=at_once
        )
        self.experiment_machine = Machine(
            self,
            "ExperimentMachine",
            name="experiment",
            calls={
                "PlanFunction": self.plan,
                "PairFunction": self.pair,
                "ConcludeFunction": self.conclude,
            },
            places={"Bucket": store.bucket.bucket_name},
            at_once=at_once,
        )
        self.experiment_machine.let_map_over(store.objects(SCRATCH))
        self.let_start_machines(answers.sweep)

    def let_measure(self, *functions: Function) -> None:
        """Let functions start the measurement of material."""
        self.measure_machine.let_start(*functions)

    def let_start_machines(self, *functions: Function) -> None:
        """Let functions start the machines that run measurements and experiments."""
        self.let_measure(*functions)
        self.experiment_machine.let_start(*functions)

    def _functions(self, store: Store) -> None:
        self.measure = self._function("Measure", MEASURING)
        self.plan = self._function("Plan", PLANNING)
        self.pair = self._function("Pair", MEASURING)
        self.conclude = self._function("Conclude", CONCLUDING)
        judging = (self.measure, self.plan, self.pair)
        store.let_read_judge_keys(*judging)
        store.let_use(*judging, self.conclude)
