"""The metrics that the functions write, as alarms and the dashboard look at them."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

NAMESPACE = "Touchstone"
DIMENSIONS = {"service": "touchstone"}
"""As the functions write their metrics."""


def measured(name: str, period: Duration, statistic: str) -> cloudwatch.Metric:
    """A metric of the functions by a statistic of its values."""
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=DIMENSIONS, period=period, statistic=statistic
    )


def counted(name: str, period: Duration) -> cloudwatch.Metric:
    """How often something was counted in a period."""
    return measured(name, period, "Sum")


def computed(expression: str, label: str, period: Duration, **using: cloudwatch.Metric) -> cloudwatch.MathExpression:
    """What follows from metrics, which the expression names."""
    return cloudwatch.MathExpression(expression=expression, label=label, period=period, using_metrics=dict(using))
