"""What every step of the audit machine is given and returns: references and a word, never a text or a score."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit
from pydantic import BaseModel, ConfigDict

from functions.observability import logger, metrics, publishing
from functions.surfaces.step import told

if TYPE_CHECKING:
    from touchstone.operations.progress import StepProgress


class References(BaseModel):
    """Which audit, and which case of it where a step is about one; `run` names the execution."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    audit_id: str
    number: int = 0
    run: str = "1"


type Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def step(work: "Callable[[References], StepProgress]") -> Handler:
    """A Lambda handler that parses the references, does `work`, and says what comes next.

    Counts where steps led to, and why tries brought nothing.
    """
    called = work.__module__.rpartition(".")[2].capitalize()

    @publishing
    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
        references = References.model_validate(event)
        logger.append_keys(tenant=references.tenant, correlation_id=references.audit_id)
        progress = work(references)
        metrics.add_metric(name=f"Audit{called}_{progress.state}", unit=MetricUnit.Count, value=1)
        if progress.reason is not None:
            metrics.add_metric(name=f"PutBack_{progress.reason}", unit=MetricUnit.Count, value=1)
        return told(progress)

    return handler
