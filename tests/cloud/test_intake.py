"""Requests by message: each done once however often it comes, the hopeless ones kept where they can be seen."""

import json
import uuid
from typing import Any

import pytest

from tests.support import replies
from tests.support.callers import Caller
from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.cloud

BONES = {"problem": "How many bones does an adult human have?", "answer": "206", "use_cache": False}


def message(caller: Caller, key: str, **request: Any) -> str:
    """The body of a message that asks for a verification."""
    return json.dumps({"kind": "verify", "tenant": caller.tenant, "id": key, "request": request})


def send(cloud: Cloud, *bodies: str) -> None:
    """Send messages to the intake, ten at once."""
    for start in range(0, len(bodies), 10):
        entries = [{"Id": str(place), "MessageBody": body} for place, body in enumerate(bodies[start : start + 10])]
        assert not cloud.sqs.send_message_batch(QueueUrl=cloud.outputs["IntakeQueueUrl"], Entries=entries).get("Failed")


def all_taken(cloud: Cloud) -> None:
    """Wait until no message is left at the intake."""
    eventually(lambda: cloud.waiting_messages("IntakeQueueUrl") == 0, what="an empty intake", seconds=120.0, pause=0.5)


@pytest.mark.parametrize("copies", [2, 10])
def test_r1_a_message_delivered_many_times_is_done_once(
    cloud: Cloud, caller: Caller, judge: JudgeServer, copies: int
) -> None:
    judge.reply("VerifyReply", replies.verify(independent_answer="206"))
    # A copy that meets the first one at work goes back, and comes again when the queue shows it again.
    with cloud.impatient_intake():
        send(cloud, *[message(caller, "bones", **BONES)] * copies)
        all_taken(cloud)
    [view] = caller.summaries()
    assert view["verification_status"] == "verified"
    assert len(judge.calls()) == 1


def test_r1_a_problem_by_message_is_solved_verified_and_evaluated_once(
    cloud: Cloud, caller: Caller, judge: JudgeServer
) -> None:
    judge.reply("SolveReply", replies.solve(steps=["Count them."], answer="206"))
    judge.reply("VerifyReply", replies.verify(independent_answer="206"))
    request = {"problem": BONES["problem"], "use_cache": False}
    body = json.dumps({"kind": "solve", "tenant": caller.tenant, "id": "problem", "request": request})
    with cloud.impatient_intake():
        send(cloud, body, body)
        all_taken(cloud)
    [summary] = caller.summaries()
    view = caller.evaluated(caller.ended(summary["id"])["id"])
    assert (view["answer"], view["verification_status"], view["attempt_count"]) == ("206", "verified", 1)
    assert view["deep_evaluation"]["overall"] > 0
    for title in ("AnalyzeReply", "SolveReply", "VerifyReply", "EnrichReply", "EvaluateReply"):
        assert len(judge.calls(title=title)) == 1, title


def test_r2_a_message_sent_again_after_it_was_done_meets_its_answer(
    cloud: Cloud, caller: Caller, judge: JudgeServer
) -> None:
    judge.reply("VerifyReply", replies.verify(independent_answer="206"))
    send(cloud, message(caller, "bones", **BONES))
    all_taken(cloud)
    before = caller.summaries()
    send(cloud, message(caller, "bones", **BONES))
    all_taken(cloud)
    assert caller.summaries() == before
    assert len(judge.calls()) == 1


def test_r5_a_poisoned_message_fails_alone_is_kept_by_id_and_goes_through_when_redriven(
    cloud: Cloud, caller: Caller, judge: JudgeServer
) -> None:
    """Nine good ones, and one that has an answer evaluated which is not finished yet: hopeless now, not for ever."""
    judge.rule({"value": replies.solve(), "seconds": 25.0}, schema_title="SolveReply")
    slow = caller.solve(problem="Name the capital of Australia.", use_cache=False, deep_evaluation=False)
    key = uuid.uuid4().hex
    poison = json.dumps({"kind": "evaluate", "tenant": caller.tenant, "id": key, "answer_id": slow["id"]})
    good = [message(caller, f"good-{n}", problem=f"Compute {n} + {n}.", answer=str(2 * n)) for n in range(9)]
    with cloud.impatient_intake():
        send(cloud, *good[:4], poison, *good[4:])
        dead = eventually(lambda: cloud.dead_letter(key), what="the dead letter", seconds=120.0, pause=0.5)
        all_taken(cloud)
    assert dead["Body"] == poison
    done = [item for item in caller.summaries() if item["id"] != slow["id"]]
    assert sorted(item["problem"] for item in done) == [f"Compute {n} + {n}." for n in range(9)]
    assert {item["verification_status"] for item in done} == {"verified"}
    assert judge.calls(title="EvaluateReply") == []

    caller.ended(slow["id"])
    send(cloud, dead["Body"])
    cloud.forget(dead)
    all_taken(cloud)
    assert caller.evaluated(slow["id"])["deep_evaluation"] is not None
    assert len(judge.calls(title="EvaluateReply")) == 1


def test_messages_that_are_no_requests_end_among_the_dead_letters(cloud: Cloud) -> None:
    broken = ["{", "[]", '{"kind": "verify"}', '{"kind": "verify", "tenant": "x", "id": "\\ud800"}']
    marked = {f"{body} {uuid.uuid4().hex}" for body in broken}
    found: set[str] = set()

    def look() -> bool:
        for body in marked - found:
            letter = cloud.dead_letter(body[-32:])
            if letter is not None:
                found.add(letter["Body"])
                cloud.forget(letter)
        return found == marked

    with cloud.impatient_intake():
        send(cloud, *marked)
        eventually(look, what="four dead letters", seconds=120.0, pause=0.5)


def test_schedules_start_the_drain_the_sweep_and_the_audits_of_a_week(cloud: Cloud) -> None:
    """What their clocks say is held by the template's own test: not every endpoint keeps a schedule's time zone."""
    scheduler = cloud.client("scheduler")
    names = [physical for kind, physical in cloud.resources.values() if kind == "AWS::Scheduler::Schedule"]
    schedules = [scheduler.get_schedule(Name=name) for name in names]
    assert {schedule["State"] for schedule in schedules} == {"ENABLED"}
    drains = [s for s in schedules if s["Target"]["Arn"] == cloud.outputs["DrainMachineArn"]]
    assert sorted(s["ScheduleExpression"].partition("(")[0] for s in drains) == ["cron", "rate"]
    others = {s["Target"]["Arn"].rpartition(":")[2] for s in schedules if s not in drains}
    assert others == {cloud.outputs["SweepFunctionName"], cloud.functions.names["AuditsWeekly"]}
