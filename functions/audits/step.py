"""What every step of the audit machine is given."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from functions import steps

if TYPE_CHECKING:
    from touchstone.operations.progress import StepProgress


class References(BaseModel):
    """Which audit, and which case of it where a step is about one; `run` names the execution."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    audit_id: str
    number: int = 0
    run: str = "1"


def _named(references: References) -> dict[str, str]:
    return {"tenant": references.tenant, "correlation_id": references.audit_id}


def step(work: "Callable[[References], StepProgress]") -> steps.Handler:
    """What makes a Lambda handler of the work of a step."""
    return steps.step(References, work, named=_named, more=steps.listed, counted_as="Audit")
