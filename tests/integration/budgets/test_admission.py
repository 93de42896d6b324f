"""Admission by the table: money first, then a unit, and nothing kept of a call that is not made."""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import EndpointConnectionError

from tests.support.clocks import StandingClock
from touchstone.budgets.account import QuotaKey
from touchstone.budgets.admission import CEILING_HOLDS, DynamoAdmission
from touchstone.budgets.quotas import Quotas
from touchstone.budgets.spending import Spending
from touchstone.errors import DayQuotaError, QuotaExceededError, SpendingCeilingError, StoreError, TimedOutError
from touchstone.judges.base import Call, QuotaLimits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEY = QuotaKey("gemini", "gemini-3.5-flash-lite", "default")


def call(*, per_day: int = 250, per_minute: int = 10, usd: float | None = 0.25) -> Call:
    return Call(
        provider=KEY.provider,
        model=KEY.model,
        account=KEY.account,
        tenant="acme",
        purpose="fresh",
        limits=QuotaLimits(per_day=per_day, per_minute=per_minute),
        max_cost_usd=usd,
    )


@pytest.fixture
def spending(table: "Table", clock: StandingClock) -> Spending:
    return Spending(table, clock=clock)


@pytest.fixture
def admission(quotas: Quotas, spending: Spending) -> DynamoAdmission:
    return DynamoAdmission(quotas, spending, ceiling_usd=1.0)


@pytest.fixture
def break_table(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make the table unreachable from now on."""

    def fail(self: BaseClient, operation: str, parameters: Any) -> Any:
        raise EndpointConnectionError(endpoint_url="https://table")

    return lambda: monkeypatch.setattr(BaseClient, "_make_api_call", fail)


async def test_a_call_is_counted_before_it_is_sent_and_paid_after(
    admission: DynamoAdmission, quotas: Quotas, spending: Spending
) -> None:
    permit = await admission.admit(call())
    assert quotas.usage(KEY, call().limits).used == 1
    assert spending.today("acme").reserved_usd == 0.25
    await permit.settle(cost_usd=0.02)
    assert (spending.today("acme").spent_usd, spending.today("acme").reserved_usd) == (0.02, 0.0)


async def test_who_looks_again_and_again_for_a_unit_writes_nothing(
    quotas: Quotas, spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = DynamoAdmission(quotas, spending, ceiling_usd=1.0, slow_start=True)
    await patient.admit(call(per_minute=1))
    asked, send = list[str](), BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(self: BaseClient, operation: str, parameters: Any) -> Any:
        asked.append(operation)
        return send(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", noted)
    for _ in range(3):
        with pytest.raises(QuotaExceededError):
            await patient.admit(call(per_minute=1))
    assert asked == ["GetItem"] * 3
    assert spending.today("acme").reserved_usd == 0.25


async def test_r4_a_lost_reply_leaves_unit_and_money_spent(
    admission: DynamoAdmission, quotas: Quotas, spending: Spending
) -> None:
    await (await admission.admit(call())).settle(cost_usd=None, error=TimedOutError("late"))
    assert quotas.usage(KEY, call().limits).used == 1
    assert spending.today("acme").spent_usd == 0.25


async def test_a_call_that_was_never_sent_leaves_nothing(
    admission: DynamoAdmission, quotas: Quotas, spending: Spending
) -> None:
    await (await admission.admit(call())).release()
    assert quotas.usage(KEY, call().limits).used == 0
    assert (spending.today("acme").reserved_usd, spending.today("acme").calls) == (0.0, 0)


async def test_money_goes_back_when_the_quota_refuses(admission: DynamoAdmission, spending: Spending) -> None:
    with pytest.raises(QuotaExceededError):
        await admission.admit(call(per_day=0))
    assert (spending.today("acme").reserved_usd, spending.today("acme").calls) == (0.0, 0)


async def test_no_unit_is_taken_when_the_ceiling_refuses(admission: DynamoAdmission, quotas: Quotas) -> None:
    with pytest.raises(SpendingCeilingError):
        await admission.admit(call(usd=1.01))
    assert quotas.usage(KEY, call().limits).used == 0


async def test_r8_a_day_the_provider_calls_spent_refuses_the_next_call(admission: DynamoAdmission) -> None:
    await (await admission.admit(call())).settle(cost_usd=None, error=DayQuotaError("spent", limit=20))
    with pytest.raises(QuotaExceededError) as refused:
        await admission.admit(call())
    assert refused.value.window == "day"


async def test_a_tenants_own_ceiling_goes_before_the_default(
    admission: DynamoAdmission, spending: Spending, clock: StandingClock
) -> None:
    await admission.admit(call())
    spending.set_ceiling("acme", 0.30)
    clock.now += CEILING_HOLDS
    with pytest.raises(SpendingCeilingError, match=r"0\.30"):
        await admission.admit(call())
    spending.set_ceiling("acme", 5.0)
    clock.now += CEILING_HOLDS - timedelta(seconds=1)
    with pytest.raises(SpendingCeilingError):
        await admission.admit(call())
    clock.forward(seconds=1)
    await admission.admit(call(usd=4.0))


async def test_r16_a_reply_is_not_lost_over_its_bookkeeping(
    admission: DynamoAdmission, break_table: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    sent, unsent = await admission.admit(call()), await admission.admit(call())
    break_table()
    await sent.settle(cost_usd=0.02, error=DayQuotaError("spent"))
    await unsent.release()
    assert "stays reserved" in caplog.text


async def test_r16_nothing_is_admitted_without_the_table(
    admission: DynamoAdmission, break_table: Callable[[], None]
) -> None:
    break_table()
    with pytest.raises(StoreError):
        await admission.admit(call())


async def test_what_a_cancelled_caller_reserved_is_given_back(
    admission: DynamoAdmission, quotas: Quotas, spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserving, go_on, given_back = threading.Event(), threading.Event(), threading.Event()
    reserve, release = quotas.reserve, spending.release

    def slow(*arguments: Any, **named: Any) -> Any:
        reserving.set()
        go_on.wait(60)
        return reserve(*arguments, **named)

    def last(*arguments: Any) -> None:
        release(*arguments)
        given_back.set()

    monkeypatch.setattr(quotas, "reserve", slow)
    monkeypatch.setattr(spending, "release", last)
    caller = asyncio.create_task(admission.admit(call()))
    await asyncio.to_thread(reserving.wait, 60)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()
    assert await asyncio.to_thread(given_back.wait, 60)
    assert quotas.usage(KEY, call().limits).used == 0
    assert spending.today("acme").reserved_usd == 0.0


async def test_what_was_reserved_in_the_moment_of_the_cancellation_is_given_back(
    admission: DynamoAdmission, quotas: Quotas, spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserved, given_back = threading.Event(), threading.Event()
    release = spending.release

    async def run[T](work: Callable[[], T]) -> T:
        found = await asyncio.to_thread(work)
        reserved.set()
        await asyncio.sleep(60)  # the permit is made, and has not reached the caller
        return found

    def last(*arguments: Any) -> None:
        release(*arguments)
        given_back.set()

    monkeypatch.setattr(admission, "run", run)
    monkeypatch.setattr(spending, "release", last)
    caller = asyncio.create_task(admission.admit(call()))
    await asyncio.to_thread(reserved.wait, 60)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert await asyncio.to_thread(given_back.wait, 10)
    assert quotas.usage(KEY, call().limits).used == 0
    assert spending.today("acme").reserved_usd == 0.0
