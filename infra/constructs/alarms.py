"""Alarms, the topic that they notify, and the operators' dashboard.

Each metric of an alarm is paid for by the month, so each alarm uses as few metrics as possible: the broken executions
of all standard machines come to one queue, and this queue has one metric.
"""

from collections.abc import Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.api import Api
from infra.constructs.function import Function
from infra.constructs.machine import Machine
from infra.constructs.operators_dashboard import Dashboard, Queries, computed, counted, measured
from infra.constructs.queues import Queues, queue
from infra.settings import Settings

OLDEST_DEFERRED = Duration.days(10)
"""Four days before the queue forgets a message. The record would remain, but the backlog is not being worked off."""
SKIP_PERCENT = 25
"""If a quarter of an hour's answers are unverified, a judge is down, misconfigured or out of quota."""
SKIP_SAMPLE = 8
"""With fewer answers in an hour than this, a percentage is meaningless."""
BROKEN_OFF = ("FAILED", "TIMED_OUT", "ABORTED")
BROKEN_OFF_KEPT = Duration.days(14)
"""As long as an execution can be redriven."""
SWEPT_WITHIN = Duration.minutes(30)
"""The time of two sweeps."""
KEEPS_STATE = cloudwatch.TreatMissingData.IGNORE
"""For metrics that the sweep writes: if they are missing, the alarm keeps its state, and another alarm reports that the
sweep is silent."""


