"""What a crash left behind is taken up once an hour, what somebody carries is left alone."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.market import Market, SweptTasks
from tests.support.oracle_steps import ended
from tests.support.starts import Starts
from touchstone.attempts import LEASE
from touchstone.errors import StoreError
from touchstone.operations.jobs.sweep import STALLED_AFTER
from touchstone.operations.tasks.closing import close
from touchstone.operations.tasks.judging import check
from touchstone.records import Outbox
from touchstone.references import Reference
from touchstone.workflows import MachineName

NOTHING = SweptTasks(restarted=0, sent=0, stuck=0)


async def test_each_kind_that_stalled_is_started_again_once_an_hour(market: Market) -> None:
    ranked = await market.opened()
    found = await market.judged(ranked, "ada", "ben")
    await market.carry_task(ranked.id)
    challenge = market.challenged(ranked, found["ben"])
    deadline = market.clock() + timedelta(days=9)
    open_task = await market.opened(deadline=deadline)
    one = market.submitted(open_task, "ada")
    drafting = market.created(deadline=deadline)
    market.starts.runs.clear()
    assert market.sweep().run() == NOTHING
    market.clock.advance(minutes=11)
    assert market.sweep().run() == SweptTasks(restarted=3, sent=0, stuck=0)
    hour = f"sweep-{market.clock():%Y%m%d%H}"
    started = {f"task {drafting.id}-{hour}", f"submission {one.id}-{hour}", f"challenge {challenge.id}-{hour}"}
    assert set(market.starts.runs) == started
    market.sweep().run()
    assert set(market.starts.runs) == started
    market.clock.advance(hours=2)
    assert market.sweep().run().restarted == 4, "the ranked task's result is due as well"
    assert len(market.starts.runs) == len(started) + 4


async def test_what_is_over_or_carried_is_left_alone(market: Market) -> None:
    task = await market.opened()
    await market.judged(task, "ada")
    late = market.submitted(task, "ben")
    market.judgements.begin(late.ref, at="received")
    market.clock.advance(minutes=11)
    assert market.sweep().run() == NOTHING
    market.clock.now += LEASE
    assert market.sweep().run().restarted == 1
    await market.carry_submission(late.ref)
    market.clock.now = task.deadline
    ended(market.tasks, task)
    assert (await close(market.context(), task.id, deadline=task.deadline)).state == "comparing"
    market.clock.advance(minutes=50)
    assert market.sweep().run() == NOTHING
    market.clock.advance(minutes=21)
    assert market.sweep().run().restarted == 1
    await market.carry_task(task.id)
    market.final(task.id)
    market.clock.advance(days=2)
    assert market.sweep().run() == NOTHING


async def test_one_that_could_not_be_started_is_told_and_stops_no_other(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await market.opened()
    stuck, free = market.submitted(task, "ada"), market.submitted(task, "ben")
    market.starts.runs.clear()
    market.clock.now += STALLED_AFTER + timedelta(seconds=10)
    start = type(market.starts).start

    def starting(self: Starts, machine: MachineName, record: Reference, **how: Any) -> None:
        if record.id == stuck.id:
            raise StoreError("The work could not be started; repeat the request.")
        start(self, machine, record, **how)

    with monkeypatch.context() as patch:
        patch.setattr(type(market.starts), "start", starting)
        assert market.sweep().run() == SweptTasks(restarted=1, sent=0, stuck=1)
    assert [run.startswith(f"submission {free.id}") for run in market.starts.runs] == [True]
    assert market.sweep().run().stuck == 0


async def test_what_stands_at_its_gate_longer_than_its_machine_lived_goes_on_to_its_scores(market: Market) -> None:
    task = await market.opened()
    one = market.submitted(task, "ada")
    await check(market.context(), one.ref)
    market.clock.advance(minutes=11)
    assert market.sweep().run().restarted == 1
    assert await market.carry_submission(one.ref) == "scored"


async def test_events_that_could_not_be_sent_stay_and_are_sent_by_the_sweep(market: Market) -> None:
    task = await market.opened("fastest_first")
    market.bus.refuses = True
    await market.judged(task, "ada")
    assert (market.task(task.id).state, market.bus.entries) == ("final", [])
    assert market.sweep().run().sent == 0
    market.bus.refuses = False
    assert market.sweep().run().sent == 0, "whoever claimed them may still be sending"
    market.clock.advance(minutes=2)
    assert market.sweep().run().sent == 3
    assert market.bus.kinds() == ["payout.due", "result.final", "task.closed"]
    market.clock.advance(minutes=2)
    assert market.sweep().run() == NOTHING


async def test_an_outbox_that_cannot_be_read_does_not_fail_the_step_that_wrote_into_it(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object, **__: object) -> None:
        raise StoreError("The events could not be read; it is safe to repeat.")

    task = await market.opened("fastest_first")
    with monkeypatch.context() as patch:
        patch.setattr(Outbox, "of_task", unreadable)
        await market.judged(task, "ada")
    assert (market.task(task.id).state, market.bus.entries) == ("final", [])
    assert market.sweep().run().sent == 3


async def test_an_event_is_sent_again_under_the_same_id_where_its_sender_died(market: Market) -> None:
    task = await market.opened("fastest_first")
    market.bus.fault = RuntimeError("The process dies here.")
    with pytest.raises(RuntimeError):
        await market.judged(task, "ada")
    market.bus.fault = None
    market.clock.advance(minutes=2)
    market.sweep().run()
    ids = [entry["Detail"] for entry in market.bus.entries]
    assert len(ids) == len(set(ids)) == 3
