"""Which record of a job is meant: one class for every kind, so that stores, machines and sweeps speak of all alike."""

from dataclasses import dataclass
from typing import Literal

type JobKind = Literal[
    "answer", "task", "submission", "challenge", "measurement", "quiz", "experiment", "audit", "provider_batch"
]


@dataclass(frozen=True, slots=True)
class Reference:
    """A record of a tenant. `task_id` is the task of a submission or challenge, empty for every other kind."""

    tenant: str
    kind: JobKind
    id: str
    task_id: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """What a state machine is told: the tenant, and each id under its kind's name."""
        task = {"task_id": self.task_id} if self.task_id else {}
        return {"tenant": self.tenant, **task, f"{self.kind}_id": self.id}


def submission_name(task_id: str, submission_id: str) -> str:
    """A submission's name among all records of its tenant, as its labels and its trace have it."""
    return f"{task_id}.{submission_id}"
