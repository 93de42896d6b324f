"""Faults beside the batches at providers: each meets its own record, batch or tenant, and nobody else."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions import sweep
from functions.answers import evaluate
from functions.composition import batching as composed
from functions.composition import stores, work
from functions.environment import environment
from tests.support import replies
from tests.support.api import Api
from tests.support.balance import balance_at_the_end
from tests.support.batching import TENANT, BatchingHouse, batching_house, bury
from tests.support.deaths import KilledError
from tests.support.deployment import Context
from tests.support.overrides import registry
from tests.support.providers import ProviderServer, error
from tests.support.records import an_answer, an_attempt
from tests.support.wire_batches import Plan, Refusal
from touchstone.answers.model import AnswerRecord, SubmittedPlace
from touchstone.clock import Deadline, system_clock
from touchstone.errors import StoreError
from touchstone.judges import load_registry
from touchstone.judges.batches.openai import OpenAIBatches
from touchstone.judges.batches.record import ProviderBatch
from touchstone.operations.jobs.sweep import STALLED_AFTER
from touchstone.operations.provider_batches import advancing, beginning, gathering
from touchstone.operations.provider_batches.context import BatchingContext
from touchstone.operations.provider_batches.following import BatchLocation
from touchstone.operations.provider_batches.questions import lines_of
from touchstone.operations.provider_batches.sizes import LEARNED_FOR
from touchstone.records.answers import asked
from touchstone.references import Reference


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

        def spoiling(which: Reference, *, place: SubmittedPlace) -> bool:
            there = submit(which, place=place)
            if which.id == spoilt.id:
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
    assert (today.reserved_usd, today.calls) == (0.0, 4)
    told = sum(spend.cost_usd or 0.0 for record in house.now(records) for spend in record.spends)
    assert today.spent_usd == pytest.approx(told, abs=1e-5)


def _sizes(house: BatchingHouse) -> list[int]:
    return [len(batch.line_ids) for batch in house.server.batches.stored.values()]


def test_the_size_that_its_provider_took_is_kept_for_a_day(house: BatchingHouse) -> None:
    house.server.batches.most_queued = 2
    records = house.enqueue(4)
    for _ in range(2):
        house.hour()
    records += house.enqueue(9)  # the cache answers four of them
    for _ in range(3):
        house.hour()
    assert house.states(records) == {"done": 13}
    assert _sizes(house) == [4, 4, 2, 2, 2, 2, 1], "one beside another would be refused, too"
    assert [call.by_batch for call in house.server.calls] == [True] * 9
    house.server.batches.most_queued = None
    house.later(seconds=LEARNED_FOR.total_seconds())
    house.enqueue(12)
    house.hour()
    assert _sizes(house)[7:] == [3]


def test_a_batch_that_has_no_room_beside_another_tells_nothing_of_the_next_ones(house: BatchingHouse) -> None:
    house.deployment.tenant("other")
    house.server.batches.most_queued = 4
    house.server.batches.plan(Plan(looks=20))
    house.enqueue(2, tenant="other")
    house.later(hours=1)
    house.drain()
    records = house.enqueue(4)
    for _ in range(2):
        house.hour()
    assert house.states(records) == {"done": 4}
    assert _sizes(house) == [2, 4, 4, 2, 2]
    records = house.enqueue(8)  # the cache answers four of them
    house.hour()
    assert house.states(records) == {"done": 8}
    assert _sizes(house)[5:] == [4]


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
    reserve_and_assign = beginning.reserve_and_assign

    def dies(*_: object) -> ProviderBatch:
        raise StoreError("The function is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(beginning, "reserve_and_assign", dies)
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
    monkeypatch.setattr(beginning, "reserve_and_assign", met)
    house.drain()
    house.carry_on()
    for _ in range(2):
        house.hour()
    assert house.states(records) == {"done": 2}
    assert [call.by_batch for call in house.server.calls] == [True, True]


def _swept(context: BatchingContext, batch: ProviderBatch) -> None:
    step = advancing.advance(context, batch.id, deadline=Deadline.after(600))
    with ThreadPoolExecutor(max_workers=1) as another:
        another.submit(asyncio.run, step).result()


def _made_again(context: BatchingContext, batch: ProviderBatch) -> None:
    questions = lines_of(context, batch)
    beginning.begun(context, batch.provider, batch.model, questions, most_usd=batch.most_usd, batch_id=batch.id)


@pytest.mark.parametrize("beside", [_swept, _made_again])
def test_a_batch_is_left_to_who_makes_it_however_long_that_takes(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, beside: Callable[[BatchingContext, ProviderBatch], None]
) -> None:
    """Twelve minutes pass between its record and its money, and others, who come by then, find the ceiling at 0."""
    records = house.enqueue(2)
    house.later(hours=1)
    reserve, first = beginning.reserve, iter([True])

    def slow(context: BatchingContext, batch: ProviderBatch) -> object:
        if next(first, False):
            house.later(minutes=12)
            stores.spending().set_ceiling(TENANT, 0.0)
            beside(context, batch)
            stores.spending().set_ceiling(TENANT, 5.0)
        return reserve(context, batch)

    monkeypatch.setattr(beginning, "reserve", slow)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert [call.by_batch for call in house.server.calls] == [True, True]
    assert [batch.ended for batch in house.batches()] == ["completed"]


def test_a_step_that_fails_while_it_makes_a_batch_keeps_nobody_else_from_it(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.enqueue(2)
    house.later(hours=1)
    with monkeypatch.context() as patch:
        patch.setattr(beginning, "reserve", _store_fails)
        with pytest.raises(StoreError):
            house.drain()
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert [batch.ended for batch in house.batches()] == ["completed"]


def _store_fails(*_: object) -> None:
    raise StoreError("The table does not answer.")


def test_a_step_that_fails_while_it_carries_a_batch_keeps_nobody_else_from_it(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.enqueue(2)
    house.later(hours=1)
    house.drain()
    with monkeypatch.context() as patch:
        patch.setattr(advancing, "settle", _store_fails)
        house.carry_on()
    house.later(seconds=STALLED_AFTER.total_seconds() + 60)
    sweep.handler({}, Context())
    house.carry_on()
    assert house.states(records) == {"done": 2}


def test_a_half_made_batch_that_another_function_may_be_at_is_not_made_a_second_time(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = house.enqueue(2)
    house.later(hours=1)

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(beginning, "reserve", killed)
        with pytest.raises(KilledError):
            house.drain()
    bury()
    house.later(minutes=5)
    house.drain()
    assert house.states(records) == {"deferred": 2}
    house.later(minutes=15)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert [batch.ended for batch in house.batches()] == ["completed"]


def test_two_looks_at_the_line_at_once_begin_one_batch(house: BatchingHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    records = house.enqueue(2)
    house.later(hours=1)
    choose, first = gathering._chosen, iter([True])

    async def met(*given: Any) -> Any:
        chosen = await choose(*given)
        if next(first, False):
            await composed.gathering().run(owner="another", deadline=Deadline.after(600))
        return chosen

    monkeypatch.setattr(gathering, "_chosen", met)
    house.drain()
    house.carry_on()
    assert house.states(records) == {"done": 2}
    assert [batch.ended for batch in house.batches()] == ["completed"]


def test_enough_questions_do_not_wait_for_others(house: BatchingHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "ENOUGH", 3)
    records = house.enqueue(3)
    house.drain()
    assert house.states(records) == {"submitted": 3}


@pytest.mark.parametrize("bound", ["lines", "bytes", "our bytes"])
def test_a_batch_is_no_larger_than_its_provider_and_our_functions_take(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    limits = OpenAIBatches.limits
    if bound == "lines":
        monkeypatch.setattr(OpenAIBatches, "limits", replace(limits, lines=1))
    if bound == "bytes":
        monkeypatch.setattr(OpenAIBatches, "limits", replace(limits, bytes=1))
    if bound == "our bytes":
        monkeypatch.setattr(gathering, "MOST_BYTES", 1)
    house.enqueue(3)
    house.later(hours=1)
    house.drain()
    assert _sizes(house) == [1, 1, 1]


def test_a_model_without_a_known_price_is_in_no_batch(
    aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = load_registry({}).model("openai", "evaluate").name
    priceless = {"models": {name: {"price_in": None, "price_out": None}}}
    with batching_house(judges, monkeypatch, **registry(openai=priceless)) as house:
        records = house.enqueue(2)
        house.later(hours=1)
        house.drain()
        assert house.states(records) == {"failed": 2}
        assert {record.evaluation.failure for record in house.now(records)} == {"unpriced"}
        assert house.server.batches.stored == {}


def test_an_evaluation_that_was_asked_now_is_not_given_up_for_what_its_batch_brings(house: BatchingHouse) -> None:
    house.server.rule(error("refused"), prompt="island-0-")
    [record] = house.enqueue(1)
    house.later(hours=1)
    house.drain()
    stores.batched_evaluations().ask_now(record.ref, pay_twice=True)
    house.carry_on()
    assert house.states([record]) == {"deferred": 1}
    house.server.reply(replies.evaluate(), prompt="island-0-")
    house.drain()
    assert house.states([record]) == {"done": 1}


def test_a_batch_that_is_refused_after_its_providers_queue_was_full_cost_nothing(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(end="failed"))
    house.enqueue(2)
    house.later(hours=1)
    house.drain()
    house.server.batches.refuse(Refusal(status=400, body={"error": {"code": "invalid", "message": "No"}}))
    house.carry_on()
    assert [batch.ended for batch in house.batches()] == ["refused"]
    [day] = stores.spending().history(TENANT)
    assert (day.spent_usd, day.reserved_usd, day.calls) == (0.0, 0.0, 0)


def test_a_batch_that_is_refused_after_it_was_made_smaller_gives_back_all_of_its_calls(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(end="failed"), Plan(end="failed"))
    house.enqueue(4)
    house.later(hours=1)
    house.drain()
    house.server.batches.refuse(None, Refusal(status=400, body={"error": {"code": "invalid", "message": "No"}}))
    house.carry_on()
    [batch] = house.batches()
    assert (batch.ended, batch.count, batch.let_go) == ("refused", 2, 2)
    [day] = stores.spending().history(TENANT)
    assert (day.spent_usd, day.reserved_usd, day.calls) == (0.0, 0.0, 0)


def test_a_batch_is_looked_at_ever_less_often_and_every_quarter_of_an_hour_at_last(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(looks=14))
    house.enqueue(1)
    house.later(hours=1)
    house.drain()
    pauses = list[float]()
    for _ in range(14):
        [name] = house.deployment.machines.asleep
        pauses.append(house.deployment.machines.asleep_for[name])
        house.wake()
    assert pauses[0] <= 31
    assert all(after >= before - 1 for before, after in itertools.pairwise(pauses))
    assert 890 <= pauses[-1] <= 901


def test_a_ceiling_that_is_lowered_while_a_batch_is_made_ends_no_batch_whose_money_is_held_back(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = house.enqueue(2)
    house.later(hours=1)
    evaluations = stores.batched_evaluations()
    submit = evaluations.submit

    def fails(which: Reference, *, place: SubmittedPlace) -> bool:
        if which.id == second.id:
            _store_fails()
        return submit(which, place=place)

    with monkeypatch.context() as patch:
        patch.setattr(evaluations, "submit", fails)
        with pytest.raises(StoreError):
            house.drain()
    assert house.states([first, second]) == {"submitted": 1, "deferred": 1}
    stores.spending().set_ceiling(TENANT, 0.0)
    house.hour()
    stores.spending().set_ceiling(TENANT, 5.0)
    house.hour()
    assert house.states([first, second]) == {"done": 2}
    assert [call.by_batch for call in house.server.calls] == [True, True]


def test_what_is_asked_at_once_is_asked_also_where_nothing_can_be_gathered(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    hastened, waiting = house.enqueue(2)
    stores.batched_evaluations().ask_now(Reference(TENANT, "answer", hastened.id))

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
