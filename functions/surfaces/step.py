"""What every step of the surfaces' machines is given and returns: references and a word, never a text or a score."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit
from pydantic import BaseModel, ConfigDict

from functions.observability import logger, metrics, publishing
from functions.pauses import seconds_until
from touchstone.surfaces.model import MetricName

if TYPE_CHECKING:
    from touchstone.operations.progress import StepProgress

SHORTEST_PAUSE_S = 1
"""So that no machine runs in a circle without a pause."""


class References(BaseModel):
    """Which measurement, and which metric of it."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    measurement_id: str
    metric: MetricName


type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def step(work: "Callable[[References], StepProgress]") -> Handler:
    """A Lambda handler that parses the references, names them in every log line, does `work`, and says how far it is.

    Counts where steps led to, and why tries brought nothing.
    """
    called = work.__module__.rpartition(".")[2].capitalize()

    @publishing
    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        references = References.model_validate(event)
        logger.append_keys(tenant=references.tenant, correlation_id=references.measurement_id)
        progress = work(references)
        metrics.add_metric(name=f"{called}_{progress.state}", unit=MetricUnit.Count, value=1)
        if progress.reason is not None:
            metrics.add_metric(name=f"PutBack_{progress.reason}", unit=MetricUnit.Count, value=1)
        return told(progress)

    return handler


def told(progress: "StepProgress") -> dict[str, Any]:
    """A step's progress as its machine takes it."""
    least = SHORTEST_PAUSE_S if progress.state == "waiting" else 0
    return {"state": progress.state, "wait_seconds": max(least, seconds_until(progress.until))}
