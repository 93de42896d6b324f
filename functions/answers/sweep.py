"""The sweep: takes up what a crash left behind, and measures the backlog for the alarms."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit

from functions.composition import sweep
from functions.observability import metrics


@metrics.log_metrics
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep once."""
    swept = sweep().run()
    oldest = swept.backlog.oldest_requested_at
    age = 0.0 if oldest is None else (datetime.now(UTC) - oldest).total_seconds()
    metrics.add_metric(name="Backlog", unit=MetricUnit.Count, value=swept.backlog.count)
    metrics.add_metric(name="OldestDeferredAge", unit=MetricUnit.Seconds, value=max(0.0, age))
    metrics.add_metric(name="Restarted", unit=MetricUnit.Count, value=swept.restarted)
    return {"backlog": swept.backlog.count, "restarted": swept.restarted, "resent": swept.resent}
