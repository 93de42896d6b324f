"""Deep evaluations against the provider's day: each done once, in order of arrival, whatever goes wrong on the way."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support import replies
from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer
from tests.support.rehearsal import EVENING, MORNING, NOON, Rehearsal, rehearsal
from tests.support.waiting import eventually

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1200)]

REPLY = replies.evaluate()
KILLED_AFTER = 15
"""Seconds that only the function to be killed is given: the others may start as slowly as a busy machine lets them."""
IN_WORK = 25
"""Evaluations that may be on their way at once: so far apart may two be that arrived one after the other."""


def assert_in_order(here: Rehearsal) -> None:
    """Nobody who came later went before, but for those that were in work side by side."""
    rank = {number: place for place, number in enumerate(here.arrived())}
    ahead = [place - rank[number] for place, number in enumerate(here.order())]
    assert max(map(abs, ahead)) <= IN_WORK


@pytest.fixture
def days(cloud: Cloud, judge: JudgeServer) -> Iterator[Rehearsal]:
    """A rehearsal with 15 evaluations a day."""
    with rehearsal(cloud, per_day=15) as here:
        judge.arrange(quotas=[{"rpd": 15, "model": here.model}])
        yield here


def test_r8_r9_four_times_what_a_day_admits_takes_four_whole_days(cloud: Cloud, judge: JudgeServer) -> None:
    with rehearsal(cloud, per_day=30) as here:
        judge.arrange(quotas=[{"rpd": 30, "model": here.model}])
        here.send(here.bodies(120))
        here.settled(120)
        assert here.drain()["state"] == "exhausted"
        assert here.states()["done"] == 27, "a tenth of the day is kept for fresh requests"
        backlog = here.caller.get("v1/backlog")
        assert (backlog["done"], backlog["deferred"], backlog["deferred_before_you"]) == (27, 93, 93)
        here.end_day_after(EVENING)
        here.set_clock(NOON + timedelta(days=1) + MORNING, "AnswersDrain")
        here.drain()
        assert here.states()["done"] == 30 + 27
        for _ in range(3):
            here.end_day_after(EVENING)
        assert [len(day) for day in here.days] == [30, 30, 30, 30]
        assert {call["status"] for call in here.calls()} == {200}, "the provider never had to refuse"
        assert here.drain()["state"] == "empty"
        here.assert_each_evaluated_once()
        assert_in_order(here)
        assert cloud.waiting_messages("DeferredQueueUrl") == 0


def test_r8_those_who_ask_for_one_are_served_at_once_until_the_day_is_spent(days: Rehearsal) -> None:
    days.ask(20)
    days.come_to(done=15, deferred=5)
    days.end_day()
    days.set_clock(NOON + timedelta(days=1) + EVENING, "AnswersDrain")
    days.cloud.fire("DrainAfterReset")
    eventually(lambda: days.states()["done"] == 20, what="what the schedule's drain works off", seconds=120.0)
    days.end_day()
    assert [len(day) for day in days.days] == [15, 5]
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
        days.send([body for body in days.bodies(40) for _ in range(2)])
        eventually(lambda: cloud.waiting_messages("IntakeQueueUrl") == 0, what="an empty intake", seconds=120.0)
    days.settled(40)
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
    assert [len(day) for day in days.days] == [15, 15, 10]
    days.assert_each_evaluated_once()
    assert len(days.caller.summaries()) == 40, "no answer was made twice"
    assert cloud.waiting_messages("DeferredQueueUrl") == 0


def test_r3_a_function_killed_mid_evaluation_loses_one_call_and_no_record(cloud: Cloud, judge: JudgeServer) -> None:
    with rehearsal(cloud, per_day=15) as days:
        days.ask(10)
        days.settled(10)
        judge.rule({"kind": "hang", "seconds": KILLED_AFTER + 30.0}, schema_title="EvaluateReply", model=days.model)
        with cloud.functions.changed("AnswersEvaluate", timeout=KILLED_AFTER):
            days.ask(1)
            eventually(lambda: len(days.calls()) == 11 or None, what="the call that will not come back")
            eventually(
                lambda: cloud.failed_runs("EvaluateMachineArn", days.answer_id(10)),
                what="the function's end",
                seconds=KILLED_AFTER + 60.0,
            )
        judge.reply("EvaluateReply", REPLY)
        days.ask(19)
        days.settled(30, stuck=1)
        found = days.states()
        assert found["running"] == 1, "nobody knows yet that its function was killed"
        today, done = days.end_day(), found["done"]
        assert len(today) == 15
        # One call was lost with its function. On a busy machine a reply may come too late as well, and is lost alike.
        assert 12 <= done <= 14

        # Its unit was spent, so it waits for the next day as others do.
        assert days.swept_to(NOON + timedelta(minutes=30), done=done, deferred=30 - done) == 1
        days.end_day_after(EVENING)
        days.end_day_after(EVENING)
        assert [len(day) for day in days.days] == [15, 15, 15 - done]
        days.assert_each_evaluated_once(lost_calls=sum(call["status"] == 200 for call in today) - done)


def test_r12_a_drain_stopped_halfway_is_taken_up_by_the_next_and_two_never_overlap(
    cloud: Cloud, judge: JudgeServer, days: Rehearsal
) -> None:
    days.send(days.bodies(40))
    days.settled(40)
    days.drain()
    days.end_day_after(EVENING)
    judge.rule({"value": REPLY, "seconds": 1.0}, schema_title="EvaluateReply", model=days.model)
    days.set_clock(NOON + timedelta(days=1) + EVENING, "AnswersDrain")
    first = cloud.start_machine("DrainMachineArn")
    eventually(lambda: len(days.calls()) > 15 or None, what="a drain at work")
    second = cloud.start_machine("DrainMachineArn")
    assert json.loads(cloud.execution(second)["output"])["state"] == "busy"
    cloud.machines.stop_execution(executionArn=first)
    assert cloud.execution(first)["status"] == "ABORTED"
    judge.reply("EvaluateReply", REPLY)
    # Whoever was stopped is gone by then, or done; what it held is let go.
    days.set_clock(NOON + timedelta(days=1) + EVENING + timedelta(minutes=20), "AnswersDrain", "AnswersEvaluate")
    days.set_clock(days.now, "AnswersSweep")
    days.drain()
    cloud.fire("Sweep")
    days.settled(40)
    days.end_day()
    while days.states()["deferred"]:
        days.end_day_after(EVENING)
    assert all(len(day) <= 15 for day in days.days)
    lost = sum(map(len, days.days)) - 40
    assert 0 <= lost <= 15, "no more than the round that was in work"
    days.assert_each_evaluated_once(lost_calls=lost)


def test_r15_a_day_that_ends_earlier_than_configured_is_learned(cloud: Cloud, judge: JudgeServer) -> None:
    with rehearsal(cloud, per_day=100) as days:
        judge.arrange(quotas=[{"rpd": 10, "model": days.model}])
        days.ask(40)
        days.come_to(done=10, deferred=30)
        refused = [call for call in days.end_day() if call["status"] == 429]
        assert 1 <= len(refused) <= IN_WORK
        for _ in range(3):
            days.end_day_after(EVENING)
        answered = [[call for call in day if call["status"] == 200] for day in days.days]
        assert [len(day) for day in answered] == [10, 10, 10, 10]
        assert [len(day) for day in days.days[1:]] == [10, 10, 10], (
            "what was learned on the first day holds on the next"
        )
        days.assert_each_evaluated_once()
        assert_in_order(days)
