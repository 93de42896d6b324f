"""References to the records of jobs: one class for all kinds, so that stores, machines and sweeps treat all alike."""

from dataclasses import dataclass
from typing import Literal

type JobKind = Literal[
    "answer", "task", "submission", "challenge", "measurement", "quiz", "experiment", "audit", "provider_batch"
]


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a tenant's record. `task_id` is the task of a submission or challenge, empty otherwise."""

    tenant: str
    kind: JobKind
    id: str
    task_id: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The input of a state machine: the tenant, and each id under the name of its kind."""
        task = {"task_id": self.task_id} if self.task_id else {}
        return {"tenant": self.tenant, **task, f"{self.kind}_id": self.id}

    @property
    def task(self) -> "Reference":
        """The reference to the task of a submission or challenge."""
        return Reference(self.tenant, "task", self.task_id)


def submission_name(task_id: str, submission_id: str) -> str:
    """A submission's name among all records of its tenant, as its labels and its trace use it."""
    return f"{task_id}.{submission_id}"
