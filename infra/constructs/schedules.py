"""Scheduled work: the drain after the provider's midnight and every hour, the sweep every quarter of an hour."""

from aws_cdk import Duration, TimeZone
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import Function

PROVIDER_TIME = TimeZone.AMERICA_LOS_ANGELES
"""The time zone of Gemini's quota day, which ends there at midnight. A fixed offset would be wrong half the year."""


def call_regularly(
    scope: Construct,
    construct_id: str,
    function: Function,
    *,
    description: str,
    schedule: scheduler.ScheduleExpression,
    within: Duration,
    dead_letters: sqs.IQueue,
) -> None:
    """Call a function by a schedule, at some time `within` so long after each of its moments.

    A call that fails is repeated twice, and then kept among the dead letters, whose alarm tells of it.
    """
    function.keep_failures(dead_letters)
    scheduler.Schedule(
        scope,
        construct_id,
        description=description,
        schedule=schedule,
        time_window=scheduler.TimeWindow.flexible(within),
        target=targets.LambdaInvoke(
            function.function, input=scheduler.ScheduleTargetInput.from_object({"source": "schedule"})
        ),
    )


class Schedules(Construct):
    """The schedules of the drains, the sweep and the purge.

    A drain that finds no work, or another drain at work, ends at once and costs almost nothing.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        answers: AnswerFunctions,
        dead_letters: sqs.IQueue,
        drains: int = 1,
    ) -> None:
        super().__init__(scope, construct_id)
        for shard in range(drains):
            self._drain(answers, shard)
        if answers.purge is not None:
            call_regularly(
                self,
                "Purge",
                answers.purge,
                description="Remove records whose retention is over",
                schedule=scheduler.ScheduleExpression.cron(minute="30", hour="2"),
                within=Duration.minutes(60),
                dead_letters=dead_letters,
            )
        call_regularly(
            self,
            "Sweep",
            answers.sweep,
            description="Finish what a crash left behind, and send again what a queue is about to forget",
            schedule=scheduler.ScheduleExpression.rate(Duration.minutes(15)),
            within=Duration.minutes(5),
            dead_letters=dead_letters,
        )

    def _drain(self, answers: AnswerFunctions, shard: int) -> None:
        """Schedule one of the drains: after the quota's reset, and every hour."""
        name = "" if shard == 0 else str(shard)
        drain = targets.StepFunctionsStartExecution(
            answers.drain_machine.machine, input=scheduler.ScheduleTargetInput.from_object({"shard": shard})
        )
        scheduler.Schedule(
            self,
            f"DrainAfterReset{name}",
            description="The provider's day has turned: work off what was deferred",
            schedule=scheduler.ScheduleExpression.cron(minute="5", hour="0", time_zone=PROVIDER_TIME),
            time_window=scheduler.TimeWindow.flexible(Duration.minutes(5)),
            target=drain,
        )
        scheduler.Schedule(
            self,
            f"DrainHourly{name}",
            description="Take up a drain that was interrupted, and what other providers' days admit",
            schedule=scheduler.ScheduleExpression.rate(Duration.hours(1)),
            time_window=scheduler.TimeWindow.flexible(Duration.minutes(10)),
            target=drain,
        )
