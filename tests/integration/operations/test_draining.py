"""Deep evaluations over days: every one is judged once, in order, within the quota, whatever fails on the way.

The quota is a tenth of the default one, 25 a day and 10 a minute; nothing else is different at 250.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import replies
from tests.support.house import LONG, House, build
from tests.support.judges import Line
from touchstone.answers.model import AnswerRecord
from touchstone.attempts import MAX_TRIES
from touchstone.budgets import QuotaKey, Quotas, Spending, TenantShare, next_reset
from touchstone.clock import Deadline
from touchstone.errors import (
    DayQuotaError,
    JudgeError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    StoreError,
    TimedOutError,
    UnavailableModelError,
    UnreadableError,
)
from touchstone.judges.opening import Judges
from touchstone.operations.answers import draining
from touchstone.operations.answers.evaluating import evaluate_answer
from touchstone.operations.answers.sweeping import AnswerSweep
from touchstone.records import DeferredEvaluation, Evaluations, Statistics, evaluation_request_id
from touchstone.references import Reference
from touchstone.workflows import MachineName, Workflows

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


class Killed(BaseException):
    """The process ends here: nothing catches it, nothing is cleaned up."""


def _judged(house: House) -> list[int]:
    """The numbers of the problems that were asked about, in order."""
    return [int(asked.user.split("Problem ")[1].split("?")[0]) for asked in house.script.asked]


async def _drain_hourly(house: House, *, until: datetime) -> None:
    while house.clock.now < until:
        start = house.clock.now
        await house.drain_whole()
        house.clock.now = max(house.clock.now, start + timedelta(hours=1))


async def _fresh(house: House, records: list[AnswerRecord]) -> None:
    """Each record by itself, once, as its machine does; then the drain, to which it leaves what must wait."""
    for record in records:
        await evaluate_answer(house.context(record.tenant), record.id)
    await house.drain_whole()


async def test_r8_what_the_day_does_not_admit_is_deferred_and_nothing_is_lost(house: House) -> None:
    house.clock.now = next_reset("gemini", house.clock.now) + timedelta(hours=1)
    records = house.asked_for(30, state="waiting")
    await _fresh(house, records)
    assert house.states(records) == {"done": 25, "deferred": 5}
    assert len(house.script.asked) == 25
    assert house.evaluations.backlog().count == 5


async def test_r12_several_drains_go_side_by_side_and_each_record_is_one_s(house: House) -> None:
    house.clock.now = next_reset("gemini", house.clock.now) + timedelta(hours=1)
    house.per_day = house.per_minute = 100
    records = house.asked_for(40)
    finished = 0
    for shard in range(3):
        held = house.leases.acquire(draining.lease_of((shard + 1) % 3), owner="another", seconds=60.0)
        assert held is not None
        before = house.states(records).get("done", 0)
        drained = await house.drain(shard, 3).run(owner=f"drain-{shard}", deadline=Deadline.after(LONG))
        house.leases.release(held)
        assert drained.finished == house.states(records).get("done", 0) - before > 0
        finished += drained.finished
        assert (await house.drain(shard, 3).run(owner="again", deadline=Deadline.after(LONG))).outcomes == ()
    assert finished == len(records) == len(house.script.asked)


@pytest.mark.parametrize("error", [MinuteQuotaError("429"), OverloadedError("503"), TimedOutError("too late")])
async def test_a_pause_of_a_judge_is_waited_out_by_the_drain_within_minutes(table: "Table", error: JudgeError) -> None:
    house = build(table, {})
    records = house.asked_for(1, state="waiting")
    start = house.clock.now
    over = start + timedelta(seconds=20)
    house.script.lines = {"evaluate": [lambda _: error if house.clock.now < over else replies.evaluate()]}
    await _fresh(house, records)
    assert house.states(records) == {"done": 1}
    assert house.clock.now - start < timedelta(minutes=5)


async def test_a_run_that_is_doubled_asks_nobody_again_within_a_pause(table: "Table") -> None:
    house = build(table, {"evaluate": [OverloadedError("503")]})
    (record,) = house.asked_for(1, state="waiting")
    first = await evaluate_answer(house.context(), record.id)
    asked = len(house.script.asked)
    second = await evaluate_answer(house.context(), record.id)
    assert (second.state, second.tried, second.until) == ("deferred", False, first.until)
    assert len(house.script.asked) == asked


async def test_r8_a_quota_that_is_cut_overnight_costs_one_refused_call(table: "Table") -> None:
    left = 20

    def until_spent(_: Any) -> Line:
        nonlocal left
        left -= 1
        return replies.evaluate() if left >= 0 else DayQuotaError("Spent.", limit=20)

    house = build(table, {"evaluate": [until_spent]})
    records = house.asked_for(30, state="waiting")
    await _fresh(house, records)
    assert house.states(records) == {"done": 20, "deferred": 10}
    assert len(house.script.asked) == 21


async def test_r9_a_backlog_of_days_is_worked_off_oldest_first(house: House) -> None:
    records = house.asked_for(60)
    done: list[int] = []
    house.clock.now = next_reset("gemini", house.clock.now)
    for _ in range(3):
        await _drain_hourly(house, until=next_reset("gemini", house.clock.now))
        done.append(house.states(records).get("done", 0))
    assert done == [25, 50, 60]
    asked = _judged(house)
    assert [sorted(asked[start:end]) for start, end in ((0, 25), (25, 50), (50, 60))] == [
        list(range(25)),
        list(range(25, 50)),
        list(range(50, 60)),
    ]
    # A round is asked side by side; beyond that nobody overtakes.
    assert all(abs(number - place) < draining.ROUND for place, number in enumerate(asked))
    assert house.evaluations.backlog().count == 0
    assert Statistics(house.table, house.artifacts).evaluations("acme")["done"] == 60


async def test_r12_a_second_drain_is_told_that_one_is_at_work(house: House) -> None:
    house.asked_for(3)
    first, second = house.drain(), house.drain()
    states = [
        drained.state
        for drained in await asyncio.gather(
            first.run(owner="first", deadline=Deadline.after(LONG)),
            second.run(owner="second", deadline=Deadline.after(LONG)),
        )
    ]
    assert states == ["empty", "busy"]
    assert len(house.script.asked) == 3


async def test_r12_a_drain_that_lost_its_lease_stops_before_it_asks(house: House) -> None:
    house.asked_for(3)
    drain = house.drain()
    acquire = drain.leases.acquire

    def stolen(name: str, *, owner: str, seconds: float) -> Any:
        lease = acquire(name, owner=owner, seconds=seconds)
        house.clock.advance(seconds=seconds + 1)
        acquire(name, owner="thief", seconds=seconds)
        return lease

    object.__setattr__(drain.leases, "acquire", stolen)
    assert (await drain.run(owner="first", deadline=Deadline.after(LONG))).state == "busy"
    assert not house.script.asked


async def test_r15_a_model_that_is_gone_is_asked_once_and_loses_nothing(table: "Table") -> None:
    house = build(table, {"evaluate": [UnavailableModelError("There is no such model.")]})
    records = house.asked_for(40)
    start = house.clock.now
    while house.clock.now < start + timedelta(hours=3):
        await house.drain_whole()
        house.clock.advance(minutes=10)
    assert house.states(records) == {"deferred": 40}
    assert len(house.script.asked) <= 3 * 6, "one a drain, and each drain was ten minutes after the one before"
    assert all(record.evaluation.tries == 0 for record in _now(house, records))


async def test_one_record_that_the_provider_rejects_holds_nobody_up_and_is_given_up(table: "Table") -> None:
    def one_rejected(asked: Any) -> Line:
        return MisconfiguredError("HTTP 400") if "Problem 0?" in asked.user else replies.evaluate()

    house = build(table, {"evaluate": [one_rejected]})
    bad, good = house.asked_for(1, tenant="mallory"), house.asked_for(6, tenant="victim")[1:]
    await house.drain_whole()
    assert house.states(good) == {"done": 5}
    start = house.clock.now
    await _drain_hourly(house, until=start + timedelta(hours=8))
    assert house.states(bad) == {"failed": 1}
    assert _now(house, bad)[0].evaluation.failure == "misconfigured"
    assert len(house.script.asked) == 5 + 2 * MAX_TRIES, "the other of its kind among them"


async def test_a_quota_that_was_raised_frees_the_backlog_at_the_next_drain(table: "Table") -> None:
    spent = True

    def say(_: Any) -> Line:
        return DayQuotaError("Spent.") if spent else replies.evaluate()

    house = build(table, {"evaluate": [say]})
    records = house.asked_for(3)
    assert (await house.drain_whole())[-1].state == "exhausted"
    spent = False
    seat = house.judges("acme").tier_model("evaluate")
    assert seat is not None
    house.quotas.forget(QuotaKey(provider=seat.model.provider, model=seat.model.name, account=seat.account))
    house.clock.advance(hours=1)
    await house.drain_whole()
    assert house.states(records) == {"done": 3}


async def test_a_ceiling_that_was_raised_frees_its_tenants_backlog(house: House) -> None:
    house.ceilings["poor"] = 0.000001
    records = house.asked_for(3, tenant="poor")
    await house.drain_whole()
    assert house.states(records) == {"deferred": 3}
    Spending(house.table, clock=house.clock).set_ceiling("poor", 10.0)
    house.clock.advance(hours=1)
    await house.drain_whole()
    assert house.states(records) == {"done": 3}


async def test_a_drain_that_dies_halfway_is_taken_up_without_asking_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.asked_for(8)
    completed = Evaluations.complete
    left = 4

    def dying(self: Evaluations, which: Reference, **arguments: Any) -> AnswerRecord:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return completed(self, which, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Evaluations, "complete", dying)
        with pytest.raises(Killed):
            await house.drain_whole()
    assert house.states(records)["done"] == 4
    house.clock.advance(minutes=30)
    restarted: list[str] = []
    swept = _sweep(house, restarted.append).run()
    assert swept.restarted == len(restarted) == house.states(records).get("running", 0)
    await _fresh(house, [record for record in records if record.id in restarted])
    await house.drain_whole()
    assert house.states(records) == {"done": 8}
    assert Statistics(house.table, house.artifacts).evaluations("acme")["done"] == 8
    assert len(house.script.asked) <= 8 + draining.ROUND


async def test_what_is_stored_of_a_round_is_kept_when_one_of_it_fails(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.asked_for(6)
    completed, calls = Evaluations.complete, 0

    def second_fails(self: Evaluations, which: Reference, **arguments: Any) -> AnswerRecord:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StoreError("Throttled.")
        return completed(self, which, **arguments)

    monkeypatch.setattr(Evaluations, "complete", second_fails)
    with pytest.raises(StoreError):
        await house.drain_whole()
    assert house.states(records) == {"done": 3, "running": 1, "deferred": 2}


async def test_a_record_that_cannot_be_read_is_passed_over(house: House, caplog: pytest.LogCaptureFixture) -> None:
    records = house.asked_for(7)
    table = house.table
    for place in (0, 3):
        (item,) = [item for item in table.scan()["Items"] if records[place].id in str(item["pk"]) and "body" in item]
        key = {"pk": item["pk"], "sk": item["sk"]}
        table.update_item(
            Key=key, UpdateExpression="SET body = :body", ExpressionAttributeValues={":body": '{"sting": "canary"}'}
        )
    house.queue.send(DeferredEvaluation(tenant="acme", answer_id=records[0].id, request_id="of the unreadable one"))
    assert [drained.state for drained in await house.drain_whole()] == ["empty"]
    assert house.states([record for place, record in enumerate(records) if place not in (0, 3)]) == {"done": 5}
    assert records[0].id in caplog.text
    assert "canary" not in caplog.text


async def test_a_claim_that_fails_leaves_nothing_of_its_round_behind(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.asked_for(6)
    claim, calls = Evaluations.claim, 0

    def fourth_fails(self: Evaluations, which: Reference, **arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise StoreError("Throttled.")
        return claim(self, which, **arguments)

    monkeypatch.setattr(Evaluations, "claim", fourth_fails)
    with pytest.raises(StoreError):
        await house.drain_whole()
    assert house.states(records) == {"done": 3, "deferred": 3}
    assert (await house.drain_whole())[-1].state == "empty"
    assert house.states(records) == {"done": 6}
    assert len(house.script.asked) == 6


async def test_a_fault_of_one_judge_loses_no_reply_of_the_others(table: "Table") -> None:
    def one_faulty(asked: Any) -> Line:
        if "Problem 3?" in asked.user:
            raise ZeroDivisionError
        return replies.evaluate()

    house = build(table, {"evaluate": [one_faulty]})
    records = house.asked_for(6)
    with pytest.raises(ZeroDivisionError):
        await house.drain_whole()
    assert house.states(records) == {"done": 3, "running": 1, "deferred": 2}


async def test_keys_that_cannot_be_read_cost_no_record_a_try(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    records = house.asked_for(2)

    def unreadable(*_: Any, **__: Any) -> None:
        raise OSError("There is no such secret.")

    monkeypatch.setattr(Judges, "default", unreadable)
    with pytest.raises(OSError, match="secret"):
        await house.drain_whole()
    assert all(record.evaluation.tries == 0 for record in _now(house, records))


async def test_messages_lost_or_doubled_change_nothing(house: House) -> None:
    records = house.asked_for(5)
    for record in records[2:]:
        message = DeferredEvaluation(
            tenant=record.tenant, answer_id=record.id, request_id=evaluation_request_id(record)
        )
        house.queue.send(message)
        house.queue.send(message.model_copy(update={"request_id": f"{message.request_id}-again"}))
    house.queue.send(DeferredEvaluation(tenant="acme", answer_id="01JD7Z00000000000000000000", request_id="gone"))
    await house.drain_whole()
    assert house.states(records) == {"done": 5}
    assert len(house.script.asked) == 5
    assert house.queue.receive() == ()


async def test_a_message_stays_until_its_record_is_over(table: "Table") -> None:
    house = build(table, {"evaluate": [DayQuotaError("Spent.")]})
    (record,) = house.asked_for(1)
    house.queue.send(DeferredEvaluation(tenant="acme", answer_id=record.id, request_id=evaluation_request_id(record)))
    assert [drained.state for drained in await house.drain_whole()] == ["exhausted"]
    assert len(house.queue.receive()) == 1


async def test_a_tenant_whose_ceiling_is_spent_holds_nobody_up(house: House) -> None:
    house.ceilings["poor"] = 0.000001
    poor = house.asked_for(30, tenant="poor")
    rich = house.asked_for(4, tenant="rich")
    reads = 0
    oldest = house.evaluations.oldest_deferred

    def counted(**arguments: Any) -> Any:
        nonlocal reads
        reads += 1
        return oldest(**arguments)

    object.__setattr__(house.evaluations, "oldest_deferred", counted)
    drained = await house.drain_whole()
    assert house.states(rich) == {"done": 4}
    assert house.states(poor) == {"deferred": 30}
    assert len(house.script.asked) == 4
    tried = [record for record in _now(house, poor) if record.evaluation.failure == "spending_ceiling"]
    assert len(tried) <= draining.ROUND
    assert drained[-1].state == "empty"
    assert reads <= 2, "the line is read once"


async def test_a2_a_tenant_that_asks_without_end_gets_its_share_of_each_minute_and_holds_nobody_up(
    house: House,
) -> None:
    house.quotas = Quotas(house.table, clock=house.clock, tenant_share=TenantShare(fraction=0.5, several=lambda: True))
    greedy = house.asked_for(12, tenant="greedy")
    modest = house.asked_for(3, tenant="modest")
    first = await house.drain().run(owner="drain", deadline=Deadline.after(LONG))
    assert (house.states(greedy)["done"], house.states(modest)) == (5, {"done": 3})
    assert first.state == "continue", "the rest of the day is not to be lost over a minute"
    await house.drain_whole()
    assert house.states(greedy) == {"done": 12}


async def test_one_record_that_no_judge_can_read_does_not_stop_the_rest(table: "Table") -> None:
    def one_bad(asked: Any) -> Line:
        return UnreadableError("Garbled.") if "Problem 0?" in asked.user else replies.evaluate()

    house = build(table, {"evaluate": [one_bad]})
    records = house.asked_for(6)
    await house.drain_whole()
    assert house.states(records) == {"done": 5, "deferred": 1}


async def test_a_record_that_always_times_out_at_the_head_holds_nobody_up(table: "Table") -> None:
    def first_hangs(asked: Any) -> Line:
        return TimedOutError("too late") if "Problem 0?" in asked.user else replies.evaluate()

    house = build(table, {"evaluate": [first_hangs]})
    records = house.asked_for(8)
    await house.drain().run(owner="one", deadline=Deadline.after(LONG))
    assert house.states(records[1:]) == {"done": 7}
    assert house.states(records[:1]) == {"deferred": 1}


async def test_a_provider_that_answers_nobody_in_time_is_found_out_by_two_calls(table: "Table") -> None:
    house = build(table, {"evaluate": [lambda _: TimedOutError("too late")]})
    records = house.asked_for(8)
    await house.drain().run(owner="one", deadline=Deadline.after(LONG))
    assert sorted(set(_judged(house))) == [0, 1]
    assert house.states(records) == {"deferred": 8}


async def test_an_outage_is_outlived(table: "Table") -> None:
    """Every record keeps its tries for half an hour of an outage, and is judged after it."""
    house = build(table, {})
    over = house.clock.now + timedelta(minutes=25)

    def outage(_: Any) -> Line:
        return OverloadedError("503") if house.clock.now < over else replies.evaluate()

    house.script.lines = {"evaluate": [outage]}
    records = house.asked_for(3)
    for _ in range(8):
        await house.drain_whole()
        house.clock.advance(minutes=10)
    assert house.states(records) == {"done": 3}


async def test_the_sweep_sends_again_what_the_queue_is_about_to_forget_and_only_then(house: House) -> None:
    old = house.asked_for(2)
    house.clock.advance(days=13, minutes=1)
    house.asked_for(1)
    sweep = _sweep(house, lambda _: None)
    swept = sweep.run()
    assert (swept.resent, swept.restarted, swept.backlog.count) == (2, 0, 3)
    assert swept.oldest_seconds > 13 * 24 * 3600
    sent = [message.evaluation for message in house.queue.receive()]
    assert [each.answer_id for each in sent if each is not None] == [record.id for record in old]
    later: list[int] = []
    for hours in (1, 1, 24, 12 * 24 - 2, 1):
        house.clock.advance(hours=hours)
        later.append(sweep.run().resent)
    assert later == [0, 0, 0, 3, 0]  # the 26th day of the first two, the 13th of the third
    assert sweep.run().backlog.count == 3


async def test_a_backlog_that_the_queue_forgot_is_judged_all_the_same(house: House) -> None:
    records = house.asked_for(3)
    house.clock.advance(days=40)
    assert house.queue.receive() == ()
    await house.drain_whole()
    assert house.states(records) == {"done": 3}


async def test_the_sweep_starts_again_what_was_lost_and_leaves_what_is_at_work(house: House) -> None:
    lost = house.asked_for(2, state="waiting")
    house.clock.advance(minutes=11)
    house.asked_for(1, state="waiting")
    restarted: list[str] = []
    assert _sweep(house, restarted.append).run().restarted == 2
    assert restarted == [record.id for record in lost]


def _now(house: House, records: list[AnswerRecord]) -> list[AnswerRecord]:
    return [house.answers.get(Reference(record.tenant, "answer", record.id)) for record in records]


def _sweep(house: House, started: Callable[[str], None]) -> AnswerSweep:
    class Starts(Workflows):
        def start(self, machine: MachineName, record: Reference, *, run: str | None = "1", **_: object) -> None:
            assert (machine, record.tenant, run != "1") == ("evaluate", "acme", True)
            started(record.id)

    workflows = Starts(sfn=None, arns={})  # type: ignore[arg-type] # nothing is started for real
    return AnswerSweep(
        answers=house.answers,
        evaluations=house.evaluations,
        queue=house.queue,
        workflows=lambda: workflows,
        again=lambda _: None,
        clock=house.clock,
    )
