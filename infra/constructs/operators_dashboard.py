"""The CloudWatch dashboard for operators: the main figures of the web pages, for all tenants, and broken executions."""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.api import Api
from infra.constructs.function import Function
from infra.constructs.machine import Machine
from infra.constructs.queues import Queues

NAMESPACE = "Touchstone"
DIMENSIONS = {"service": "touchstone"}
"""The dimensions with which the functions write their metrics."""


def measured(name: str, period: Duration, statistic: str) -> cloudwatch.Metric:
    """A metric that the functions write, as a statistic of its values in each period."""
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=DIMENSIONS, period=period, statistic=statistic
    )


def counted(name: str, period: Duration) -> cloudwatch.Metric:
    """The number of times that something was counted in each period."""
    return measured(name, period, "Sum")


def computed(expression: str, label: str, period: Duration, **using: cloudwatch.Metric) -> cloudwatch.MathExpression:
    """A value computed from metrics. The keywords are the names of the metrics in the expression."""
    return cloudwatch.MathExpression(expression=expression, label=label, period=period, using_metrics=dict(using))


BY_STATUS = "Answers by status"
UNDECIDED = "Why nobody decided"
QUERIES: Mapping[str, str] = {
    BY_STATUS: 'filter message = "answer" | stats sum(verified) as verified_, sum(unverified) as unverified_,'
    " sum(caution) as caution_, sum(failed) as failed_ by bin(1h)",
    UNDECIDED: 'filter message = "undecided" | stats count(*) as times by reason | sort times desc',
    "Judges by model": 'filter message = "judge" | stats count(*) as calls, pct(latency_ms, 50) as median_ms,'
    " pct(latency_ms, 95) as slow_ms, sum(tokens) as tokens_, sum(cost_micro_usd) / 1000000 as usd"
    " by provider, model, purpose | sort usd desc",
    "Steps by where they led": 'filter message = "step" | stats count(*) as times by step, state | sort step',
    "Quizzes": 'filter message = "quiz" | stats count(*) as quizzes, avg(attempts) as attempts_ by state',
    "Sweeps and drains": 'filter message in ["swept", "drained"] | stats sum(restarted) as restarted_,'
    " sum(finished) as finished_, sum(put_back) as put_back_ by bin(1h)",
}
"""Saved queries by name. The result names in a query differ from the field names in the logs, so that each name is read
as what it is."""


class Queries(Construct):
    """The saved queries, over the logs of all functions."""

    def __init__(self, scope: Construct, construct_id: str, *, functions: Sequence[Function]) -> None:
        super().__init__(scope, construct_id)
        self.log_groups = [function.log_group.log_group_name for function in functions]
        for number, (name, text) in enumerate(QUERIES.items(), 1):
            logs.CfnQueryDefinition(
                self, f"Query{number}", name=f"Touchstone/{name}", query_string=text, log_group_names=self.log_groups
            )


HOUR = Duration.hours(1)
WIDTH = 8
"""The width of a graph: three graphs fill a row of 24."""


class Dashboard(Construct):
    """One dashboard: the requests and their outcomes, the costs, the waiting work, and the executions that failed."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        api: Api,
        machines: Sequence[Machine],
        queues: Queues,
        queries: Queries,
    ) -> None:
        super().__init__(scope, construct_id)
        dashboard = cloudwatch.Dashboard(self, "Board", default_interval=Duration.days(7))
        dashboard.add_widgets(*self._of_answers(queries))
        dashboard.add_widgets(*self._of_work(queues))
        dashboard.add_widgets(*self._of_parts(api, machines))

    def _of_answers(self, queries: Queries) -> list[cloudwatch.IWidget]:
        dollars = computed("micros / 1000000", "US dollars", HOUR, micros=counted("CostMicroUsd", HOUR))
        return [
            _asked(BY_STATUS, queries, cloudwatch.LogQueryVisualizationType.LINE),
            _graph("Spent on judges", dollars),
            _asked(UNDECIDED, queries, cloudwatch.LogQueryVisualizationType.TABLE),
        ]

    def _of_work(self, queues: Queues) -> list[cloudwatch.IWidget]:
        days = computed("seconds / 86400", "Oldest, days", HOUR, seconds=measured("OldestDeferredAge", HOUR, "Maximum"))
        waiting = queues.intake.metric_approximate_number_of_messages_visible(period=HOUR, label="Intake")
        dead = queues.dead_letters.metric_approximate_number_of_messages_visible(period=HOUR, label="Dead letters")
        return [
            _graph("Deferred evaluations", measured("Backlog", HOUR, "Maximum"), days),
            _graph("Stuck records", measured("Stuck", HOUR, "Maximum")),
            _graph("Messages that wait", waiting, dead),
        ]

    def _of_parts(self, api: Api, machines: Sequence[Machine]) -> list[cloudwatch.IWidget]:
        broken = [one.machine.metric_failed(period=HOUR, statistic="Sum", label=one.name) for one in machines]
        functions = [
            cloudwatch.Metric(namespace="AWS/Lambda", metric_name=name, period=HOUR, statistic=statistic)
            for name, statistic in (("ConcurrentExecutions", "Maximum"), ("Throttles", "Sum"), ("Errors", "Sum"))
        ]
        errors = [api.metric(name, HOUR, "Sum") for name in ("Count", "4xx", "5xx")]
        return [
            _graph("Executions that failed", *broken),
            _graph("Functions of the account", *functions),
            _graph("Requests to the API", *errors),
        ]


def _graph(title: str, *metrics: cloudwatch.IMetric) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=WIDTH)


def _asked(name: str, queries: Queries, view: cloudwatch.LogQueryVisualizationType) -> cloudwatch.LogQueryWidget:
    """A widget with a saved query, which is run when somebody opens the dashboard."""
    return cloudwatch.LogQueryWidget(
        title=name, log_group_names=queries.log_groups, query_string=QUERIES[name], view=view, width=WIDTH
    )
