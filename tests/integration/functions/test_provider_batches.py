"""Deep evaluations through the providers' batches, by the functions and the machine as they are deployed."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from types import ModuleType
from typing import Any, Literal

import pytest

from functions import observability
from functions.composition import stores, work
from functions.environment import environment
from tests.support import replies
from tests.support.balance import balance_at_the_end, units_used
from tests.support.batching import KEYS, TENANT, BatchingHouse, batching_house
from tests.support.pages import Visitor, rows
from tests.support.providers import ProviderServer
from tests.support.wire_batches import Plan, Refusal
from touchstone.answers.model import SubmittedPlace
from touchstone.clock import Deadline, system_clock
from touchstone.errors import ConflictError, StoreError
from touchstone.judges.spends import Spend
from touchstone.operations.provider_batches import advancing, kinds, settling
from touchstone.records import Statistics
from touchstone.references import Reference


@pytest.fixture(params=KEYS)
def house(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchingHouse]:
    """A deployment with the key of one provider, whose batches are on."""
    with batching_house(judges, monkeypatch, provider=request.param) as here:
        yield here
        balance_at_the_end(here)


one_provider = pytest.mark.parametrize("house", ["openai"], indirect=True)
"""For what is the same with all of them."""


def before_the_first(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, do: Callable[..., Awaitable[None]]
) -> None:
    """Have something done before the first call of a function, by what it is given."""
    called, first = getattr(module, name), iter([True])

    async def met(*given: Any) -> Any:
        if next(first, False):
            await do(*given)
        return await called(*given)

    monkeypatch.setattr(module, name, met)


def test_what_waits_goes_by_a_batch_at_half_the_price_and_touches_no_quota(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = list[Spend]()
    monkeypatch.setattr(observability, "count_spends", counted.extend)
    records = house.enqueue(3)
    house.drain()
    assert house.states(records) == {"deferred": 3}, "few wait for others, an hour at most"
    assert house.deployment.messages() == [], "for a day nobody would take one"
    house.later(hours=1)
    house.drain()
    assert house.states(records) == {"submitted": 3}
    assert len(house.server.batches.stored) == 1, "whoever made it lets the next step send it at once"
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
    assert sorted(str(spend.line_id) for spend in counted) == sorted(str(spend.line_id) for spend in spends)
    alone = house.enqueue(4)[3]  # the others have what was asked already
    stores.batched_evaluations().ask_now(Reference(TENANT, "answer", alone.id))
    house.drain()
    [at_once] = [spend.cost_usd or 0.0 for spend in house.now([alone])[0].spends]
    assert [(spend.cost_usd or 0.0) / at_once for spend in spends] == [pytest.approx(0.5, abs=0.02)] * 3, (
        "by what it costs there"
    )


def test_replies_that_are_mixed_up_are_put_where_they_belong_or_asked_again(house: BatchingHouse) -> None:
    for number in range(4):
        house.server.reply(replies.evaluate(clarity=number / 10), prompt=f"island-{number}-")
    house.server.batches.plan(Plan(looks=2, twice=(0,), order=(1, 3, 0, 2), swapped=((1, 2),), missing=(3,)))
    records = house.enqueue(4)
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
    records = house.enqueue(2)
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
    records = house.enqueue(2)
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
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    more = house.enqueue(1)
    house.later(hours=1)
    house.drain()
    assert house.states(more) == {"deferred": 1}, "nothing more is sent beside one that is refused"
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert len(house.server.batches.stored) == 1


@one_provider
def test_a_quota_of_batches_is_asked_for_ever_less_often_and_not_before_its_provider_says(house: BatchingHouse) -> None:
    spent = {"error": {"code": "rate_limit_exceeded", "message": "Too many requests"}}
    told = (None, None, None, 1800)
    house.server.batches.refuse(*(Refusal(status=429, body=spent, retry_after=seconds) for seconds in told))
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    pauses = []
    for _ in told:
        [batch] = house.batches()
        assert batch.attempts.not_before is not None
        pauses.append(batch.attempts.not_before - system_clock())
        house.wake()
    first, second, third, as_told = (pause.total_seconds() for pause in pauses)
    assert second > 1.5 * first
    assert third > 1.5 * second
    assert as_told == pytest.approx(1800, abs=60)
    house.carry_on()
    assert house.states(records) == {"done": 2}


@one_provider
@pytest.mark.parametrize("status", [429, 503])
def test_a_provider_that_takes_no_batch_for_a_day_is_asked_at_once(house: BatchingHouse, status: int) -> None:
    spent = {"error": {"code": "rate_limit_exceeded", "message": "Too many requests"}}
    house.server.batches.refuse(*(Refusal(status=status, body=spent) for _ in range(200)))
    records = house.enqueue(2)
    begun = system_clock()
    house.later(hours=1)
    house.drain()
    house.carry_on()
    [batch] = house.batches()
    assert (batch.ended, house.server.batches.stored) == ("refused", {})
    assert system_clock() - begun < timedelta(hours=27)
    [today] = stores.spending().history(TENANT)
    assert (today.reserved_usd, today.spent_usd, today.calls) == (0.0, 0.0, 0)
    house.drain()
    assert house.states(records) == {"done": 2}
    assert [call.by_batch for call in house.server.calls] == [False, False]


@one_provider
def test_a_provider_that_refuses_batches_is_asked_at_once_without_anyones_help(house: BatchingHouse) -> None:
    refused = {"error": {"code": "invalid", "message": "No batches for this account"}}
    house.server.batches.refuse(Refusal(status=400, body=refused))
    records = house.enqueue(2)
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
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    house.drain()
    assert house.states(records) == {"done": 2}
    assert len(house.server.batches.cancelled) == 1


def test_what_a_batch_had_done_when_it_was_cancelled_is_waited_for_and_not_asked_again(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=10_000, lingers=2, late=(1,)))
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 1, "deferred": 1}
    house.drain()
    assert house.states(records) == {"done": 2}
    assert [call.by_batch for call in house.server.calls] == [True, False]


def test_a_late_batch_that_nobody_looked_at_for_days_is_cancelled_and_then_waited_for(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=10_000, lingers=2))
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.later(days=3)
    house.carry_on()
    assert house.server.batches.cancelled != []
    assert house.states(records) == {"done": 2}
    assert [call.by_batch for call in house.server.calls] == [True, True]


def test_a_batch_that_does_not_end_when_it_is_cancelled_counts_as_paid(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=10_000, lingers=10_000))
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    [batch] = house.batches()
    assert (batch.state, batch.ended) == ("over", "lost")
    assert stores.spending().history(TENANT)[-1].spent_usd == pytest.approx(batch.most_usd, abs=1e-5)
    house.drain()
    assert house.states(records) == {"done": 2}


@one_provider
def test_its_answer_says_where_an_evaluation_is_until_when_and_what_that_saved(house: BatchingHouse) -> None:
    [record] = house.enqueue(1)
    visitor = Visitor()
    visitor.sign_in(house.deployment.token(TENANT))
    address = f"/app/answers/{record.id}"
    house.later(hours=1)
    house.drain()
    [batched] = house.now([record])
    place = batched.evaluation.submitted
    assert place is not None
    assert place.ends_by is not None
    sent, by = (f"{moment:%Y-%m-%d %H:%M}" for moment in (place.at, place.ends_by))
    for language, told in (
        ("en", f"In a batch · sent {sent} · there by {by} at the latest"),
        ("zh", f"批次处理中 · 发送于 {sent} · 最迟 {by} 完成"),
    ):
        assert told in visitor.open(address, lang=language).text
    assert "app/quotas#table-provider_batches" in " ".join(visitor.open(address, lang="en").links)
    house.carry_on()
    assert "In a batch" not in visitor.open(address).text
    [row] = rows(visitor.open(address, format="json"), "calls")
    [done] = house.now([record])
    assert row["saved_usd"] == pytest.approx(done.spends[0].saved_usd)


@one_provider
def test_who_finds_somebody_at_work_on_a_batch_sends_no_second_one(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.enqueue(2)
    house.later(hours=1)
    told = list[str]()

    async def another(context: Any, batch: Any, *_: Any) -> None:
        told.append((await advancing.advance(context, batch.id, deadline=Deadline.after(600))).state)

    before_the_first(monkeypatch, advancing, "_lines", another)
    house.drain()
    house.carry_on()
    assert told == ["waiting"]
    assert len(house.server.batches.stored) == 1
    assert house.states(records) == {"done": 2}


@one_provider
def test_two_who_settle_one_batch_at_once_count_each_question_once(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a function is slower than its lease."""
    records = house.enqueue(3)
    house.later(hours=1)
    house.drain()

    async def another(context: Any, batch: Any, *_: Any) -> None:
        await settling.settle(context, batch, Deadline.after(600))

    before_the_first(monkeypatch, kinds, "settled", another)
    house.carry_on()
    assert house.states(records) == {"done": 3}
    [batch] = house.batches()
    spends = [spend for record in house.now(records) for spend in record.spends]
    assert (batch.settled, batch.answered, len(spends)) == (3, 3, 3)
    assert batch.cost_usd == pytest.approx(sum(spend.cost_usd or 0.0 for spend in spends))
    assert batch.saved_usd == pytest.approx(batch.cost_usd)


