"""Deep evaluations against the provider's day: each done once, in order of arrival, whatever goes wrong on the way."""

from datetime import timedelta

import pytest

from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer
from tests.support.rehearsal import EVENING, MORNING, NOON, Rehearsal, rehearsal
from tests.support.waiting import eventually

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1200)]


def test_r8_r9_four_times_what_a_day_admits_takes_four_whole_days(cloud: Cloud, judge: JudgeServer) -> None:
    with rehearsal(cloud, per_day=20) as here:
        judge.arrange(quotas=[{"rpd": 20, "model": here.model}])
        here.send(here.bodies(80))
        here.settled(80)
        assert here.drain()["state"] == "exhausted"
        assert here.states()["done"] == 18, "a tenth of the day is kept for fresh requests"
        backlog = here.caller.get("v1/backlog")
        assert (backlog["done"], backlog["deferred"], backlog["deferred_before_you"]) == (18, 62, 62)
        here.end_day_after(EVENING)
        here.set_clock(NOON + timedelta(days=1) + MORNING, "AnswersDrain")
        here.drain()
        assert here.states()["done"] == 20 + 18
        for _ in range(3):
            here.end_day_after(EVENING)
        assert [len(day) for day in here.days] == [20, 20, 20, 20]
        assert {call["status"] for call in here.calls()} == {200}, "the provider never had to refuse"
        assert here.drain()["state"] == "empty"
        here.assert_each_evaluated_once()
        here.assert_in_order()
        assert cloud.waiting_messages("DeferredQueueUrl") == 0


def test_r8_those_who_ask_for_one_are_served_at_once_until_the_day_is_spent(days: Rehearsal) -> None:
    days.ask(15)
    days.come_to(done=10, deferred=5)
    days.end_day()
    days.set_clock(NOON + timedelta(days=1) + EVENING, "AnswersDrain")
    days.cloud.fire("DrainAfterReset")
    eventually(lambda: days.states()["done"] == 15, what="what the schedule's drain works off", seconds=120.0)
    days.end_day()
    assert [len(day) for day in days.days] == [10, 5]
    days.assert_each_evaluated_once()


def test_what_the_minute_does_not_admit_waits_for_its_next_slot(cloud: Cloud, judge: JudgeServer) -> None:
    with rehearsal(cloud, per_day=1000, per_minute=4) as here:
        judge.arrange(quotas=[{"rpm": 4, "model": here.model}])
        here.ask(6)
        eventually(lambda: here.states().get("done") == 6 or None, what="all six", seconds=240.0)
        assert {call["status"] for call in here.calls()} == {200}, "the provider never had to refuse"
        here.assert_each_evaluated_once()


def test_r1_r2_every_message_delivered_twice_is_evaluated_once(cloud: Cloud, days: Rehearsal) -> None:
    # A copy that meets the first one at work goes back, and comes again when the queue shows it again.
    with cloud.impatient_intake(seconds=15):
        days.send([body for body in days.bodies(25) for _ in range(2)])
        eventually(lambda: cloud.waiting_messages("IntakeQueueUrl") == 0, what="an empty intake", seconds=120.0)
    days.settled(25)
    days.drain()
    days.end_day_after(EVENING)
    for number in range(2):
        for message in cloud.peek("DeferredQueueUrl"):
            cloud.sqs.send_message(
                QueueUrl=cloud.outputs["DeferredQueueUrl"],
                MessageBody=message,
                MessageGroupId="deferred",
                MessageDeduplicationId=f"again-{days.model}-{number}-{hash(message)}",
            )
    days.end_day_after(EVENING)
    days.end_day_after(EVENING)
    assert [len(day) for day in days.days] == [10, 10, 5]
    days.assert_each_evaluated_once()
    assert len(days.caller.summaries()) == 25, "no answer was made twice"
    assert cloud.waiting_messages("DeferredQueueUrl") == 0
