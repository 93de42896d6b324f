"""Step Functions in the process: the machines as they are defined, and the real handlers behind them."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.enforcement import elsewhere
from tests.support.handlers import handler_of
from tests.support.machine import TIMEOUT, Interpreter, Run, StateError, Together, definition

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

type Handler = Callable[[Mapping[str, Any], Any], dict[str, Any]]
type Invoke = Callable[[str, Handler, Mapping[str, Any]], dict[str, Any]]

FUNCTIONS = {
    "VerifyFunction": "answers.verify",
    "EvaluateFunction": "answers.evaluate",
    "ReadImageFunction": "answers.read_image",
    "AnalyzeFunction": "answers.analyze",
    "RetrieveFunction": "answers.retrieve",
    "SolveFunction": "answers.solve",
    "EnrichFunction": "answers.enrich",
    "FailFunction": "answers.fail",
    "DrainFunction": "drain",
    "ProviderBatchFunction": "provider_batches.advance",
    "PrepareFunction": "batch.prepare",
    "LinesFunction": "batch.lines",
    "CollectFunction": "batch.collect",
    "DraftFunction": "oracle.draft",
    "CloseFunction": "oracle.close",
    "CompareFunction": "oracle.compare",
    "RankFunction": "oracle.rank",
    "FinaliseFunction": "oracle.finalise",
    "GateFunction": "oracle.gate",
    "ScoreFunction": "oracle.score",
    "RescoreFunction": "oracle.rescore",
    "DecideFunction": "oracle.decide",
    "MeasureFunction": "surfaces.measure",
    "PlanFunction": "surfaces.plan",
    "PairFunction": "surfaces.pair",
    "ConcludeFunction": "surfaces.conclude",
    "QuizRetrieveFunction": "quizzes.retrieve",
    "QuizWeaknessFunction": "quizzes.weakness",
    "QuizGenerateFunction": "quizzes.generate",
    "QuizValidateFunction": "quizzes.validate",
    "QuizEvaluateFunction": "quizzes.evaluate",
    "QuizFinishFunction": "quizzes.finish",
    "AuditInstallFunction": "audits.install",
    "AuditPrepareFunction": "audits.prepare",
    "AuditTurnFunction": "audits.turn",
    "AuditConcludeFunction": "audits.conclude",
}
"""The handler that a `${…}` of a definition stands for; a test holds it against the stack."""


class _AlreadyExistsError(Exception):
    """An execution of this name was started before."""


class _Exceptions:
    ExecutionAlreadyExists = _AlreadyExistsError


@dataclass(kw_only=True)
class Machines:
    """A client of Step Functions as far as the library uses one.

    A step goes by the name of its function's module. `repeats` takes every step so often, as a platform that repeats a
    task after its effect would. `lost` names steps that never come back, as a state that times out; `faults` are the
    errors by which the next calls of a step end before it did anything.

    `started` are the executions' names in order, `drains` how many were asked for. `said` is all that steps returned,
    in order, with the step's name. `asleep` are the executions that wait, for the seconds in `asleep_for`; `ended` are
    the errors of those that are over, "" where one succeeded. `invoke` calls a function, by its module, its handler and
    its payload; `together` is how the items of a Map go on side by side. `begun` is told of the machine of each
    execution, `entered` of each state's.
    """

    sqs: "SQSClient"
    s3: "S3Client"
    queue_url: str
    bucket: str
    context: object
    repeats: int = 1
    lost: frozenset[str] = frozenset()
    faults: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    started: list[str] = field(default_factory=list)
    drains: int = 0
    said: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    asleep: dict[str, Run] = field(default_factory=dict)
    asleep_for: dict[str, float] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    begun: Callable[[str], None] = lambda _machine: None
    entered: Callable[[str], None] = lambda _machine: None
    invoke: Invoke = field(init=False)
    together: Together | None = None
    exceptions: type[_Exceptions] = _Exceptions
    _pending: deque[tuple[str, str, dict[str, Any]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.invoke = lambda _module, handler, payload: handler(payload, self.context)

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, Any]:  # noqa: A002, N803 - AWS's names
        """Run a Standard machine to its end, or to its first wait."""
        if stateMachineArn == "drain":
            self.drains += 1
            return {"executionArn": name, "startDate": datetime.now(UTC)}
        if name in self.started:
            raise _AlreadyExistsError
        self.started.append(name)
        self._pending.append((stateMachineArn, name, json.loads(input)))
        if asyncio._get_running_loop() is None:
            self.work()
        return {"executionArn": name, "startDate": datetime.now(UTC)}

    def work(self) -> None:
        """Run what was started. Whoever starts an execution does not wait for it, so within a handler it is put off."""
        while self._pending:
            self.begin(*self._pending.popleft())

    def begin(self, machine: str, name: str, state: dict[str, Any]) -> None:
        """Run an execution to its first wait, or to its end."""
        self._go_on(name, self._run(machine, name, state))

    def wake(self, prefix: str = "") -> None:
        """Let the executions whose names begin so go on to their next waits."""
        for name in [name for name in self.asleep if name.startswith(prefix)]:
            self._go_on(name, self.asleep.pop(name))

    def _go_on(self, name: str, run: Run) -> None:
        try:
            self.asleep_for[name] = next(run)
        except StopIteration:
            self.ended[name] = ""
        except StateError as error:
            self.ended[name] = error.error
        else:
            self.asleep[name] = run

    def _run(self, machine: str, name: str, state: dict[str, Any]) -> Run:
        places = {"Bucket": self.bucket, "DeferredQueue": self.queue_url, "EvaluateMachine": "evaluate"}
        interpreter = Interpreter(self._call, self._read, entered=lambda _title, _kind: self.entered(machine))
        if self.together is not None:
            interpreter = replace(interpreter, together=self.together)
        return interpreter.run(definition(machine, places), name=name, state=state)

    def _call(self, resource: str, arguments: dict[str, Any]) -> Any:
        match resource.rpartition(":::")[2]:
            case "lambda:invoke":
                module = FUNCTIONS[arguments["FunctionName"].strip("${}")]
                return {"StatusCode": 200, "Payload": self._step(module, arguments["Payload"])}
            case "sqs:sendMessage":
                return {"MessageId": self.sqs.send_message(**arguments)["MessageId"]}
            case "states:startExecution":
                started = self.start_execution(
                    stateMachineArn=arguments["StateMachineArn"],
                    name=arguments["Name"],
                    input=json.dumps(arguments["Input"]),
                )
                return {"ExecutionArn": started["executionArn"]}
        raise NotImplementedError(resource)

    def _step(self, module: str, payload: dict[str, Any]) -> dict[str, Any]:
        name = module.rpartition(".")[2]
        if name in self.lost:
            raise StateError(TIMEOUT)
        if self.faults[name]:
            raise StateError(self.faults[name].pop(0))
        handler: Handler = handler_of(f"functions.{module}")
        said = [self.invoke(module, handler, payload) for _ in range(self.repeats)]
        self.said += [(name, one) for one in said]
        return said[-1]

    def _read(self, bucket: str, key: str) -> str:
        with elsewhere():  # a machine has a role of its own, also if a handler began it
            return self.s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
