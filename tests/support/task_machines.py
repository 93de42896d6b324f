"""The machines of tasks, submissions and challenges in the process: the real handlers, led by what they say.

Follows `infra/state_machines/{task,submission,challenge}.asl.yaml` by hand, and leads the machines of other jobs too. A
machine runs until it is to wait; then it sleeps, until a test lets time pass and wakes it.
"""

import os
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from functions.oracle import close, compare, decide, draft, finalise, gate, rank, rescore, score
from tests.support.audit_machine import AuditMachine
from tests.support.quiz_machine import QuizMachine
from tests.support.surface_machines import SurfaceMachines
from touchstone.clock import OFFSET_VARIABLE

type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]
type State = Mapping[str, Any]
type Said = dict[str, Any]
type Run[T] = Generator[int, None, T]
"""An execution, which yields the seconds that it is to wait and goes on when it is asked for more."""
MOST_STEPS = 60
"""Steps of one execution; more mean that the machine runs in a circle."""


class LostError(Exception):
    """A step that never came back: the execution ends there, and nobody carries on what it carried."""


@dataclass(kw_only=True)
class TaskMachines:
    """The executions of a deployment's tasks, by name.

    `repeats` takes every step so often, as a platform that retries after the effect would. `lost` names steps that
    never come back. `said` is all that steps returned, in order, with the step's name. `asleep` are the executions
    that wait.
    """

    context: object
    repeats: int = 1
    lost: frozenset[str] = frozenset()
    said: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    asleep: dict[str, Run[None]] = field(default_factory=dict)

    MACHINES = ("task", "submission", "challenge", "measure", "experiment", "quiz", "audit")

    def begin(self, machine: str, name: str, state: State) -> None:
        """Run an execution to its first wait, or to its end."""
        runs = {
            "task": self._task,
            "submission": self._submission,
            "challenge": self._challenge,
            "measure": SurfaceMachines(self._step).measure,
            "experiment": SurfaceMachines(self._step).experiment,
            "quiz": QuizMachine(self._step).run,
            "audit": AuditMachine(self._step).run,
        }
        self._go_on(name, runs[machine](state))

    def wake(self, prefix: str = "") -> None:
        """Let the executions whose names begin so go on to their next waits."""
        for name in [name for name in self.asleep if name.startswith(prefix)]:
            self._go_on(name, self.asleep.pop(name))

    def _go_on(self, name: str, run: Run[None]) -> None:
        try:
            next(run)
        except StopIteration:
            return
        except LostError:
            return
        self.asleep[name] = run

    def _task(self, state: State) -> Run[None]:
        drafted = yield from self._until_done("draft", draft.handler, state)
        if drafted["state"] != "open":
            return
        yield from _asleep(drafted)
        closing = {**state, "deadline": drafted["deadline"]}
        word = yield from self._until_done("close", close.handler, closing)
        word = yield from self._compared(word, state, ("rank", rank.handler))
        while word["state"] == "challenge":
            yield from _asleep(word)
            word = self._step("finalise", finalise.handler, state)

    def _submission(self, state: State) -> Run[None]:
        gated = yield from self._until_done("gate", gate.handler, state)
        if gated["state"] == "gate_passed":
            yield from self._until_done("score", score.handler, state)

    def _challenge(self, state: State) -> Run[None]:
        scored = yield from self._until_done("rescore", rescore.handler, state)
        if scored["state"] == "deciding":
            scored = self._step("decide", decide.handler, state)
        yield from self._compared(scored, state, ("decide", decide.handler))

    def _compared(self, word: Said, state: State, then: tuple[str, Handler]) -> Run[Said]:
        while word["state"] == "comparing":
            for dimension in word["dimensions"]:
                yield from self._until_done("compare", compare.handler, {**state, "dimension": dimension})
            word = self._step(*then, state)
        return word

    def _until_done(self, name: str, handler: Handler, state: State) -> Run[Said]:
        for _ in range(MOST_STEPS):
            said = self._step(name, handler, state)
            if said["state"] != "waiting":
                return said
            yield from _asleep(said)
        raise AssertionError(f"{name} runs in a circle")

    def _step(self, name: str, handler: Handler, state: State) -> Said:
        if name in self.lost:
            raise LostError(name)
        said = [handler(state, self.context) for _ in range(self.repeats)]
        self.said += [(name, one) for one in said]
        return said[-1]


def _asleep(said: Said) -> Run[None]:
    if said["wait_seconds"]:
        yield said["wait_seconds"]


def later(seconds: float) -> None:
    """Let the functions' clock go ahead, in a test that puts the environment back."""
    os.environ[OFFSET_VARIABLE] = str(float(os.environ.get(OFFSET_VARIABLE, "0")) + seconds)
