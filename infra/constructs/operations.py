"""Who is told when something goes wrong: alarms on what loses data, on what waits too long, on judges that fail."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.constructs.api import Api
from infra.constructs.machine import Machine
from infra.constructs.queues import Queues
from infra.settings import Settings

NAMESPACE = "Touchstone"
DIMENSIONS = {"service": "touchstone"}
"""As the functions write their metrics."""
OLDEST_DEFERRED = Duration.days(10)
"""Four days before the queue forgets a message; the record remains, but the backlog is not being worked off."""
SKIP_PERCENT = 25
"""A quarter of the answers unverified within an hour: a judge is down, misconfigured or out of quota."""
SKIP_SAMPLE = 8
"""Answers an hour below which a percentage says nothing."""


class Operations(Construct):
    """The topic, and the alarms that write to it. `machines` are those whose work the sweep takes up, by what they
    carry."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        api: Api,
        machines: Mapping[str, Machine],
        queues: Queues,
        settings: Settings,
    ) -> None:
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(self, "Alarms", display_name="Touchstone alarms", enforce_ssl=not settings.local)
        if settings.alarm_email:
            self.topic.add_subscription(subscriptions.EmailSubscription(settings.alarm_email))
        self._alarm(
            "DeadLetters",
            "Messages that could not be processed wait in the dead-letter queue",
            queues.dead_letters.metric_approximate_number_of_messages_visible(
                period=Duration.minutes(5), statistic="Maximum"
            ),
            above=0,
        )
        self._alarm(
            "OldestDeferred",
            "The oldest deferred evaluation is ten days old: the drain does not keep up",
            # The sweep's measure of the records, not the queue's of its messages: it sees past the fourteen days.
            cloudwatch.Metric(
                namespace=NAMESPACE,
                metric_name="OldestDeferredAge",
                dimensions_map=DIMENSIONS,
                period=Duration.hours(1),
                statistic="Maximum",
            ),
            above=OLDEST_DEFERRED.to_seconds(),
        )
        if not settings.local:  # a local cloud computes no metric maths, and nobody sleeps beside it
            self._alarm(
                "SkipRate", "Too many answers of the last hour are unverified", self._skip_rate(), above=SKIP_PERCENT
            )
            self._alarm(
                "Misconfigured",
                "A judge is asked in vain: it has no key or a wrong one, or its model is unknown or retired",
                self._misconfigured(),
                above=0,
            )
        for name, machine in machines.items():
            self._alarm(
                f"{name}Interrupted",
                f"Executions of the {name.lower()} machine break off: what they carry waits for the sweep each time",
                machine.machine.metric_failed(period=Duration.hours(1), statistic="Sum"),
                above=2,
            )
        self._alarm(
            "ServerErrors",
            "The API answered with 5xx",
            cloudwatch.Metric(
                namespace="AWS/ApiGateway",
                metric_name="5xx",
                dimensions_map={"ApiId": api.api.api_id},
                period=Duration.minutes(5),
                statistic="Sum",
            ),
            above=0,
        )

    def _skip_rate(self) -> cloudwatch.MathExpression:
        hour = Duration.hours(1)
        return cloudwatch.MathExpression(
            expression=f"IF(answers >= {SKIP_SAMPLE}, 100 * unverified / answers, 0)",
            using_metrics={"answers": _count("Answers", hour), "unverified": _count("Status_unverified", hour)},
            label="Unverified answers, percent",
            period=hour,
        )

    def _misconfigured(self) -> cloudwatch.MathExpression:
        quarter = Duration.minutes(15)
        return cloudwatch.MathExpression(
            expression="FILL(skipped, 0) + FILL(put_back, 0)",
            using_metrics={
                "skipped": _count("Skip_misconfigured", quarter),
                "put_back": _count("PutBack_misconfigured", quarter),
            },
            label="Verifications and evaluations that no judge was configured for",
            period=quarter,
        )

    def _alarm(self, construct_id: str, what: str, metric: cloudwatch.IMetric, *, above: float) -> None:
        alarm = cloudwatch.Alarm(
            self,
            construct_id,
            alarm_description=what,
            metric=metric,
            threshold=above,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))


def _count(name: str, period: Duration) -> cloudwatch.Metric:
    """How often something was counted in a period."""
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=DIMENSIONS, period=period, statistic="Sum"
    )
