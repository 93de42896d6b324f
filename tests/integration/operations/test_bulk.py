"""Deep evaluations asked for by the thousand: each is touched once, by one drain, in the order of arrival."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.house import LONG, House, build
from touchstone.answers.model import AnswerRecord
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, StoreError
from touchstone.operations.answers.draining import DRAIN_LEASE
from touchstone.operations.answers.evaluating import evaluate_answer
from touchstone.records import DeferredQueue, Lease
from touchstone.references import Reference

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


def _asked_in_bulk(house: House, count: int) -> list[AnswerRecord]:
    records, bulk = house.asked_for(count, state="none"), house.bulk()
    for record in records:
        house.intake(bulk=bulk).evaluate(record.id)
    bulk.start()
    return records


async def test_what_is_asked_for_in_bulk_needs_one_drain_and_no_workflow_of_its_own(house: House) -> None:
    records = _asked_in_bulk(house, 20)
    assert house.states(records) == {"deferred": 20}
    assert house.evaluations.backlog().count == 20
    assert (house.starts.runs, len(house.starts.drains)) == ([], 1)
    drained = await house.drain_whole()
    assert house.states(records) == {"done": 20}
    assert len(house.script.asked) == 20
    assert len(drained) <= 4, "a step for each minute of the quota, and not one for each record"
    assert house.queue.receive() == (), "a message for each, and none is left"


async def test_no_second_drain_is_started_while_one_waits_for_its_slot(house: House) -> None:
    _asked_in_bulk(house, 15)
    step = await house.drain().run(owner="first", deadline=Deadline.after(LONG))
    assert (step.state, step.finished) == ("continue", 10)
    assert step.until is not None
    _asked_in_bulk(house, 3)
    assert len(house.starts.drains) == 1
    assert (await house.drain().run(owner="second", deadline=Deadline.after(LONG))).state == "busy"
    house.clock.now = max(house.clock.now, step.until)
    assert (await house.drain().run(owner="first", deadline=Deadline.after(LONG))).finished >= 5


async def test_what_joins_as_a_drain_ends_is_taken_by_that_drain(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It read the line before: only the word that was left with its lease tells it to look again."""
    records = _asked_in_bulk(house, 2)
    receive = house.queue.receive
    late: list[AnswerRecord] = []

    def joined_meanwhile(**arguments: Any) -> Any:
        if not late and len(house.script.asked) == 2:
            late.extend(_asked_in_bulk(house, 1))
        return receive(**arguments)

    monkeypatch.setattr(house.queue, "receive", joined_meanwhile)
    first = await house.drain().run(owner="first", deadline=Deadline.after(LONG))
    assert len(house.starts.drains) == 1, "one was at work when it joined"
    assert (first.state, first.finished) == ("continue", 2)
    assert (await house.drain().run(owner="second", deadline=Deadline.after(LONG))).state == "busy"
    assert (await house.drain().run(owner="first", deadline=Deadline.after(LONG))).state == "empty"
    assert house.states(records + late) == {"done": 3}
    assert not house.leases.ask(DRAIN_LEASE), "nobody holds it any more"


async def test_lining_up_does_not_end_a_pause_after_a_judge_that_failed(table: "Table") -> None:
    house = build(table, {"evaluate": [OverloadedError("503")]})
    (record,) = house.asked_for(1, state="waiting")
    paused = await evaluate_answer(house.context(), record.id)
    assert (paused.state, paused.scope) == ("deferred", "everyone")
    asked = len(house.script.asked)
    assert house.bulk().add(record).evaluation.not_before == paused.until
    assert (await house.drain_whole(steps=1))[0].finished == 0
    assert len(house.script.asked) == asked


async def test_nothing_is_started_where_nothing_may_be_asked_today(house: House) -> None:
    _asked_in_bulk(house, 40)
    while (await house.drain_whole())[-1].state != "exhausted":
        house.clock.advance(minutes=1)
    late = _asked_in_bulk(house, 1)
    assert len(house.starts.drains) == 1
    assert house.states(late) == {"deferred": 1}


async def test_r1_a_message_again_leaves_a_record_that_is_judged_alone(house: House) -> None:
    (record,) = _asked_in_bulk(house, 1)
    claimed = house.evaluations.claim(record.ref)
    assert claimed.granted
    bulk = house.bulk()
    assert bulk.add(claimed.record).evaluation.state == "running"
    bulk.start()
    assert len(house.starts.drains) == 1, "that of the first time"


async def test_r16_a_queue_that_fails_loses_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise StoreError("The queue is away.")

    with monkeypatch.context() as patch:
        patch.setattr(DeferredQueue, "send", failing)
        records = _asked_in_bulk(house, 2)
    await house.drain_whole()
    assert house.states(records) == {"done": 2}


async def test_a_thousand_asked_one_by_one_do_not_meet_at_every_slot(house: House) -> None:
    """Who is refused takes its turn: one try a record beside the drain's, whatever their number."""
    records = house.asked_for(24, state="waiting")
    first = [await evaluate_answer(house.context(), record.id) for record in records]
    slot = max(outcome.until for outcome in first if outcome.until is not None)
    assert house.states(records) == {"done": 10, "deferred": 14}
    house.clock.now = slot
    await house.drain_whole()
    assert house.states(records)["done"] > 10
    house.clock.advance(hours=22)  # into the next day, whose units are whole
    await house.drain_whole()
    assert house.states(records) == {"done": 24}
    now = [house.answers.get(Reference("acme", "answer", record.id)) for record in records]
    assert all(record.evaluation.tries == 0 for record in now), "a refusal is no try"


async def test_a_lease_that_was_lost_over_a_round_ends_the_drain(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    records = _asked_in_bulk(house, 15)
    drain = house.drain()
    renew = drain.leases.renew

    def taken(lease: Lease, *, seconds: float) -> Lease:
        if len(house.script.asked) == 10 and lease.owner == "first":
            house.clock.advance(seconds=seconds)
            house.leases.acquire(DRAIN_LEASE, owner="another", seconds=60)
        return renew(lease, seconds=seconds)

    monkeypatch.setattr(drain.leases, "renew", taken)
    drained = await drain.run(owner="first", deadline=Deadline.after(LONG))
    assert (drained.state, drained.until, drained.finished) == ("busy", None, 10)
    assert house.states(records) == {"done": 10, "deferred": 5}
