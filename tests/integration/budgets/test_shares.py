"""A2: a tenant that asks without end spends its own share of a quota, and the others are served."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

from tests.support import replies
from tests.support.clocks import StandingClock
from tests.support.judges import Script
from touchstone.answers.progress import status_of
from touchstone.answers.verification import Verified, quick_verify
from touchstone.budgets import DynamoAdmission, QuotaKey, Quotas, Spending, TenantShare
from touchstone.clock import Deadline
from touchstone.errors import QuotaExceededError, StoreError, TenantShareError
from touchstone.judges.base import Call, QuotaLimits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEY = QuotaKey("gemini", "gemini-3.5-flash-lite", "default")
HALF = TenantShare(fraction=0.5, several=lambda: True)
LIMITS = QuotaLimits(per_day=40, per_minute=15)
SENT = 100
"""Stands for 10,000: a dozen times what the share of a minute lets through; the rest would be more of the same."""


@pytest.fixture
def quotas(table: "Table", clock: StandingClock) -> Quotas:
    """Quotas of which one tenant may use half."""
    return Quotas(table, clock=clock, tenant_share=HALF)


def used(quotas: Quotas, tenant: str) -> int:
    usage = quotas.share_usage(KEY, LIMITS, tenant=tenant)
    assert usage is not None
    return usage.used


def test_a2_twenty_workers_of_two_tenants_share_a_day(table: "Table", clock: StandingClock) -> None:
    limits = QuotaLimits(per_day=40)
    tables = [boto3.resource("dynamodb", region_name="us-east-1").Table(table.name) for _ in range(20)]

    def worker(number: int) -> list[str]:
        """One process: nineteen of them ask for acme without end, one asks for bona now and then."""
        own = Quotas(tables[number], clock=clock, tenant_share=HALF)
        tenant, outcomes = ("bona", []) if number == 0 else ("acme", [])
        for _ in range(10):
            try:
                own.reserve(KEY, limits, purpose="fresh", tenant=tenant)
                outcomes.append(f"{tenant} served")
            except QuotaExceededError as refused:
                outcomes.append(f"{tenant} {refused.reason}")
        return outcomes

    with ThreadPoolExecutor(20) as pool:
        outcomes = Counter(outcome for each in pool.map(worker, range(20)) for outcome in each)
    assert outcomes == {"acme served": 20, "acme tenant_share": 170, "bona served": 10}
    quotas = Quotas(table, clock=clock, tenant_share=HALF)
    assert (used(quotas, "acme"), used(quotas, "bona"), quotas.usage(KEY, limits).used) == (20, 10, 30)


def test_a2_a_tenant_that_sends_thousands_spends_its_share_and_calls_no_provider_beyond_it(
    table: "Table", clock: StandingClock
) -> None:
    script = Script({"verify": [replies.verify()]}, providers=("gemini",))

    def process(tenant: str) -> Callable[[int], Verified]:
        """A function that verifies for a tenant."""
        admission = DynamoAdmission(
            Quotas(table, clock=clock, tenant_share=HALF), Spending(table, clock=clock), ceiling_usd=1000.0
        )
        judges = script.judges(
            admission=admission,
            clock=clock,
            tenant=tenant,
            overrides={"gemini": {"models": {KEY.model: {"per_day": 1000, "per_minute": 15}}}},
        )

        def verify(number: int) -> Verified:
            judge = judges.default("verify")
            problem = f"Name the capital of country {number}."
            return asyncio.run(quick_verify(problem, "Canberra", judge=judge, deadline=Deadline.after(30.0)))

        return verify

    acme = [process("acme") for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda number: acme[number % 20](number), range(SENT)))
    assert len(script.asked) == 8, "half of 15, rounded up"
    reasons = Counter(verified.verification.skip_reason for verified in found)
    assert reasons == {None: 8, "tenant_share": SENT - 8}
    skipped = next(verified.verification for verified in found if verified.verification.skip_reason)
    assert status_of(skipped) == "unverified"
    assert skipped.error is not None
    assert "The share of acme in the minute's quota of gemini" in skipped.error
    bona = process("bona")
    assert [status_of(bona(number).verification) for number in range(7)] == ["verified"] * 7
    assert Spending(table, clock=clock).today("acme").calls == 8


def test_a2_share_and_quota_are_shown_as_they_are_used(quotas: Quotas, clock: StandingClock) -> None:
    for _ in range(3):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    own, whole = quotas.share_usage(KEY, LIMITS, tenant="acme"), quotas.usage(KEY, LIMITS)
    assert own is not None
    assert (own.used, own.limit, own.left, own.per_minute, own.left_this_minute) == (3, 20, 17, 8, 5)
    assert (whole.used, whole.limit, whole.left) == (3, 40, 37)
    clock.now = whole.resets_at - timedelta(hours=2)
    own = quotas.share_usage(KEY, LIMITS, tenant="acme")
    assert own is not None
    assert (own.used, own.limit, own.left, own.per_minute) == (3, None, None, 8)


def test_a2_a_tenants_shares_of_two_quotas_are_two(quotas: Quotas) -> None:
    quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    other = QuotaKey(KEY.provider, KEY.model, "another")
    usage = quotas.share_usage(other, LIMITS, tenant="acme")
    assert usage is not None
    assert usage.used == 0
    names = {QuotaKey("a", "b", "c#T#d").pk, QuotaKey("a", "b", "c", "d").pk, QuotaKey("a", "b", "c").pk}
    assert len(names) == 3


@pytest.mark.parametrize(
    "share", [None, TenantShare(fraction=1.0, several=lambda: True), TenantShare(fraction=0.5, several=lambda: False)]
)
def test_where_no_share_binds_nothing_of_it_is_written(
    table: "Table", clock: StandingClock, share: TenantShare | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    quotas = Quotas(table, clock=clock, tenant_share=share)
    send, requests = BaseClient._make_api_call, []  # type: ignore[attr-defined]

    def count(self: BaseClient, operation: str, parameters: Any) -> Any:
        requests.append(operation)
        return send(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", count)
    quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    assert requests == ["GetItem", "PutItem"]
    assert quotas.share_usage(KEY, LIMITS, tenant="acme") is None
    assert {item["pk"] for item in table.scan()["Items"]} == {KEY.pk}


def test_a2_a_refused_tenant_writes_nothing(quotas: Quotas, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(8):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    send, requests = BaseClient._make_api_call, []  # type: ignore[attr-defined]

    def count(self: BaseClient, operation: str, parameters: Any) -> Any:
        requests.append(operation)
        return send(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", count)
    for _ in range(5):
        with pytest.raises(TenantShareError):
            quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    assert set(requests) == {"GetItem"}


type Fault = Callable[[], Any]


@pytest.fixture
def at_write(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Fault], None]:
    """Let the write of this number, counted from now and from 1, meet a fault instead of the table."""
    send = BaseClient._make_api_call  # type: ignore[attr-defined]
    faults: dict[int, Fault] = {}
    writes = 0

    def meet(self: BaseClient, operation: str, parameters: dict[str, Any]) -> Any:
        nonlocal writes
        if operation in {"PutItem", "TransactWriteItems"}:
            writes += 1
            if writes in faults:
                return faults.pop(writes)()
        return send(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", meet)

    def add(number: int, fault: Fault) -> None:
        faults[writes + number] = fault

    return add


def throttled() -> Any:
    raise ClientError({"Error": {"Code": "ThrottlingException", "Message": ""}}, "Write")


def killed() -> Any:
    raise SystemExit("Sandbox.Timedout")


def test_r3_a_function_killed_between_the_two_writes_costs_one_unit_of_its_own_share(
    quotas: Quotas, at_write: Callable[[int, Fault], None]
) -> None:
    at_write(2, killed)
    with pytest.raises(SystemExit):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    assert (used(quotas, "acme"), quotas.usage(KEY, LIMITS).used) == (1, 0)
    for _ in range(7):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    for _ in range(8):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="bona")
    assert quotas.usage(KEY, LIMITS).left_this_minute == 0


def test_r16_a_share_that_cannot_be_written_reserves_nothing(
    quotas: Quotas, at_write: Callable[[int, Fault], None]
) -> None:
    at_write(1, throttled)
    with pytest.raises(StoreError, match="write the quota"):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    assert (used(quotas, "acme"), quotas.usage(KEY, LIMITS).used) == (0, 0)


def test_r16_a_quota_that_cannot_be_written_gives_the_share_back(
    quotas: Quotas, at_write: Callable[[int, Fault], None], caplog: pytest.LogCaptureFixture
) -> None:
    at_write(2, throttled)
    with pytest.raises(StoreError):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    assert (used(quotas, "acme"), quotas.usage(KEY, LIMITS).used) == (0, 0)
    at_write(2, throttled)
    at_write(3, throttled)
    with pytest.raises(StoreError):
        quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    assert (used(quotas, "acme"), quotas.usage(KEY, LIMITS).used) == (1, 0)
    assert "stays reserved" in caplog.text


@pytest.mark.parametrize("broken", [1, 2])
def test_r16_each_account_is_given_back_whatever_becomes_of_the_other(
    quotas: Quotas, at_write: Callable[[int, Fault], None], broken: int
) -> None:
    unit = quotas.reserve(KEY, LIMITS, purpose="fresh", tenant="acme")
    at_write(broken, throttled)
    with pytest.raises(StoreError):
        quotas.release(unit)
    assert (quotas.usage(KEY, LIMITS).used, used(quotas, "acme")) == ((1, 0) if broken == 1 else (0, 1))
    for _ in range(2):
        quotas.release(unit)
    assert (quotas.usage(KEY, LIMITS).used, used(quotas, "acme")) == (0, 0)


def test_a_permit_that_is_released_frees_quota_and_share(table: "Table", quotas: Quotas, clock: StandingClock) -> None:
    admission = DynamoAdmission(quotas, Spending(table, clock=clock), ceiling_usd=1.0)
    call = Call(
        provider=KEY.provider,
        model=KEY.model,
        account=KEY.account,
        tenant="acme",
        purpose="fresh",
        limits=LIMITS,
        max_cost_usd=0.25,
    )

    async def admit_and_release() -> None:
        permit = await admission.admit(call)
        assert used(quotas, "acme") == 1
        await permit.release()

    asyncio.run(admit_and_release())
    assert (quotas.usage(KEY, LIMITS).used, used(quotas, "acme")) == (0, 0)
