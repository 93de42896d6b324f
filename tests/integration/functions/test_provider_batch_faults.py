"""Faults beside the batches at providers: each meets its own record, batch or tenant, and nobody else."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from functions.answers import evaluate
from functions.composition import stores, work
from functions.environment import environment
from tests.support.api import Api
from tests.support.batching import TENANT, BatchingHouse, batching_house
from tests.support.deployment import Context
from tests.support.providers import ProviderServer
from tests.support.records import an_answer, an_attempt
from tests.support.wire_batches import Plan, Refusal
from touchstone.answers.model import AnswerRecord
from touchstone.clock import system_clock
from touchstone.errors import StoreError
from touchstone.operations.following import Whereabouts
from touchstone.operations.provider_batches import advancing, gathering
from touchstone.records.answers import asked


@pytest.fixture
def house(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchingHouse]:
    """A deployment with a key of OpenAI, whose batches are on."""
    with batching_house(judges, monkeypatch) as here:
        yield here


def _spoil(house: BatchingHouse, record: AnswerRecord) -> None:
    """Make a stored record unreadable."""
    [item] = [row for row in house.deployment.rows() if str(row["pk"]).endswith(record.id) and "body" in row]
    house.deployment.table.put_item(Item=item | {"body": "{}"})


def test_a_record_that_cannot_be_read_keeps_no_other_one_from_being_asked(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt, *others = house.line_up(3)
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
    first, spoilt, last = house.line_up(3)
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
        assert batch.cost_usd == pytest.approx(told + batch.most_usd / 3), "its reply was paid for"


def test_a_batch_beyond_the_tokens_that_may_wait_at_its_provider_goes_by_smaller_ones(house: BatchingHouse) -> None:
    house.server.batches.plan(Plan(end="failed"), Plan(end="failed"))
    records = house.line_up(4)
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


def test_what_is_asked_at_once_is_asked_also_where_nothing_can_be_gathered(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    hastened, waiting = house.line_up(2)
    stores.batched_evaluations().hasten(tenant=TENANT, answer_id=hastened.id)

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
    spent = house.line_up(4)
    stores.spending().set_ceiling(TENANT, 0.0)
    behind = house.line_up(2, tenant="other")
    house.later(hours=1)
    house.drain()
    assert house.states(behind) == {"submitted": 2}
    assert house.states(spent) == {"deferred": 4}


def test_a_question_dearer_than_a_days_ceiling_holds_up_no_other_one(
    house: BatchingHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear, *others = house.line_up(3)
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
    async def unknown(*_: object, **__: object) -> Whereabouts:
        return Whereabouts()

    monkeypatch.setattr(advancing, "whereabouts", unknown)
    monkeypatch.setattr(advancing, "AGAIN", timedelta(hours=1))
    house.server.batches.refuse(Refusal(lost=True))
    records = house.line_up(2)
    house.later(hours=1)
    house.drain()
    house.carry_on()
    [batch] = house.batches()
    assert (batch.state, batch.ended) == ("over", "lost")
    assert stores.spending().history(TENANT)[0].spent_usd == pytest.approx(batch.most_usd, abs=1e-5)
    assert house.states(records) == {"deferred": 2}
