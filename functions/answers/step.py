"""What every step of a state machine is given: references to a record, never its body."""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from functions.observability import logger, publishing
from touchstone.answers.model import SkipReason
from touchstone.clock import system_clock


class Step(BaseModel):
    """References to one tenant's answer.

    `number` is the attempt that SOLVE is to make, or that was made. `skip` says why a verification did not come back,
    `error` which fault ended the way to an answer; both None where all went well.
    """

    model_config = ConfigDict(frozen=True)

    tenant: str
    answer_id: str
    number: int = 1
    deadline_epoch_ms: int | None = None
    skip: SkipReason | None = None
    error: str | None = None


def seconds_until(moment: datetime | None) -> int:
    """What a machine is to wait until a moment (UTC): whole seconds, rounded up; 0 for none and for one gone by.

    A duration, since a machine's clock need not be ours.
    """
    return 0 if moment is None else max(0, math.ceil((moment - system_clock()).total_seconds()))


type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def step(work: Callable[[Step], dict[str, Any]]) -> Handler:
    """A Lambda handler that parses the references, names them in every log line, does `work`, and publishes counts."""

    @publishing
    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        references = Step.model_validate(event)
        logger.append_keys(tenant=references.tenant, correlation_id=references.answer_id)
        return work(references)

    return handler
