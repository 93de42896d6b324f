"""What every step of a state machine has in common: references in, a word and a wait out, never a text or a score."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from pydantic import BaseModel

from functions.observability import count_step, logger, publishing
from functions.pauses import seconds_until

SHORTEST_PAUSE_S = 1
"""So that no machine runs in a circle without a pause."""

type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


class Progress(Protocol):
    """How far a step came: a word that its machine chooses by, until when to wait, and why a try brought nothing."""

    @property
    def state(self) -> str: ...

    @property
    def until(self) -> datetime | None: ...

    @property
    def reason(self) -> str | None: ...


def parsed[R: BaseModel](taken: type[R], named: Callable[[R], Mapping[str, str]], event: Mapping[str, Any]) -> R:
    """The references of an event, named in every log line from now on."""
    references = taken.model_validate(event)
    logger.append_keys(**named(references))
    return references


def step[R: BaseModel, P: Progress](
    taken: type[R],
    work: Callable[[R], P],
    *,
    named: Callable[[R], Mapping[str, str]],
    more: Callable[[P], dict[str, Any]] = lambda progress: {},  # noqa: ARG005 - most machines are told no more
    counted_as: str = "",
) -> Handler:
    """A Lambda handler that parses what is `taken`, does `work`, and says how far it is.

    `named` is what every log line says of the references, `more` what a machine is told beyond a word and a wait. It
    counts where steps led to, under `counted_as` and the name of the module, and why tries brought nothing.
    """
    called = counted_as + work.__module__.rpartition(".")[2].capitalize()

    @publishing
    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        progress = work(parsed(taken, named, event))
        count_step(called, progress.state, progress.reason)
        return told(progress) | more(progress)

    return handler


def told(progress: Progress) -> dict[str, Any]:
    """A step's word and wait, as its machine takes them."""
    least = SHORTEST_PAUSE_S if progress.state == "waiting" else 0
    return {"state": progress.state, "wait_seconds": max(least, seconds_until(progress.until))}


def listed(progress: Any) -> dict[str, Any]:
    """The key of the list that a machine's map reads next, where there is one."""
    return {} if progress.list_key is None else {"list_key": progress.list_key}
