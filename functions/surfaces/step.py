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
    """Of which tenant; a step's own references say which record."""

    model_config = ConfigDict(frozen=True)

    tenant: str

    @property
    def about(self) -> str:
        """The id of the record that a step is about."""
        raise NotImplementedError


class MetricReferences(References):
    """Which measurement, and which metric of it."""

    measurement_id: str
    metric: MetricName

    @property
    def about(self) -> str:
        """The measurement."""
        return self.measurement_id


class ExperimentReferences(References):
    """Which experiment, and which pair of it where a step is about one; `run` names the execution."""

    experiment_id: str
    number: int = 0
    run: str = "1"

    @property
    def about(self) -> str:
        """The experiment."""
        return self.experiment_id


type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def step[R: References](taken: type[R]) -> "Callable[[Callable[[R], StepProgress]], Handler]":
    """What makes a Lambda handler of some work that takes such references.

    The handler parses them, names them in every log line, does the work, and says how far it is. It counts where steps
    led to, and why tries brought nothing.
    """

    def made(work: "Callable[[R], StepProgress]") -> Handler:
        called = work.__module__.rpartition(".")[2].capitalize()

        @publishing
        def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
            references = taken.model_validate(event)
            logger.append_keys(tenant=references.tenant, correlation_id=references.about)
            progress = work(references)
            metrics.add_metric(name=f"{called}_{progress.state}", unit=MetricUnit.Count, value=1)
            if progress.reason is not None:
                metrics.add_metric(name=f"PutBack_{progress.reason}", unit=MetricUnit.Count, value=1)
            return told(progress)

        return handler

    return made


def told(progress: "StepProgress") -> dict[str, Any]:
    """A step's progress as its machine takes it."""
    least = SHORTEST_PAUSE_S if progress.state == "waiting" else 0
    said: dict[str, Any] = {"state": progress.state, "wait_seconds": max(least, seconds_until(progress.until))}
    return said | ({"list_key": progress.list_key} if progress.list_key is not None else {})
