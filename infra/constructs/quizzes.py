"""Quizzes: the functions of the steps, and the machine that leads from one step to the next and back."""

from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function, JobConstruct, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.store import Store

KEEPING = Size(memory_mb=512, timeout_s=30)
"""For functions that read and write records, without a judge."""
WRITING = Size(memory_mb=1024, timeout_s=60)
"""Twice the time of a quiz: the deadline in the record ends the call, but a cold start may come before it."""
EVALUATING = Size(memory_mb=1769, timeout_s=60)
"""One whole processor: a cold start reads the tables of the script checks while a caller waits."""


class Quizzes(JobConstruct):
    """Quizzes, from the request to the best attempt."""

    def __init__(
        self, scope: Construct, construct_id: str, *, runtime: Runtime, store: Store, answers: AnswerFunctions
    ) -> None:
        super().__init__(scope, construct_id, runtime=runtime, package="quizzes")
        retrieve = self._function("Retrieve", KEEPING)
        weakness = self._function("Weakness", KEEPING)
        generate = self._function("Generate", WRITING)
        validate = self._function("Validate", KEEPING)
        evaluate = self._function("Evaluate", EVALUATING)
        finish = self._function("Finish", KEEPING)
        everyone = (retrieve, weakness, generate, validate, evaluate, finish)
        store.let_use(*everyone)
        store.let_read_judge_keys(generate, evaluate)
        self.machine = Machine(
            self,
            "Machine",
            name="quiz",
            calls={
                "QuizRetrieveFunction": retrieve,
                "QuizWeaknessFunction": weakness,
                "QuizGenerateFunction": generate,
                "QuizValidateFunction": validate,
                "QuizEvaluateFunction": evaluate,
                "QuizFinishFunction": finish,
            },
        )
        self.let_start_machines(answers.sweep)

    def let_start_machines(self, *functions: Function) -> None:
        """Let functions start the machine that runs quizzes."""
        self.machine.let_start(*functions)
