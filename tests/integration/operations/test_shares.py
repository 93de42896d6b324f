"""A2: deep evaluations of a tenant that asks for thousands take its share of every day, and the drain serves all."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.house import EVALUATOR, LONG, House
from touchstone.budgets import QuotaKey, Quotas, TenantShare, next_reset
from touchstone.clock import Deadline
from touchstone.judges.base import QuotaLimits
from touchstone.operations.answers import draining
from touchstone.operations.answers.evaluating import evaluate_answer
from touchstone.references import Reference

if TYPE_CHECKING:
    from touchstone.answers.model import AnswerRecord

MORNING = datetime(2026, 11, 22, 8, 10, tzinfo=UTC)
"""Ten past midnight by the provider's clock, when the drain of the night runs."""


@pytest.fixture
def shared(house: House) -> House:
    """A house of several tenants: 10 evaluations a day for all, 5 for one of them; 4 a minute, 2 for one."""
    house.quotas = Quotas(
        house.table, clock=house.clock, tenant_share=TenantShare(fraction=0.5, several=lambda: True), fresh_share=0.0
    )
    house.per_day, house.per_minute = 10, 4
    house.clock.now = MORNING - timedelta(hours=1)
    return house


def failures(house: House, records: "list[AnswerRecord]") -> set[str | None]:
    kept = [house.answers.get(Reference(record.tenant, "answer", record.id)) for record in records]
    return {record.evaluation.failure for record in kept if record.evaluation.state == "deferred"}


async def test_a2_a_tenant_that_asks_for_thousands_holds_nobody_up(shared: House) -> None:
    acme = shared.asked_for(30, tenant="acme")
    bona = shared.asked_for(3, tenant="bona")
    shared.clock.now = MORNING
    drained = await shared.drain_whole()
    assert shared.states(bona) == {"done": 3}, "though it asked last"
    assert shared.states(acme) == {"done": 5, "deferred": 25}
    assert failures(shared, acme) <= {"tenant_share", None}
    assert len(shared.script.asked) == 8
    assert drained[-1].state == "empty"


async def test_a2_who_asks_behind_windows_of_a_spent_tenant_is_reached(
    shared: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "WINDOW", 8)
    shared.asked_for(40, tenant="acme")
    bona = shared.asked_for(1, tenant="bona")
    shared.clock.now = MORNING
    reads = 0
    oldest = shared.evaluations.oldest_deferred

    def counted(**arguments: Any) -> Any:
        nonlocal reads
        reads += 1
        return oldest(**arguments)

    monkeypatch.setattr(shared.evaluations, "oldest_deferred", counted)
    await shared.drain().run(owner="drain", deadline=Deadline.after(LONG))
    assert shared.states(bona) == {"done": 1}
    assert reads <= 7, "the line is read once, a window at a time"


async def test_a2_what_others_left_is_the_tenants_two_hours_before_the_reset(shared: House) -> None:
    acme = shared.asked_for(30, tenant="acme")
    shared.clock.now = MORNING
    await shared.drain_whole()
    assert shared.states(acme) == {"done": 5, "deferred": 25}
    shared.clock.now = next_reset("gemini", MORNING) - timedelta(hours=1, minutes=50)
    await shared.drain_whole()
    assert shared.states(acme) == {"done": 10, "deferred": 20}
    shared.clock.now = next_reset("gemini", MORNING) + timedelta(minutes=10)
    await shared.drain_whole()
    assert shared.states(acme) == {"done": 15, "deferred": 15}


async def test_a2_a_fresh_evaluation_beyond_the_share_is_deferred(shared: House) -> None:
    shared.clock.now = MORNING
    acme = shared.asked_for(6, tenant="acme", state="waiting")
    context = shared.context("acme")
    outcomes = [await evaluate_answer(context, record.id) for record in acme[:3]]
    assert [(outcome.state, outcome.reason) for outcome in outcomes] == [
        ("done", None), ("done", None), ("deferred", "tenant_share"),
    ]  # fmt: skip
    limits = QuotaLimits(per_day=shared.per_day, per_minute=shared.per_minute)
    seat = shared.judges("acme").tier_model("evaluate")
    assert seat is not None
    key = QuotaKey("gemini", EVALUATOR, seat.account)
    usage = shared.quotas.share_usage(key, limits, tenant="acme")
    assert usage is not None
    assert (usage.used, usage.left_this_minute) == (2, 0)
    for record in acme[2:5]:
        shared.clock.advance(minutes=2)
        assert (await evaluate_answer(context, record.id)).state == "done"
    shared.clock.advance(minutes=2)
    last = await evaluate_answer(context, acme[5].id)
    assert (last.state, last.reason) == ("deferred", "tenant_share")
    assert last.until == next_reset("gemini", MORNING) - timedelta(hours=2)
    (other,) = shared.asked_for(1, tenant="bona", state="waiting")
    assert (await evaluate_answer(shared.context("bona"), other.id)).state == "done"
