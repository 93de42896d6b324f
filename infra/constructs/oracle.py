"""The oracle: functions and machines of tasks, submissions and challenges, and the bus that announces results."""

from aws_cdk import Stack
from aws_cdk import aws_events as events
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function, JobConstruct, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.store import Store

KEEPING = Size(memory_mb=512, timeout_s=120)
"""For functions that read all submissions of a contest and write a few records, without a judge."""
DRAFTING = Size(memory_mb=1024, timeout_s=180)
"""A minute longer than the function waits for its judge."""
JUDGING = Size(memory_mb=1024, timeout_s=900)
"""The longest submission is read in twenty sections, which takes minutes; a short submission takes one call."""


class Oracle(JobConstruct):
    """Tasks, from their dimensions to their results."""

    def __init__(
        self, scope: Construct, construct_id: str, *, runtime: Runtime, store: Store, answers: AnswerFunctions
    ) -> None:
        super().__init__(scope, construct_id, runtime=runtime, package="oracle")
        self.bus = events.EventBus(
            self, "Bus", event_bus_name=Stack.of(self).stack_name, description="What happened to tasks"
        )
        self._functions(store)
        self._machines()
        self.let_announce(self.score, self.close, self.finalise, answers.sweep)
        self.let_start_machines(answers.sweep)

    def let_announce(self, *functions: Function) -> None:
        """Let functions send events to the bus."""
        for function in functions:
            function.allow(["events:PutEvents"], self.bus.event_bus_arn)
            function.set(TOUCHSTONE_EVENT_BUS=self.bus.event_bus_name)

    def let_judge(self, *functions: Function) -> None:
        """Let functions start the judging of submissions."""
        self.submission_machine.let_start(*functions)

    def let_start_machines(self, *functions: Function) -> None:
        """Let functions start the machines that run tasks, submissions and challenges."""
        self.let_judge(*functions)
        self.task_machine.let_start(*functions)
        self.challenge_machine.let_start(*functions)

    def _functions(self, store: Store) -> None:
        self.draft = self._function("Draft", DRAFTING)
        self.gate = self._function("Gate", JUDGING)
        self.score = self._function("Score", JUDGING)
        self.close = self._function("Close", JUDGING)
        self.compare = self._function("Compare", JUDGING)
        self.rescore = self._function("Rescore", JUDGING)
        self.rank = self._function("Rank", KEEPING)
        self.decide = self._function("Decide", KEEPING)
        self.finalise = self._function("Finalise", KEEPING)
        judging = (self.draft, self.gate, self.score, self.close, self.compare, self.rescore)
        everyone = (*judging, self.rank, self.decide, self.finalise)
        store.let_read_judge_keys(*judging)
        store.let_use(*everyone)

    def _machines(self) -> None:
        at_once = self._runtime.settings.batch_concurrency
        self.task_machine = Machine(
            self,
            "TaskMachine",
            name="task",
            calls={
                "DraftFunction": self.draft,
                "CloseFunction": self.close,
                "CompareFunction": self.compare,
                "RankFunction": self.rank,
                "FinaliseFunction": self.finalise,
            },
            at_once=at_once,
        )
        self.submission_machine = Machine(
            self, "SubmissionMachine", name="submission", calls={"GateFunction": self.gate, "ScoreFunction": self.score}
        )
        self.challenge_machine = Machine(
            self,
            "ChallengeMachine",
            name="challenge",
            calls={
                "RescoreFunction": self.rescore,
                "CompareFunction": self.compare,
                "DecideFunction": self.decide,
            },
            at_once=at_once,
        )
