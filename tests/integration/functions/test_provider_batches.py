"""Deep evaluations through the providers' batches, by the functions and the machine as they are deployed."""

from collections.abc import Iterator
from typing import Any

import pytest

from functions.composition import stores, work
from functions.environment import environment
from tests.support import replies
from tests.support.backlogs import units_used
from tests.support.batching import KEYS, TENANT, BatchingHouse, batching_house
from tests.support.providers import ProviderServer
from tests.support.wire_batches import Plan, Refusal
from touchstone.errors import ConflictError, StoreError
from touchstone.operations.provider_batches import advancing, settling
from touchstone.records import Statistics


@pytest.fixture(params=KEYS)
def house(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    with batching_house(judges, monkeypatch, provider=request.param) as here:
        yield here


one_provider = pytest.mark.parametrize("house", ["openai"], indirect=True)
"""For what is the same with all of them."""


def test_what_waits_goes_by_a_batch_at_half_the_price_and_touches_no_quota(house: BatchingHouse) -> None:
    records = house.line_up(3)
    house.drain()
    assert house.states(records) == {"deferred": 3}, "few wait for others, an hour at most"
    house.later(hours=1)
    house.drain()
    assert house.states(records) == {"submitted": 3}
    house.carry_on()
    assert house.states(records) == {"done": 3}
    done = house.now(records)
    assert all(record.deep_evaluation is not None for record in done)
    spends = [spend for record in done for spend in record.spends]
    assert len(spends) == len({spend.line_id for spend in spends}) == 3
    for spend in spends:
        assert spend.cost_usd is not None
        assert spend.cost_usd > 0
        assert spend.saved_usd == pytest.approx(spend.cost_usd), "the other half"
    [batch] = house.batches()
    assert (batch.state, batch.ended, batch.answered) == ("over", "completed", 3)
    assert batch.cost_usd == pytest.approx(sum(spend.cost_usd or 0.0 for spend in spends))
    today = stores.spending().history(TENANT)[0]
    assert today.spent_usd == pytest.approx(batch.cost_usd, abs=1e-6)
    assert today.reserved_usd == 0.0
    assert [call.by_batch for call in house.server.calls] == [True] * 3
    assert units_used() == 0
    assert stores.evaluations().backlog().count == 0
    assert Statistics(house.deployment.table, stores.artifacts()).evaluations(TENANT)["done"] == 3


def test_replies_that_are_mixed_up_are_put_where_they_belong_or_asked_again(house: BatchingHouse) -> None:
    for number in range(4):
        house.server.reply(replies.evaluate(clarity=number / 10), prompt=f"island-{number}-")
    house.server.batches.plan(Plan(looks=2, twice=(0,), order=(1, 3, 0, 2), swapped=((1, 2),), missing=(3,)))
    records = house.line_up(4)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 1, "deferred": 3}
    by_batch = len(house.server.calls)
    house.later(minutes=10)
    house.drain()
    done = house.now(records)
    assert [record.deep_evaluation and record.deep_evaluation.clarity for record in done] == [0.0, 0.1, 0.2, 0.3]
    assert not any(call.by_batch for call in house.server.calls[by_batch:]), "what a batch did not bring is asked"
    assert len(house.server.calls) == by_batch + 3


@one_provider
@pytest.mark.parametrize("end", ["expired", "cancelled", "failed"])
def test_what_a_batch_did_not_come_to_is_asked_as_the_quota_admits_it(house: BatchingHouse, end: str) -> None:
    plan = Plan(looks=1, end=end, late=(0,), failure="invalid")  # type: ignore[arg-type]
    house.server.batches.plan(plan)
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    [batch] = house.batches()
    assert batch.ended == end
    assert batch.because is not None
    assert "asked at once" in batch.because
    house.drain()
    assert house.states(records) == {"done": 2}
    assert len(house.batches()) == 1
    assert stores.spending().today(TENANT).reserved_usd == 0.0


def test_a_create_whose_answer_is_lost_is_found_again_and_not_paid_twice(house: BatchingHouse) -> None:
    house.server.batches.refuse(Refusal(lost=True))
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert len(house.server.batches.stored) == 1
    assert len(house.server.calls) == 2


@one_provider
def test_a_quota_of_batches_is_waited_for_and_the_batch_is_sent_anew(house: BatchingHouse) -> None:
    spent = {"error": {"code": "rate_limit_exceeded", "message": "Too many requests"}}
    house.server.batches.refuse(*(Refusal(status=429, body=spent) for _ in range(3)))
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    more = house.line_up(1)
    house.later(hours=1)
    house.drain()
    assert house.states(more) == {"deferred": 1}, "nothing more is sent beside one that is refused"
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert len(house.server.batches.stored) == 1


@one_provider
def test_a_provider_that_refuses_batches_is_asked_at_once_without_anyones_help(house: BatchingHouse) -> None:
    refused = {"error": {"code": "invalid", "message": "No batches for this account"}}
    house.server.batches.refuse(Refusal(status=400, body=refused))
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    [batch] = house.batches()
    assert (batch.ended, batch.answered) == ("refused", 0)
    assert batch.because
    house.drain()
    assert house.states(records) == {"done": 2}
    assert stores.spending().today(TENANT).reserved_usd == 0.0


