"""Faults beside the batches at providers: each meets its own record, batch or tenant, and nobody else."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from functions.answers import evaluate
from functions.composition import stores, work
from functions.environment import environment
from tests.support.api import Api
from tests.support.balance import balance_at_the_end
from tests.support.batching import TENANT, BatchingHouse, batching_house
from tests.support.deployment import Context
from tests.support.providers import ProviderServer
from tests.support.records import an_answer, an_attempt
from tests.support.wire_batches import Plan, Refusal
from touchstone.answers.model import AnswerRecord
from touchstone.clock import Deadline, system_clock
from touchstone.errors import StoreError
from touchstone.judges.batches.record import ProviderBatch
from touchstone.operations.following import BatchLocation
from touchstone.operations.provider_batches import advancing, gathering
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.records.answers import asked


@pytest.fixture
def house(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchingHouse]:
    """A deployment with a key of OpenAI, whose batches are on."""
    with batching_house(judges, monkeypatch) as here:
        yield here
        balance_at_the_end(here)


def _spoil(house: BatchingHouse, record: AnswerRecord) -> Callable[[], None]:
    """Make a stored record unreadable; what is returned mends it."""
    [item] = [row for row in house.deployment.rows() if str(row["pk"]).endswith(record.id) and "body" in row]
    house.deployment.table.put_item(Item=item | {"body": "{}"})
    house.unreadable.add(record.id)

    def mend() -> None:
        house.deployment.table.put_item(Item=item)
        house.unreadable.remove(record.id)

    return mend


def test_a_record_that_cannot_be_read_keeps_no_other_one_from_being_asked(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt, *others = house.enqueue(3)
    _spoil(house, spoilt)
    monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
    environment.cache_clear()
    work.bulk_evaluations.cache_clear()
    house.drain()
    assert house.states(others) == {"done": 2}


@pytest.mark.parametrize("when", ["sent", "settled"])
def test_a_record_that_cannot_be_read_any_more_holds_up_no_other_one_of_its_batch(
    house: BatchingHouse, when: str
) -> None:
    first, spoilt, last = house.enqueue(3)
    house.later(hours=1)
    if when == "settled":
        house.drain()
        _spoil(house, spoilt)
    else:
        submit = stores.batched_evaluations().submit

        def spoiling(**place: object) -> bool:
            there = submit(**place)  # type: ignore[arg-type]
            if place["answer_id"] == spoilt.id:
                _spoil(house, spoilt)
            return there

        house.monkeypatch.setattr(stores.batched_evaluations(), "submit", spoiling)
        house.drain()
    house.carry_on()
    assert house.states([first, last]) == {"done": 2}
    [batch] = house.batches()
    assert (batch.state, batch.answered) == ("over", 2)
    if when == "settled":
        told = sum(spend.cost_usd or 0.0 for record in house.now([first, last]) for spend in record.spends)
        house.untold_usd = batch.most_usd / 3
        assert batch.cost_usd == pytest.approx(told + house.untold_usd), "its reply was paid for"


@pytest.mark.parametrize("when", ["sent", "settled", "forgotten"])
def test_a_record_that_can_be_read_again_after_its_batch_goes_on_by_itself(house: BatchingHouse, when: str) -> None:
    """It has what its batch brought for it, as long as that is kept, and is asked at once where there is nothing."""
    first, spoilt, last = house.enqueue(3)
    house.later(hours=1)
    if when == "sent":
        with house.monkeypatch.context() as patch:
            patch.setattr(house.deployment.machines, "work", lambda: None)
            house.drain()
        mend = _spoil(house, spoilt)
        house.deployment.machines.work()
    else:
        house.drain()
        mend = _spoil(house, spoilt)
    house.carry_on()
    house.hour()
    assert house.states([first, last]) == {"done": 2}
    [batch] = house.batches()
    assert (batch.state, batch.answered, stores.spending().today(TENANT).reserved_usd) == ("over", 2, 0.0)
    by_batch = len(house.server.calls)
    if when == "forgotten":
        house.later(days=15)
        stores.scratch().delete(tenant=TENANT, key=batch.replies_key or "")
    mend()
    for _ in range(24):
        house.hour()
    assert house.states([first, spoilt, last]) == {"done": 3}
    [batch] = house.batches()
    asked_again = len(house.server.calls) - by_batch
    assert (batch.answered, asked_again) == ((3, 0) if when == "settled" else (2, 1))
    [of_it] = house.now([spoilt])
    assert [spend.line_id is None for spend in of_it.spends] == [when != "settled"]
    if when != "sent":
        told = sum(
            spend.cost_usd or 0.0 for one in house.now([first, spoilt, last]) for spend in one.spends if spend.line_id
        )
        house.untold_usd = batch.cost_usd - told


def test_a_batch_beyond_the_tokens_that_may_wait_at_its_provider_goes_by_smaller_ones(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(end="failed"), Plan(end="failed"))
    records = house.enqueue(4)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 2, "deferred": 2}
    house.later(hours=1)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 4}
    assert [len(batch.line_ids) for batch in house.server.batches.stored.values()] == [4, 4, 2, 2]
    assert [call.by_batch for call in house.server.calls] == [True] * 4
    today = stores.spending().today(TENANT)
    assert today.reserved_usd == 0.0
    told = sum(spend.cost_usd or 0.0 for record in house.now(records) for spend in record.spends)
    assert today.spent_usd == pytest.approx(told, abs=1e-5)


def test_a_record_that_cannot_be_read_as_its_batch_is_made_smaller_is_settled_when_it_can_be(
    house: BatchingHouse,
) -> None:
    house.server.batches.plan(Plan(end="failed"), Plan(end="failed"))
    *others, spoilt = house.enqueue(4)
    house.later(hours=1)
    house.drain()
    mend = _spoil(house, spoilt)
    house.carry_on()
    assert house.states(others) == {"done": 2, "deferred": 1}
    mend()
    for _ in range(2):
        house.hour()
    assert house.states([*others, spoilt]) == {"done": 4}
    assert sorted(call.by_batch for call in house.server.calls) == [False, True, True, True]


def test_who_goes_on_with_a_half_gathered_batch_and_who_carries_it_do_not_meet(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The drain and the sweep are due at the same time, and money comes and goes in between."""
    records = house.enqueue(2)
    house.later(hours=1)
    reserve_and_assign = gathering.reserve_and_assign

    def dies(*_: object) -> ProviderBatch:
        raise StoreError("The function is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(gathering, "reserve_and_assign", dies)
        with pytest.raises(StoreError, match="gone"):
            house.drain()
    first = iter([True])

    def met(context: BatchingContext, batch: ProviderBatch) -> ProviderBatch:
        if next(first, False):
            stores.spending().set_ceiling(TENANT, 0.0)
            step = advancing.advance(context, batch.id, deadline=Deadline.after(600))
            with ThreadPoolExecutor(max_workers=1) as another:
                another.submit(asyncio.run, step).result()
            stores.spending().set_ceiling(TENANT, 5.0)
        return reserve_and_assign(context, batch)

    house.later(hours=1)
    monkeypatch.setattr(gathering, "reserve_and_assign", met)
    house.drain()
    house.carry_on()
    for _ in range(2):
        house.hour()
    assert house.states(records) == {"done": 2}
    assert [call.by_batch for call in house.server.calls] == [True, True]


def test_what_is_asked_at_once_is_asked_also_where_nothing_can_be_gathered(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    hastened, waiting = house.enqueue(2)
    stores.batched_evaluations().ask_now(tenant=TENANT, answer_id=hastened.id)

    def broken(*_: object, **__: object) -> None:
        raise StoreError("Nothing can be gathered.")

    monkeypatch.setattr(type(stores.batched_evaluations()), "oldest_cheap", broken)
    with pytest.raises(StoreError, match="gathered"):
        house.drain()
    assert house.states([hastened]) == {"done": 1}
    assert house.states([waiting]) == {"deferred": 1}


def test_a_tenant_without_money_holds_up_nobody_behind_it(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MOST_READ", 3)
    house.deployment.tenant("other")
    spent = house.enqueue(4)
    stores.spending().set_ceiling(TENANT, 0.0)
    behind = house.enqueue(2, tenant="other")
    house.later(hours=1)
    house.drain()
    assert house.states(behind) == {"submitted": 2}
    assert house.states(spent) == {"deferred": 4}


def test_a_question_dearer_than_a_days_ceiling_holds_up_no_other_one(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear, *others = house.enqueue(3)
    stores.spending().set_ceiling(TENANT, 5.0)
    prices = iter([6.0, 0.01, 0.01])
    monkeypatch.setattr(gathering, "highest_cost_usd", lambda *_, **__: next(prices))
    house.later(hours=1)
    house.drain()
    assert house.states([dear]) == {"deferred": 1}
    assert house.states(others) == {"submitted": 2}


def test_the_machine_of_one_evaluation_puts_one_asked_for_cheap_in_the_line(house: BatchingHouse) -> None:
    record = stores.answers().create(
        an_answer(
            tenant=TENANT,
            at=system_clock(),
            stage="finished",
            attempts=(an_attempt(answer="1"),),
            best_attempt=1,
            verification_status="verified",
            verification_confidence=0.9,
            evaluation=asked(system_clock(), when="cheap"),
        )
    )
    assert evaluate({"tenant": TENANT, "answer_id": record.id}, Context())["state"] == "deferred"
    assert not house.server.calls
    house.later(hours=1)
    house.drain()
    house.carry_on()
    assert house.states([record]) == {"done": 1}
    assert [call.by_batch for call in house.server.calls] == [True]


def test_a_verification_puts_an_evaluation_asked_for_cheap_in_the_line(house: BatchingHouse) -> None:
    acme = Api(token=house.deployment.token(TENANT))
    wanted = {"problem": "Compute 3/4 + 1/6.", "answer": "11/12", "deep_evaluation": True, "when": "cheap"}
    view = acme.post("/v1/verifications", wanted).json
    assert view["evaluation"]["state"] == "deferred"
    assert stores.evaluations().backlog().cheap == 1


def test_a_create_of_which_its_provider_never_tells_is_given_up_and_counts_as_paid(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unknown(*_: object, **__: object) -> BatchLocation:
        return BatchLocation()

    monkeypatch.setattr(advancing, "locate_batch", unknown)
    monkeypatch.setattr(advancing, "AGAIN", timedelta(hours=1))
    house.server.batches.refuse(Refusal(lost=True))
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    [batch] = house.batches()
    assert (batch.state, batch.ended) == ("over", "lost")
    assert stores.spending().history(TENANT)[0].spent_usd == pytest.approx(batch.most_usd, abs=1e-5)
    assert house.states(records) == {"deferred": 2}
