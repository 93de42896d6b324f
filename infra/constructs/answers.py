"""The answers job: its functions, and the state machines that run them in order."""

from constructs import Construct

from infra.constructs.function import Function, Runtime, Size
from infra.constructs.machine import Machine
from infra.constructs.queues import Queues
from infra.constructs.store import Store

QUICK = Size(memory_mb=512, timeout_s=30)
"""For functions that only read and write records: more memory would save no time, since the store takes the time."""
JUDGING = Size(memory_mb=1024, timeout_s=60)
"""For functions that wait for a judge; importing a provider's SDK takes more than half a processor's second."""
VERIFYING = Size(memory_mb=1024, timeout_s=340)
"""For verifying our own attempts, for which no caller waits: a judge has up to five minutes."""
SOLVING = Size(memory_mb=1024, timeout_s=180)
"""Half a minute longer than a step waits for its judges, so that a late judge is recorded as the reason."""
EVALUATING = Size(memory_mb=384, timeout_s=120)
"""For a function that waits for one judge and for which no caller waits: more memory would cost money while the judge
thinks. The function holds 150 MB with all three SDKs."""
PURGING = Size(memory_mb=512, timeout_s=900)
"""For a function that reads and removes records one by one, as many as its time allows."""
DRAINING = Size(memory_mb=768, timeout_s=900)
"""For a function that waits for twenty judges in parallel; storing their replies takes less than half a processor."""


class AnswerFunctions(Construct):
    """Functions and machines of verification, solving, deep evaluation and the drain."""

    def __init__(self, scope: Construct, construct_id: str, *, runtime: Runtime, store: Store, queues: Queues) -> None:
        super().__init__(scope, construct_id)
        self._runtime = runtime
        self._functions(store)
        queues.let_drain(self.drain)
        queues.let_defer(self.sweep)
        self.purge = self._purge(store) if runtime.settings.purges else None
        self.evaluate_machine = Machine(
            self,
            "EvaluateMachine",
            name="evaluate",
            express=True,
            calls={"EvaluateFunction": self.evaluate},
            places={"DeferredQueue": queues.deferred.queue_url},
        )
        self.evaluate_machine.allow(["sqs:SendMessage"], queues.deferred.queue_arn)
        self.solve_machine = Machine(
            self,
            "SolveMachine",
            name="solve",
            calls={
                "ReadImageFunction": self.read_image,
                "AnalyzeFunction": self.analyze,
                "RetrieveFunction": self.retrieve,
                "SolveFunction": self.solve,
                "VerifyFunction": self.verify,
                "EnrichFunction": self.enrich,
                "FailFunction": self.fail,
            },
            places={"EvaluateMachine": self.evaluate_machine.arn},
        )
        self.solve_machine.allow(["states:StartExecution"], self.evaluate_machine.arn)
        self.drain_machine = Machine(self, "DrainMachine", name="drain", calls={"DrainFunction": self.drain})
        self.evaluate_machine.let_start(self.sweep)
        self.let_wake(self.evaluate)

    def let_wake(self, function: Function) -> None:
        """Let a function start the drain for evaluations that it put in the deferred queue."""
        self.drain_machine.let_start(function)

    def _functions(self, store: Store) -> None:
        self.verify = self._function("Verify", "answers.verify", VERIFYING)
        self.read_image = self._function("ReadImage", "answers.read_image", JUDGING)
        self.analyze = self._function("Analyze", "answers.analyze", JUDGING)
        self.retrieve = self._function("Retrieve", "answers.retrieve", QUICK)
        self.solve = self._function("Solve", "answers.solve", SOLVING)
        self.enrich = self._function("Enrich", "answers.enrich", JUDGING)
        self.fail = self._function("Fail", "answers.fail", QUICK)
        self.evaluate = self._function("Evaluate", "answers.evaluate", EVALUATING)
        self.drain = self._function("Drain", "drain.handler", DRAINING)
        self.sweep = self._function("Sweep", "sweep.handler", Size(memory_mb=512, timeout_s=300))
        judging = (self.verify, self.read_image, self.analyze, self.solve, self.enrich, self.evaluate, self.drain)
        everyone = (*judging, self.retrieve, self.fail, self.sweep)
        store.let_read_judge_keys(*judging)
        store.let_use(*everyone)

    def _purge(self, store: Store) -> Function:
        """The function that removes records whose retention is over; it is made only if some retention ends."""
        purge = self._function("Purge", "purge.handler", PURGING)
        store.let_use(purge)
        return purge

    def _function(self, construct_id: str, handler: str, size: Size) -> Function:
        return Function(self, construct_id, runtime=self._runtime, handler=f"functions.{handler}", size=size)
