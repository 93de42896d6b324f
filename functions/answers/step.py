"""What every step of a state machine is given: references to a record, never its body."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from functions.observability import publishing
from functions.steps import Handler, parsed
from touchstone.answers.model import SkipReason


class Step(BaseModel):
    """References to one tenant's answer.

    `number` is the attempt that SOLVE is to make, or that was made. `skip` says why a verification did not come back,
    `error` which fault ended the way to an answer; both None where all went well.
    """

    model_config = ConfigDict(frozen=True)

    tenant: str
    answer_id: str
    number: int = 1
    skip: SkipReason | None = None
    error: str | None = None


def step(work: Callable[[Step], dict[str, Any]]) -> Handler:
    """A Lambda handler that parses the references, names them in every log line, does `work`, and publishes counts."""

    @publishing
    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        return work(parsed(Step, _named, event))

    return handler


def _named(references: Step) -> dict[str, str]:
    return {"tenant": references.tenant, "correlation_id": references.answer_id}
