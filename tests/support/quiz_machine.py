"""The machine of quizzes in the process: the real handlers, led by what they say.

Follows `infra/state_machines/quiz.asl.yaml` by hand. A step that breaks off leads to the end, as its Catch does; where
that breaks off too, nobody carries the quiz any more.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from functions.quizzes import evaluate, finish, generate, retrieve, validate, weakness

type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]
type State = Mapping[str, Any]
type Said = dict[str, Any]

MOST_STEPS = 20
"""Steps of one execution; more mean that the machine runs in a circle."""
HANDLERS: dict[str, Handler] = {
    "generate": generate.handler,
    "validate": validate.handler,
    "evaluate": evaluate.handler,
}
LEADS: dict[str, frozenset[str]] = {
    "weakness": frozenset({"generate", "validate", "evaluate"}),
    "generate": frozenset({"validate"}),
    "validate": frozenset({"evaluate", "generate"}),
    "evaluate": frozenset({"generate"}),
}
"""Where the choice after each step may lead; all else leads to the end."""


@dataclass(frozen=True, slots=True)
class QuizMachine:
    """Runs an execution by `step`, which calls a handler by its name."""

    step: Callable[[str, Handler, State], Said]

    def run(self, state: State) -> Generator[int]:
        """An execution, which yields the seconds that it is to wait."""
        with suppress(Exception):  # as States.ALL, whose catch leads to the end as well
            yield from self._led(state)
        self.step("finish", finish.handler, state)

    def _led(self, state: State) -> Generator[int]:
        self.step("retrieve", retrieve.handler, state)
        at, said = "weakness", self.step("weakness", weakness.handler, state)
        for _ in range(MOST_STEPS):
            word = said["state"]
            if word == "waiting" and at in {"generate", "evaluate"}:
                yield said["wait_seconds"]
            elif word in LEADS[at]:
                at = word
            else:
                return
            said = self.step(at, HANDLERS[at], state)
        raise AssertionError("the quiz machine runs in a circle")
