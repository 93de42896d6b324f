"""The sweep: takes up or ends what a crash left behind, and measures the backlog for the alarms."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit

from functions.composition import tasks
from functions.composition.work import sweep
from functions.observability import count_verdict, metrics, publishing


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep once."""
    swept = sweep().run()
    swept_tasks = tasks.sweep().run()
    metrics.add_metric(name="Backlog", unit=MetricUnit.Count, value=swept.backlog.count)
    metrics.add_metric(name="OldestDeferredAge", unit=MetricUnit.Seconds, value=swept.oldest_seconds)
    metrics.add_metric(name="Restarted", unit=MetricUnit.Count, value=swept.restarted + swept_tasks.restarted)
    metrics.add_metric(name="Stuck", unit=MetricUnit.Count, value=swept.stuck + swept_tasks.stuck)
    for record in swept.ended:
        count_verdict(record)
    return {
        "backlog": swept.backlog.count,
        "restarted": swept.restarted + swept_tasks.restarted,
        "resent": swept.resent,
        "ended": len(swept.ended),
        "stuck": swept.stuck + swept_tasks.stuck,
        "events_sent": swept_tasks.sent,
    }
