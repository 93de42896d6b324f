"""Step Functions in the process: the real handlers, run in the order that the state machines say.

Follows `infra/state_machines/*.asl.yaml` by hand: a start by a name that was used is refused, a state that times out or
fails takes its `Catch`, and what the machines themselves do (send a message, start another machine) is done here.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from functions.answers import (
    analyze,
    enrich,
    evaluate,
    fail,
    read_image,
    retrieve,
    settle,
    solve,
    verify,
)
from tests.support.task_machines import TaskMachines

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

type Handler = Callable[[Mapping[str, Any], Any], dict[str, Any]]
MOST_STATES = 20
"""States of one execution; more mean that the machine runs in a circle."""


class _AlreadyExistsError(Exception):
    """An execution of this name was started before."""


class _Exceptions:
    ExecutionAlreadyExists = _AlreadyExistsError


@dataclass(kw_only=True)
class Machines:
    """A client of Step Functions as far as the library uses one.

    `repeats` runs every step so often, as a platform that retries a task after its effect would. `lost` names handlers
    that never come back, as a state that times out. `started` are the executions' names in order, `drains` how
    many were asked for, `waiting` the seconds that an evaluation waits. `tasks` are the machines of tasks.
    """

    sqs: "SQSClient"
    queue_url: str
    context: object
    repeats: int = 1
    lost: frozenset[str] = frozenset()
    started: list[str] = field(default_factory=list)
    drains: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    tasks: TaskMachines = field(init=False)
    exceptions: type[_Exceptions] = _Exceptions
    _pending: deque[tuple[str, str, dict[str, Any]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """The machines of tasks, in a room of their own."""
        self.tasks = TaskMachines(context=self.context)

    def start_sync_execution(self, *, stateMachineArn: str, input: str) -> dict[str, Any]:  # noqa: A002, N803 - AWS's names
        """Verify, as the Express machine does."""
        assert stateMachineArn == "verify"
        state = json.loads(input)
        try:
            self._run("verify", verify.handler, state)
        except Exception as error:  # noqa: BLE001 - as States.ALL
            self._run("settle", settle.handler, {**state, "skip": _skipped(error)})
        return {"status": "SUCCEEDED"}

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
            machine, name, state = self._pending.popleft()
            if machine in TaskMachines.MACHINES:
                self.tasks.begin(machine, name, state)
            else:
                {"solve": self.solve, "evaluate": self.evaluate}[machine](state)

    def solve(self, state: dict[str, Any]) -> None:
        """The solve machine."""
        references = {"tenant": state["tenant"], "answer_id": state["answer_id"]}
        try:
            done = self._solved(references, has_image=state.get("has_image", False))
        except Exception as error:  # noqa: BLE001 - as States.ALL
            done = self._run("fail", fail.handler, {**references, "error": type(error).__name__})
            if done["stage"] != "finished":
                return
        if done["evaluate"]:
            self.start_execution(
                stateMachineArn="evaluate", name=f"{state['answer_id']}-1", input=json.dumps(references)
            )

    def evaluate(self, state: dict[str, Any]) -> None:
        """The evaluate machine, up to a wait."""
        outcome = self._run("evaluate", evaluate.handler, state)
        match outcome["state"]:
            case "waiting":
                self.waiting[state["answer_id"]] = outcome["wait_seconds"]
            case "deferred":
                self.sqs.send_message(
                    QueueUrl=self.queue_url,
                    MessageGroupId="deferred",
                    MessageDeduplicationId=outcome["request_id"],
                    MessageBody=json.dumps({**state, "request_id": outcome["request_id"]}),
                )

    def _solved(self, references: dict[str, Any], *, has_image: bool) -> dict[str, Any]:
        if has_image:
            self._run("read_image", read_image.handler, references)
        self._run("analyze", analyze.handler, references)
        skip: dict[str, Any] = {}
        if not self._run("retrieve", retrieve.handler, references)["found"]:
            number = 1
            for _ in range(MOST_STATES):
                self._run("solve", solve.handler, {**references, "number": number})
                try:
                    route = self._run("verify", verify.handler, {**references, "number": number})
                except Exception as error:  # noqa: BLE001 - as States.ALL
                    route, skip = {"route": "enrich"}, {"skip": _skipped(error)}
                if route["route"] != "retry":
                    break
                number = route["number"]
            else:
                raise AssertionError("the solve machine runs in a circle")
        return self._run("enrich", enrich.handler, {**references, **skip})

    def _run(self, name: str, handler: Handler, state: Mapping[str, Any]) -> dict[str, Any]:
        if name in self.lost:
            raise TimeoutError(name)
        said = [handler(state, self.context) for _ in range(self.repeats)]
        return said[0]


def _skipped(error: Exception) -> str:
    """Why a verification did not come back, by the error that ended it."""
    return "timed_out" if isinstance(error, TimeoutError) else "overloaded"
