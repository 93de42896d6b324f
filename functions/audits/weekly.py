"""WEEKLY: begins the audits that are made again each week."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit

from functions.composition.audits import weekly
from functions.observability import metrics, publishing


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Begin what is due."""
    begun = weekly().run()
    metrics.add_metric(name="WeeklyAudits", unit=MetricUnit.Count, value=begun.restarted)
    metrics.add_metric(name="Stuck", unit=MetricUnit.Count, value=begun.stuck)
    return {"begun": begun.restarted, "stuck": begun.stuck}
