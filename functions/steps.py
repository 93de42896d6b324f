"""The common part of all steps of state machines: references in, a word and a wait out, never a text or a score."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from functools import wraps
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from functions.composition.work import run
from functions.observability import count_step, logger, publishing
from touchstone.clock import system_clock

if TYPE_CHECKING:
    from touchstone.operations.jobs.context import StepProgress

SHORTEST_PAUSE_S = 1
"""The least seconds that a `waiting` step waits, so that no machine runs in a circle without a pause."""

type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]
type Work[P] = P | Coroutine[Any, Any, P]
"""The progress that a step returns, or a coroutine that returns it."""


class StepReferences(BaseModel):
    """The input of a step: the ids of a tenant's records, never their contents. `named_by` is the field with the id."""

    model_config = ConfigDict(frozen=True)

    named_by: ClassVar[str]

    tenant: str

    @property
    def about(self) -> str:
        """The id of the record that a step is about."""
        return str(getattr(self, self.named_by))

    @property
    def logged(self) -> dict[str, str]:
        """The fields that every log line of the step has."""
        return {"tenant": self.tenant, "correlation_id": self.about}


def references_handler[R: StepReferences](
    references_type: type[R],
) -> Callable[[Callable[[R], dict[str, Any]]], Handler]:
    """A decorator that makes a Lambda handler of a function of references.

    The handler parses the references from the event, and names them in every log line.
    """

    def made(work: Callable[[R], dict[str, Any]]) -> Handler:
        @publishing
        @wraps(work)
        def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
            references = references_type.model_validate(event)
            logger.append_keys(**references.logged)
            return work(references)

        return handler

    return made


def step_handler[R: StepReferences, C, P: StepProgress](
    references_type: type[R],
    context_of: Callable[[str], C],
    *,
    more: Callable[[P], dict[str, Any]] = lambda _: {},
    counted_as: str = "",
) -> Callable[[Callable[[C, R], Work[P]]], Handler]:
    """A decorator that makes a Lambda handler of a step, a function of its context and references.

    The step returns its progress. `more` gives what the machine is told besides the word and the wait. The handler
    counts the states that steps lead to, under `counted_as` and the step's name, and why tries brought nothing.
    """

    def made(work: Callable[[C, R], Work[P]]) -> Handler:
        called = counted_as + work.__name__.capitalize()

        @references_handler(references_type)
        @wraps(work)
        def handler(references: R) -> dict[str, Any]:
            found: Any = work(context_of(references.tenant), references)
            progress: P = run(found) if iscoroutine(found) else found
            count_step(called, progress.state, progress.reason)
            return step_output(progress) | more(progress)

        return handler

    return made


def step_output(progress: StepProgress) -> dict[str, Any]:
    """The word and the wait of a step, in the form that its machine reads."""
    least = SHORTEST_PAUSE_S if progress.state == "waiting" else 0
    return {"state": progress.state, "wait_seconds": max(least, seconds_until(progress.until))}


def list_output(progress: StepProgress) -> dict[str, Any]:
    """The key of the list that the machine's map state reads next; empty if there is no list."""
    return {} if progress.list_key is None else {"list_key": progress.list_key}


def seconds_until(moment: datetime | None) -> int:
    """The whole seconds, rounded up, until a moment (UTC); 0 if the moment is None or past.

    It is a duration, because the clock of a state machine may differ from this process's clock.
    """
    return 0 if moment is None else max(0, math.ceil((moment - system_clock()).total_seconds()))
