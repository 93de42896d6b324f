"""What every step of the task machines is given."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from functions import steps

if TYPE_CHECKING:
    from touchstone.operations.tasks.desk import Progress
    from touchstone.references import Reference


class References(BaseModel):
    """Which task, and which part of it where the step is about one."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    task_id: str
    submission_id: str | None = None
    challenge_id: str | None = None
    dimension: str | None = None
    deadline: datetime | None = None

    @property
    def submission(self) -> "Reference":
        """The submission that a step is about."""
        from touchstone.references import Reference

        return Reference(self.tenant, "submission", self.submission_id or "", self.task_id)


def step(work: "Callable[[References], Progress]") -> steps.Handler:
    """What makes a Lambda handler of the work of a step."""
    return steps.step(References, work, named=_named, more=_more)


def _named(references: References) -> dict[str, str]:
    about = references.challenge_id or references.submission_id or references.task_id
    return {"tenant": references.tenant, "correlation_id": about, "task_id": references.task_id}


def _more(progress: "Progress") -> dict[str, Any]:
    dimensions = {"dimensions": list(progress.dimensions)} if progress.dimensions else {}
    return dimensions | ({} if progress.deadline is None else {"deadline": progress.deadline.isoformat()})
