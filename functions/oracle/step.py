"""What every step of the task machines is given and returns: references and a word, never a text or a score."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit
from pydantic import BaseModel, ConfigDict

from functions.observability import logger, metrics, publishing
from functions.pauses import seconds_until

if TYPE_CHECKING:
    from touchstone.operations.tasks.desk import Progress
    from touchstone.oracle.submission import SubmissionRef


SHORTEST_PAUSE_S = 1
"""So that no machine runs in a circle without a pause."""


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
    def submission(self) -> "SubmissionRef":
        """The submission that a step is about."""
        from touchstone.oracle.submission import SubmissionRef

        return SubmissionRef(tenant=self.tenant, task_id=self.task_id, submission_id=self.submission_id or "")


type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def step(work: "Callable[[References], Progress]") -> Handler:
    """A Lambda handler that parses the references, names them in every log line, does `work`, and says how far it is.

    Counts where steps led to, and why tries brought nothing.
    """
    called = work.__module__.rpartition(".")[2].capitalize()

    @publishing
    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        references = References.model_validate(event)
        about = references.challenge_id or references.submission_id or references.task_id
        logger.append_keys(tenant=references.tenant, correlation_id=about, task_id=references.task_id)
        progress = work(references)
        metrics.add_metric(name=f"{called}_{progress.state}", unit=MetricUnit.Count, value=1)
        if progress.reason is not None:
            metrics.add_metric(name=f"PutBack_{progress.reason}", unit=MetricUnit.Count, value=1)
        return told(progress)

    return handler


def told(progress: "Progress") -> dict[str, Any]:
    """A step's progress as its machine takes it."""
    least = SHORTEST_PAUSE_S if progress.state == "waiting" else 0
    said: dict[str, Any] = {"state": progress.state, "wait_seconds": max(least, seconds_until(progress.until))}
    if progress.dimensions:
        said["dimensions"] = list(progress.dimensions)
    if progress.deadline is not None:
        said["deadline"] = progress.deadline.isoformat()
    return said
