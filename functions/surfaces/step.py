"""What every step of the machines of measurements and experiments is given."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from functions import steps
from touchstone.surfaces.model import MetricName

if TYPE_CHECKING:
    from touchstone.operations.progress import StepProgress


class MetricReferences(BaseModel):
    """Which measurement, and which metric of it."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    measurement_id: str
    metric: MetricName


class ExperimentReferences(BaseModel):
    """Which experiment, and which pair of it where a step is about one; `run` names the execution."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    experiment_id: str
    number: int = 0
    run: str = "1"


def of_metric(work: "Callable[[MetricReferences], StepProgress]") -> steps.Handler:
    """What makes a Lambda handler of a step of a measurement."""
    return steps.step(MetricReferences, work, named=_measurement)


def of_experiment(work: "Callable[[ExperimentReferences], StepProgress]") -> steps.Handler:
    """What makes a Lambda handler of a step of an experiment."""
    return steps.step(ExperimentReferences, work, named=_experiment, more=steps.listed)


def _measurement(references: MetricReferences) -> dict[str, str]:
    return {"tenant": references.tenant, "correlation_id": references.measurement_id}


def _experiment(references: ExperimentReferences) -> dict[str, str]:
    return {"tenant": references.tenant, "correlation_id": references.experiment_id}
