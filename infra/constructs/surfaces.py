"""Surfaces: the function and the machine that measure quizzes, summaries and flashcards."""

from constructs import Construct

from infra.constructs.answers import Answers
from infra.constructs.function import Function, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.store import ARTIFACTS, Store

MEASURING = Size(memory_mb=1024, timeout_s=900)
"""A quiz of five hundred questions is asked about for minutes, and longer where the judge admits few a minute."""


class Surfaces(Construct):
    """Measurements from the material to its scores."""

    def __init__(
        self, scope: Construct, construct_id: str, *, runtime: Runtime, store: Store, answers: Answers
    ) -> None:
        super().__init__(scope, construct_id)
        self.measure = Function(
            self, "Measure", runtime=runtime, module="functions.surfaces.measure", size=MEASURING, layers=("judges",)
        )
        store.let_read_judge_keys(self.measure)
        store.let_write_records(self.measure)
        store.let_use_objects(self.measure, roots=[ARTIFACTS])
        self.measure_machine = Machine(self, "MeasureMachine", name="measure", calls={"MeasureFunction": self.measure})
        self.let_carry_on(answers.sweep)

    @property
    def machines(self) -> dict[str, Machine]:
        """The machines by what they carry."""
        return {"Measure": self.measure_machine}

    def let_measure(self, *functions: Function) -> None:
        """Let functions start the measuring of some material."""
        self.measure_machine.let_start(*functions, variable="TOUCHSTONE_MEASURE_MACHINE_ARN")

    def let_carry_on(self, *functions: Function) -> None:
        """Let functions start whatever carries measurements."""
        self.let_measure(*functions)
