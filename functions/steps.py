"""What every step of a state machine has in common: references in, a word and a wait out, never a text or a score."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from functools import wraps
from inspect import iscoroutine
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from functions.composition.work import run
from functions.observability import count_step, logger, publishing
from touchstone.clock import system_clock

SHORTEST_PAUSE_S = 1
"""So that no machine runs in a circle without a pause."""

type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]
type Work[P] = P | Coroutine[Any, Any, P]
"""What a step comes to, at once or once it is awaited."""


class StepReferences(BaseModel, ABC):
    """What a step is told: ids of a tenant's records, never their bodies."""

    model_config = ConfigDict(frozen=True)

    tenant: str

    @property
    @abstractmethod
    def about(self) -> str:
        """The id of the record that a step is about."""

    @property
    def logged(self) -> dict[str, str]:
        """What every log line of the step says."""
        return {"tenant": self.tenant, "correlation_id": self.about}


class ReportedProgress(Protocol):
    """How far a step came: a word that its machine chooses by, until when to wait, and why a try brought nothing."""

    @property
    def state(self) -> str: ...

    @property
    def until(self) -> datetime | None: ...

    @property
    def reason(self) -> str | None: ...


def parsing[R: StepReferences](taken: type[R]) -> Callable[[Callable[[R], dict[str, Any]]], Handler]:
    """What makes a Lambda handler of a function of references, which are parsed and named in every log line."""

    def made(work: Callable[[R], dict[str, Any]]) -> Handler:
        @publishing
        @wraps(work)
        def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
            references = taken.model_validate(event)
            logger.append_keys(**references.logged)
            return work(references)

        return handler

    return made


def stepping[R: StepReferences, C, P: ReportedProgress](
    taken: type[R],
    context_of: Callable[[str], C],
    *,
    more: Callable[[P], dict[str, Any]] = lambda _: {},
    counted_as: str = "",
) -> Callable[[Callable[[C, R], Work[P]]], Handler]:
    """What makes a Lambda handler of a step, which is given its context and references and says how far it is.

    `more` is what a machine is told beyond a word and a wait. It counts where steps led to, under `counted_as` and the
    name of the step, and why tries brought nothing.
    """

    def made(work: Callable[[C, R], Work[P]]) -> Handler:
        called = counted_as + work.__name__.capitalize()

        @parsing(taken)
        @wraps(work)
        def handler(references: R) -> dict[str, Any]:
            found: Any = work(context_of(references.tenant), references)
            progress: P = run(found) if iscoroutine(found) else found
            count_step(called, progress.state, progress.reason)
            return told(progress) | more(progress)

        return handler

    return made


def told(progress: ReportedProgress) -> dict[str, Any]:
    """A step's word and wait, as its machine takes them."""
    least = SHORTEST_PAUSE_S if progress.state == "waiting" else 0
    return {"state": progress.state, "wait_seconds": max(least, seconds_until(progress.until))}


def listed(progress: Any) -> dict[str, Any]:
    """The key of the list that a machine's map reads next, where there is one."""
    return {} if progress.list_key is None else {"list_key": progress.list_key}


def seconds_until(moment: datetime | None) -> int:
    """What a machine is to wait until a moment (UTC): whole seconds, rounded up; 0 for none and for one gone by.

    A duration, since a machine's clock need not be ours.
    """
    return 0 if moment is None else max(0, math.ceil((moment - system_clock()).total_seconds()))