class Operations(Construct):
    """The topic, the alarms that notify it, the dashboard and its queries.

    `functions` and `machines` are all functions and machines of the stack.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        api: Api,
        functions: Sequence[Function],
        machines: Sequence[Machine],
        queues: Queues,
        settings: Settings,
    ) -> None:
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(self, "Alarms", display_name="Touchstone alarms", enforce_ssl=not settings.local)
        if settings.alarm_email:
            self.topic.add_subscription(subscriptions.EmailSubscription(settings.alarm_email))
        self._let_alarms_publish()
        self._of_what_waits(queues)
        self.broken_off = self._broken_off(machines, local=settings.local)
        self._of_machines(machines)
        self._of_load(api)
        self._of_judges(local=settings.local)
        if not settings.local:  # a local cloud shows no dashboards
            queries = Queries(self, "Queries", functions=functions)
            Dashboard(self, "Dashboard", api=api, machines=machines, queues=queues, queries=queries)

    def _let_alarms_publish(self) -> None:
        """Let the account's alarms publish to the topic.

        The default policy allows this, but a topic with a policy of its own no longer has the default one.
        """
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsOfThisAccount",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )

    def _of_what_waits(self, queues: Queues) -> None:
        """Alarms for messages that could not be processed, for stuck records and for a silent sweep."""
        self._alarm(
            "DeadLetters",
            "Messages, events or scheduled calls that could not be processed wait in the dead-letter queue",
            queues.dead_letters.metric_approximate_number_of_messages_visible(
                period=Duration.minutes(5), statistic="Maximum"
            ),
            above=0,
        )
        self._alarm(
            "OldestDeferred",
            "The oldest deferred evaluation is ten days old: the drain does not keep up",
            # The sweep measures the age by the records: the queue itself forgets its messages after fourteen days.
            measured("OldestDeferredAge", Duration.hours(1), "Maximum"),
            above=OLDEST_DEFERRED.to_seconds(),
            missing=KEEPS_STATE,
        )
        self._alarm(
            "Stuck",
            "Records cannot be given an end, started again or removed; the logs of the sweep and the purge name them",
            measured("Stuck", Duration.hours(1), "Maximum"),
            above=0,
            missing=KEEPS_STATE,
        )
        self._alarm(
            "SweepSilent",
            "No sweep has ended for an hour: what a crash leaves behind is not taken up, nor the backlog measured",
            measured("Backlog", SWEPT_WITHIN, "SampleCount"),
            below=1,
            periods=2,
            missing=cloudwatch.TreatMissingData.BREACHING,
        )

    def _broken_off(self, machines: Sequence[Machine], *, local: bool) -> sqs.Queue:
        """The queue that gets a message for each standard execution that fails, times out or is aborted."""
        broken_off = queue(self, "BrokenOff", kept=BROKEN_OFF_KEPT, local=local)
        events.Rule(
            self,
            "BreakingOff",
            description="An execution failed, timed out or was aborted",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "status": list(BROKEN_OFF),
                    "stateMachineArn": [machine.arn for machine in machines if not machine.express],
                },
            ),
            targets=[targets.SqsQueue(broken_off)],
        )
        return broken_off

    def _of_machines(self, machines: Sequence[Machine]) -> None:
        """Alarms for broken executions.

        Those of standard machines are counted by the queue `BrokenOff`, those of express machines by the machine's own
        metrics.
        """
        hour = Duration.hours(1)
        self._alarm(
            "Interrupted",
            "Executions failed, timed out or were aborted: the queue BrokenOff names them",
            self.broken_off.metric_number_of_messages_sent(period=hour, statistic="Sum"),
            above=0,
        )
        for machine in (one for one in machines if one.express):  # express machines send no events to EventBridge
            self._alarm(
                f"{machine.name.capitalize()}Interrupted",
                f"Executions of the express machine {machine.name} fail: the sweep takes their records up again",
                machine.machine.metric_failed(period=hour, statistic="Sum"),
                above=0,
            )
            self._alarm(
                f"{machine.name.capitalize()}TimedOut",
                f"Executions of the express machine {machine.name} take longer than five minutes",
                machine.machine.metric_timed_out(period=hour, statistic="Sum"),
                above=0,
            )

    def _of_load(self, api: Api) -> None:
        self._alarm("ServerErrors", "The API answered with 5xx", api.metric("5xx", Duration.minutes(5), "Sum"), above=0)
        self._alarm(
            "Throttled",
            "For a quarter of an hour functions were wanted that the account's concurrency did not admit",
            cloudwatch.Metric(
                namespace="AWS/Lambda", metric_name="Throttles", period=Duration.minutes(5), statistic="Sum"
            ),
            above=0,
            periods=3,
        )

    def _of_judges(self, *, local: bool) -> None:
        self._alarm(
            "NearCeiling",
            "A tenant has used four fifths of its spending ceiling for the day; past it nothing is judged in its name",
            # The metric is written only from four fifths of the ceiling on.
            measured("CeilingPercent", Duration.hours(1), "Maximum"),
            above=0,
        )
        if local:  # a local cloud has no metric maths, and needs no alarm to wake somebody
            return
        hour, quarter = Duration.hours(1), Duration.minutes(15)
        self._alarm(
            "SkipRate",
            "Too many answers of the last hour are unverified",
            computed(
                f"IF(answers >= {SKIP_SAMPLE}, 100 * unverified / answers, 0)",
                "Unverified answers, percent",
                hour,
                answers=counted("Answers", hour),
                unverified=counted("Unverified", hour),
            ),
            above=SKIP_PERCENT,
        )
        self._alarm(
            "Misconfigured",
            "A judge is asked in vain: it has no key or a wrong one, or its model is unknown or retired",
            counted("Misconfigured", quarter),
            above=0,
        )

    def _alarm(
        self,
        construct_id: str,
        what: str,
        metric: cloudwatch.IMetric,
        *,
        above: float | None = None,
        below: float = 0,
        periods: int = 1,
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """Raise an alarm if the metric is over `above` (without it: under `below`) in each of `periods` periods."""
        compared = cloudwatch.ComparisonOperator
        alarm = cloudwatch.Alarm(
            self,
            construct_id,
            alarm_description=what,
            metric=metric,
            threshold=below if above is None else above,
            comparison_operator=compared.LESS_THAN_THRESHOLD if above is None else compared.GREATER_THAN_THRESHOLD,
            evaluation_periods=periods,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