@one_provider
def test_a_batch_that_its_provider_never_ends_is_cancelled_and_asked_at_once(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=10_000))
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    house.drain()
    assert house.states(records) == {"done": 2}
    assert len(house.server.batches.cancelled) == 1


@one_provider
def test_results_that_are_not_kept_any_more_count_as_paid(house: BatchingHouse) -> None:
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    house.server.batches.forget()
    house.carry_on()
    [batch] = house.batches()
    assert batch.ended == "lost"
    assert stores.spending().history(TENANT)[0].spent_usd == pytest.approx(batch.most_usd, abs=1e-5)
    house.drain()
    assert house.states(records) == {"done": 2}


@one_provider
def test_a_ceiling_that_is_reached_sends_nothing_more(house: BatchingHouse) -> None:
    records = house.line_up(4)
    house.later(hours=1)
    stores.spending().set_ceiling(TENANT, 0.0)
    house.drain()
    assert house.states(records) == {"deferred": 4}
    assert not house.batches()
    assert not house.server.calls
    stores.spending().set_ceiling(TENANT, 1.0)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 4}
    assert stores.spending().today(TENANT).spent_usd < 1.0


@one_provider
def test_a_low_ceiling_makes_one_small_batch_an_hour_and_not_one_whenever_the_line_is_looked_at(
    house: BatchingHouse,
) -> None:
    stores.spending().set_ceiling(TENANT, 0.2)  # the highest price of two
    records = house.line_up(6)
    house.later(hours=1)
    for _ in range(5):
        house.drain()
        house.carry_on()
        house.later(minutes=10)
    assert [batch.count for batch in house.batches()] == [2]
    house.later(minutes=10)
    house.drain()
    house.carry_on()
    assert [batch.count for batch in house.batches()] == [2, 2]
    assert house.states(records) == {"done": 4, "deferred": 2}


@one_provider
def test_now_please_takes_one_out_of_the_line_and_is_paid_twice_only_where_that_is_said(house: BatchingHouse) -> None:
    first, second = house.line_up(2)
    stores.batched_evaluations().hasten(tenant=TENANT, answer_id=first.id)
    house.drain()
    assert house.states([first, second]) == {"done": 1, "deferred": 1}
    house.later(hours=1)
    house.drain()
    with pytest.raises(ConflictError, match="pay_twice"):
        stores.batched_evaluations().hasten(tenant=TENANT, answer_id=second.id)
    stores.batched_evaluations().hasten(tenant=TENANT, answer_id=second.id, pay_twice=True)
    house.drain()
    [done] = house.now([second])
    assert done.evaluation.state == "done"
    house.carry_on()
    [after] = house.now([second])
    assert after.deep_evaluation == done.deep_evaluation, "the first result stays"
    assert [spend.line_id is None for spend in after.spends] == [True, False], "both calls are told"


@one_provider
def test_batches_that_are_turned_off_leave_nothing_waiting_for_one(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.line_up(2)
    monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
    environment.cache_clear()
    work.bulk_evaluations.cache_clear()
    house.drain()
    assert house.states(records) == {"done": 2}
    assert not any(call.by_batch for call in house.server.calls)


def test_what_a_batch_brought_is_read_also_where_its_key_was_taken_away_meanwhile(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    settle, dead = settling.settle, iter([True])

    async def dying(*given: Any) -> Any:
        if next(dead, False):
            house.take_keys_away()
            raise StoreError("The table does not answer.")
        return await settle(*given)

    monkeypatch.setattr(advancing, "settle", dying)
    house.carry_on()
    house.hour()
    assert house.states(records) == {"done": 2}
    [batch] = house.batches()
    assert (batch.state, batch.answered) == ("over", 2)
    assert stores.spending().history(TENANT)[0].spent_usd == pytest.approx(batch.cost_usd, abs=1e-6)


@one_provider
def test_a_batch_that_was_not_sent_is_given_up_where_its_key_was_taken_away(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.line_up(2)
    house.later(hours=1)
    with monkeypatch.context() as patch:
        patch.setattr(house.deployment.machines, "work", lambda: None)
        house.drain()
    assert house.states(records) == {"submitted": 2}
    house.take_keys_away()
    house.deployment.machines.work()
    house.carry_on()
    [batch] = house.batches()
    assert (batch.state, batch.ended, batch.answered) == ("over", "refused", 0)
    assert "OPENAI_API_KEY" in (batch.because or "")
    assert house.states(records) == {"deferred": 2}
    assert stores.spending().today(TENANT).reserved_usd == 0.0


@pytest.mark.parametrize("house", ["claude"], indirect=True)
def test_batches_that_others_create_later_do_not_hold_the_money_of_one_that_never_was(house: BatchingHouse) -> None:
    house.server.batches.refuse(Refusal(status=500))
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    house.later(hours=2)
    house.server.batches.plan(Plan(looks=10_000))
    house.server.batches.create("anthropic", "", [])
    house.carry_on()
    [batch] = house.batches()
    assert (batch.state, batch.ended, batch.answered) == ("over", "completed", 2)
    assert house.states(records) == {"done": 2}
    [day] = stores.spending().history(TENANT)
    assert day.spent_usd == pytest.approx(batch.cost_usd, abs=1e-6)
    assert day.reserved_usd == 0.0
