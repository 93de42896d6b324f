"""What an operator looks at in CloudWatch: the figures of the pages' first view, of all tenants, and what broke off."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.constructs.api import Api
from infra.constructs.figures import computed, counted, measured
from infra.constructs.machine import Machine
from infra.constructs.queries import BY_STATUS, QUERIES, UNDECIDED, Queries
from infra.constructs.queues import Queues

HOUR = Duration.hours(1)
WIDTH = 8
"""Three graphs in a row of 24."""


class Dashboard(Construct):
    """One dashboard: what came and what became of it, what it cost, what waits, and what broke off."""

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
    """A saved query, asked when somebody looks."""
    return cloudwatch.LogQueryWidget(
        title=name, log_group_names=queries.log_groups, query_string=QUERIES[name], view=view, width=WIDTH
    )
