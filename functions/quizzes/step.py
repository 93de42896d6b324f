"""What every step of the quiz machine is given."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from functions import steps

if TYPE_CHECKING:
    from touchstone.operations.progress import StepProgress


class References(BaseModel):
    """Which quiz."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    quiz_id: str


def references_of(event: Mapping[str, Any]) -> References:
    """What a step is about, named in every log line from now on."""
    return steps.parsed(References, _named, event)


def _named(references: References) -> dict[str, str]:
    return {"tenant": references.tenant, "correlation_id": references.quiz_id}


def step(work: "Callable[[References], StepProgress]") -> steps.Handler:
    """What makes a Lambda handler of the work of a step."""
    return steps.step(References, work, named=_named, counted_as="Quiz")
