"""Deep evaluations whose function is killed, whose drain is stopped, and whose day ends early: none is lost."""

import json
from datetime import timedelta

import pytest

from tests.support import replies
from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer
from tests.support.rehearsal import EVENING, IN_WORK, NOON, Rehearsal, rehearsal
from tests.support.waiting import eventually

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1200)]

REPLY = replies.evaluate()
KILLED_AFTER = 15
"""Seconds that only the function to be killed is given: the others may start as slowly as a busy machine lets them."""


def test_r3_a_function_killed_mid_evaluation_loses_one_call_and_no_record(cloud: Cloud, judge: JudgeServer) -> None:
    with rehearsal(cloud, per_day=10) as days:
        days.ask(6)
        days.settled(6)
        judge.rule({"kind": "hang", "seconds": KILLED_AFTER + 30.0}, schema_title="EvaluateReply", model=days.model)
        with cloud.functions.changed("AnswersEvaluate", timeout=KILLED_AFTER):
            days.ask(1)
            eventually(lambda: len(days.calls()) == 7 or None, what="the call that will not come back")
            eventually(
                lambda: cloud.failed_runs("EvaluateMachineArn", days.answer_id(6)),
                what="the function's end",
                seconds=KILLED_AFTER + 60.0,
            )
        judge.reply("EvaluateReply", REPLY)
        days.ask(13)
        days.settled(20, stuck=1)
        found = days.states()
        assert found["running"] == 1, "nobody knows yet that its function was killed"
        today, done = days.end_day(), found["done"]
        assert len(today) == 10
        # One call was lost with its function. On a busy machine a reply may come too late as well, and is lost alike.
        assert 7 <= done <= 9

        # Its unit was spent, so it waits for the next day as others do.
        assert days.swept_to(NOON + timedelta(minutes=30), done=done, deferred=20 - done) == 1
        days.end_day_after(EVENING)
        days.end_day_after(EVENING)
        assert [len(day) for day in days.days] == [10, 10, 10 - done]
        days.assert_each_evaluated_once(lost_calls=sum(call["status"] == 200 for call in today) - done)


def test_r12_a_drain_stopped_halfway_is_taken_up_by_the_next_and_two_never_overlap(
    cloud: Cloud, judge: JudgeServer, days: Rehearsal
) -> None:
    days.send(days.bodies(25))
    days.settled(25)
    days.drain()
    days.end_day_after(EVENING)
    judge.rule({"value": REPLY, "seconds": 1.0}, schema_title="EvaluateReply", model=days.model)
    days.set_clock(NOON + timedelta(days=1) + EVENING, "AnswersDrain")
    first = cloud.start_machine("DrainMachineArn")
    eventually(lambda: len(days.calls()) > 10 or None, what="a drain at work")
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
    days.settled(25)
    days.end_day()
    while days.states()["deferred"]:
        days.end_day_after(EVENING)
    assert all(len(day) <= 10 for day in days.days)
    lost = sum(map(len, days.days)) - 25
    assert 0 <= lost <= 10, "no more than the round that was in work"
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
        days.assert_in_order()
