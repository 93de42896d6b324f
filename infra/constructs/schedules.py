"""What happens by the clock: the drain after the provider's midnight and every hour, the sweep every quarter."""

from aws_cdk import Duration, TimeZone
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from constructs import Construct

from infra.constructs.answers import Answers

PROVIDER_TIME = TimeZone.AMERICA_LOS_ANGELES
"""Gemini's day ends at midnight there, in winter and in summer; a fixed offset would be wrong half the year."""


class Schedules(Construct):
    """A drain that finds nothing to do, or another at work, ends at once and costs nothing worth naming."""

    def __init__(self, scope: Construct, construct_id: str, *, answers: Answers) -> None:
        super().__init__(scope, construct_id)
        drain = targets.StepFunctionsStartExecution(
            answers.drain_machine.machine, input=scheduler.ScheduleTargetInput.from_object({})
        )
        scheduler.Schedule(
            self,
            "DrainAfterReset",
            description="The provider's day has turned: work off what was deferred",
            schedule=scheduler.ScheduleExpression.cron(minute="5", hour="0", time_zone=PROVIDER_TIME),
            time_window=scheduler.TimeWindow.flexible(Duration.minutes(5)),
            target=drain,
        )
        scheduler.Schedule(
            self,
            "DrainHourly",
            description="Take up a drain that was interrupted, and what other providers' days admit",
            schedule=scheduler.ScheduleExpression.rate(Duration.hours(1)),
            time_window=scheduler.TimeWindow.flexible(Duration.minutes(10)),
            target=drain,
        )
        scheduler.Schedule(
            self,
            "Sweep",
            description="Finish what a crash left behind, and send again what a queue is about to forget",
            schedule=scheduler.ScheduleExpression.rate(Duration.minutes(15)),
            time_window=scheduler.TimeWindow.flexible(Duration.minutes(5)),
            target=targets.LambdaInvoke(
                answers.sweep.function, input=scheduler.ScheduleTargetInput.from_object({"source": "schedule"})
            ),
        )