@one_provider
def test_results_that_are_not_kept_any_more_count_as_paid(house: BatchingHouse) -> None:
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.server.batches.forget()
    house.carry_on()
    [batch] = house.batches()
    assert batch.ended == "lost"
    assert stores.spending().history(TENANT)[0].spent_usd == pytest.approx(batch.most_usd, abs=1e-5)
    house.drain()
    assert house.states(records) == {"done": 2}


def test_a_batch_or_results_that_a_provider_does_not_find_for_a_while_are_not_paid_twice(house: BatchingHouse) -> None:
    house.server.batches.unknown, house.server.batches.results_late = 3, 2
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert [batch.ended for batch in house.batches()] == ["completed"]
    assert [call.by_batch for call in house.server.calls] == [True, True]


def test_a_batch_that_its_provider_never_finds_is_given_up_three_days_after_its_time(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 404 may be a key of another project, which a person has to replace."""
    look = timedelta(hours=5)
    monkeypatch.setattr(advancing, "LONGEST_LOOK", look)
    house.server.batches.unknown = 1_000
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    [batch] = house.batches()
    assert (batch.state, batch.ended) == ("over", "lost")
    assert batch.ends_by is not None
    assert batch.finished_at is not None
    assert timedelta(days=3) <= batch.finished_at - batch.ends_by < timedelta(days=3) + look + timedelta(minutes=1)
    assert stores.spending().history(TENANT)[0].spent_usd == pytest.approx(batch.most_usd, abs=1e-5)
    assert not any(not call.by_batch for call in house.server.calls)
    house.drain()
    assert house.states(records) == {"done": 2}


@one_provider
def test_a_ceiling_that_is_reached_sends_nothing_more(house: BatchingHouse) -> None:
    records = house.enqueue(4)
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
    records = house.enqueue(6)
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
    first, second = house.enqueue(2)
    stores.batched_evaluations().ask_now(first.ref)
    house.drain()
    assert house.states([first, second]) == {"done": 1, "deferred": 1}
    house.later(hours=1)
    house.drain()
    with pytest.raises(ConflictError, match="pay_twice"):
        stores.batched_evaluations().ask_now(second.ref)
    stores.batched_evaluations().ask_now(second.ref, pay_twice=True)
    house.drain()
    [done] = house.now([second])
    assert done.evaluation.state == "done"
    house.carry_on()
    [after] = house.now([second])
    assert after.deep_evaluation == done.deep_evaluation, "the first result stays"
    assert [spend.line_id is None for spend in after.spends] == [True, False], "both calls are told"


@one_provider
@pytest.mark.parametrize("taken", [(0, 1), (0, 1, 2)])
def test_what_is_taken_elsewhere_before_its_batch_is_sent_is_not_in_it(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, taken: tuple[int, ...]
) -> None:
    """The first one as it is put into the batch, the others after that."""
    for number in range(3):
        house.server.reply(replies.evaluate(clarity=number / 10), prompt=f"island-{number}-")
    records = house.enqueue(3)
    evaluations = stores.batched_evaluations()
    submit = evaluations.submit

    def overtaken(which: Reference, *, place: SubmittedPlace) -> bool:
        if which.id == records[0].id:
            evaluations.ask_now(which)
        return submit(which, place=place)

    house.later(hours=1)
    with monkeypatch.context() as patch:
        patch.setattr(evaluations, "submit", overtaken)
        patch.setattr(house.deployment.machines, "work", lambda: None)
        house.drain()
    for number in taken[1:]:
        evaluations.ask_now(Reference(TENANT, "answer", records[number].id), pay_twice=True)
    house.deployment.machines.work()
    house.carry_on()
    house.drain()
    done = house.now(records)
    assert [record.deep_evaluation and record.deep_evaluation.clarity for record in done] == [0.0, 0.1, 0.2]
    assert sorted(call.by_batch for call in house.server.calls) == sorted(number not in taken for number in range(3))
    [batch] = house.batches()
    assert (batch.ended, batch.answered) == (("completed", 1) if len(taken) == 2 else ("empty", 0))
    assert stores.spending().today(TENANT).reserved_usd == 0.0


@one_provider
@pytest.mark.parametrize("end", ["completed", "expired"])
def test_what_was_asked_now_stays_as_it_is_where_its_batch_brings_nothing_for_it(
    house: BatchingHouse, end: Literal["completed", "expired"]
) -> None:
    house.server.batches.plan(Plan(looks=1, end=end, missing=(0,) if end == "completed" else (), late=(0,)))
    [record] = house.enqueue(1)
    house.later(hours=1)
    house.drain()
    stores.batched_evaluations().ask_now(record.ref, pay_twice=True)
    house.drain()
    [done] = house.now([record])
    house.carry_on()
    house.hour()
    assert house.now([record]) == [done]
    assert [call.by_batch for call in house.server.calls] == [False]


@one_provider
def test_batches_that_are_turned_off_leave_nothing_waiting_for_one(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.enqueue(2)
    monkeypatch.setenv("TOUCHSTONE_BATCHES", "off")
    environment.cache_clear()
    work.bulk_evaluations.cache_clear()
    house.drain()
    assert house.states(records) == {"done": 2}
    assert not any(call.by_batch for call in house.server.calls)


def test_what_a_batch_brought_is_read_also_where_its_key_was_taken_away_meanwhile(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()

    async def dies(*_: Any) -> None:
        house.take_keys_away()
        raise StoreError("The table does not answer.")

    before_the_first(monkeypatch, advancing, "settle", dies)
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
    records = house.enqueue(2)
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
    records = house.enqueue(2)
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
