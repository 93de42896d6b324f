"""What every step of the quiz machine is given and returns: references and a word, never a text."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit
from pydantic import BaseModel, ConfigDict

from functions.observability import logger, metrics, publishing
from functions.surfaces.step import told

if TYPE_CHECKING:
    from touchstone.operations.progress import StepProgress


class References(BaseModel):
    """Which quiz."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    quiz_id: str


type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def references_of(event: Mapping[str, Any]) -> References:
    """What a step is about, named in every log line from now on."""
    references = References.model_validate(event)
    logger.append_keys(tenant=references.tenant, correlation_id=references.quiz_id)
    return references


def step(work: "Callable[[References], StepProgress]") -> Handler:
    """A Lambda handler that parses the references, does `work`, and says what comes next.

    Counts what followed on steps, and why tries brought nothing.
    """
    called = work.__module__.rpartition(".")[2].capitalize()

    @publishing
    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        progress = work(references_of(event))
        metrics.add_metric(name=f"Quiz{called}_{progress.state}", unit=MetricUnit.Count, value=1)
        if progress.reason is not None:
            metrics.add_metric(name=f"PutBack_{progress.reason}", unit=MetricUnit.Count, value=1)
        return told(progress)

    return handler
