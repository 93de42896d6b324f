"""Budgets without AWS: the same rules for the library and the command line."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.clocks import StandingClock
from touchstone.budgets.account import SEND_MARGIN, QuotaKey
from touchstone.budgets.decision import SEND_WITHIN
from touchstone.budgets.ledger import FIRST_PAUSE
from touchstone.budgets.memory import MemoryAdmission
from touchstone.errors import (
    DayQuotaError,
    InputError,
    MinuteQuotaError,
    MisconfiguredError,
    OverloadedError,
    QuotaExceededError,
    SpendingCeilingError,
    UnavailableModelError,
    UnpricedError,
)
from touchstone.judges.base import Call, QuotaLimits

NOON = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
CALL = Call(
    provider="gemini",
    model="gemini-3.5-flash-lite",
    account="default",
    tenant="acme",
    purpose="fresh",
    limits=QuotaLimits(per_day=250, per_minute=10),
    max_cost_usd=0.25,
)
KEY = QuotaKey(CALL.provider, CALL.model, CALL.account)


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(NOON)


@pytest.fixture
def admission(clock: StandingClock) -> MemoryAdmission:
    return MemoryAdmission(ceiling_usd=1.0, clock=clock)


async def test_twenty_at_once_are_admitted_up_to_the_minute(clock: StandingClock) -> None:
    admission = MemoryAdmission(clock=clock)
    outcomes = await asyncio.gather(*(admission.admit(CALL) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(outcome, QuotaExceededError) for outcome in outcomes) == 10
    assert admission.quotas.usage(KEY, CALL.limits).used == 10


async def test_the_ceiling_holds_until_money_is_settled(admission: MemoryAdmission) -> None:
    permits = [await admission.admit(CALL) for _ in range(4)]
    with pytest.raises(SpendingCeilingError):
        await admission.admit(CALL)
    await permits[0].settle(cost_usd=0.01)
    with pytest.raises(SpendingCeilingError):
        await admission.admit(CALL)
    await permits[1].settle(cost_usd=0.01)
    await admission.admit(CALL)


async def test_a_ceiling_refuses_a_model_without_a_price_unless_told_to_let_it_pass(
    admission: MemoryAdmission, clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpriced = replace(CALL, max_cost_usd=None)
    with pytest.raises(UnpricedError, match=r"price is known for gemini's gemini-.*TOUCHSTONE_UNPRICED=allow"):
        await admission.admit(unpriced)
    assert admission.quotas.usage(KEY, CALL.limits).used == 0
    await MemoryAdmission(clock=clock).admit(unpriced)  # without a ceiling there is nothing to keep
    monkeypatch.setenv("TOUCHSTONE_UNPRICED", "allow")
    permits = [await admission.admit(unpriced) for _ in range(5)]
    assert len(permits) == 5


async def test_a_reply_without_usage_stays_at_what_was_held_back(admission: MemoryAdmission) -> None:
    for _ in range(4):
        await (await admission.admit(CALL)).settle(cost_usd=None)
    with pytest.raises(SpendingCeilingError):
        await admission.admit(CALL)


async def test_a_refused_quota_costs_no_money(admission: MemoryAdmission) -> None:
    spent = replace(CALL, limits=QuotaLimits(per_day=0))
    for _ in range(5):
        with pytest.raises(QuotaExceededError):
            await admission.admit(spent)
    await admission.admit(CALL)


async def test_r15_what_a_provider_says_of_a_model_is_said_for_it_until_a_probe_is_due(
    admission: MemoryAdmission, clock: StandingClock
) -> None:
    gone = UnavailableModelError("Gemini does not know the model.")
    await (await admission.admit(CALL)).settle(cost_usd=0.0, error=gone)
    for _ in range(20):
        with pytest.raises(UnavailableModelError) as refused:
            await admission.admit(CALL)
        assert not refused.value.sent
        assert str(refused.value) == (
            "Gemini does not know the model. Nothing was sent; the next call may be made at 2026-11-21 20:00:10 UTC."
        )
    await admission.admit(replace(CALL, account="another key"))
    clock.now += FIRST_PAUSE
    probe = await admission.admit(CALL)
    with pytest.raises(UnavailableModelError, match="Nothing was sent; the next call may be made when one in flight"):
        await admission.admit(CALL)
    await probe.settle(cost_usd=0.0, error=gone)
    with pytest.raises(UnavailableModelError, match="20:00:30 UTC"):
        await admission.admit(CALL)
    clock.now += 2 * FIRST_PAUSE
    for _ in range(5):
        await (await admission.admit(CALL)).settle(cost_usd=0.01)
    await admission.admit(CALL)
    with pytest.raises(QuotaExceededError, match="how many calls at once"):
        await admission.admit(CALL)


async def test_a_probe_that_was_never_sent_lets_the_next_one_through(
    admission: MemoryAdmission, clock: StandingClock
) -> None:
    await (await admission.admit(CALL)).settle(cost_usd=0.0, error=MinuteQuotaError("busy"))
    clock.now += FIRST_PAUSE
    await (await admission.admit(CALL)).release()
    await admission.admit(CALL)


async def test_r15_a_request_that_one_caller_got_wrong_holds_up_nobody(admission: MemoryAdmission) -> None:
    await (await admission.admit(CALL)).settle(cost_usd=0.0, error=MisconfiguredError("Malformed."))
    await admission.admit(CALL)


async def test_only_the_first_end_of_a_permit_counts(admission: MemoryAdmission) -> None:
    unsent, sent = await admission.admit(CALL), await admission.admit(CALL)
    await unsent.release()
    await unsent.release()
    for _ in range(2):
        await sent.settle(cost_usd=0.25)
        await sent.release()
    assert admission.quotas.usage(KEY, CALL.limits).used == 1


async def test_a_permit_expires_before_the_guard_does(admission: MemoryAdmission, clock: StandingClock) -> None:
    permit = await admission.admit(CALL)
    clock.now += SEND_WITHIN - timedelta(milliseconds=1)
    just_before = permit.expired
    clock.forward(milliseconds=1)
    assert (just_before, permit.expired) == (False, True)
    assert SEND_WITHIN < SEND_MARGIN


@pytest.mark.parametrize(
    ("error", "admitted"),
    [
        (DayQuotaError("spent"), False),
        (MinuteQuotaError("busy", retry_after=9.0), False),
        (OverloadedError("503"), True),
    ],
)
async def test_a_failed_call_teaches_the_quota(
    admission: MemoryAdmission, error: DayQuotaError | MinuteQuotaError | OverloadedError, *, admitted: bool
) -> None:
    await (await admission.admit(CALL)).settle(cost_usd=None, error=error)
    if admitted:
        await admission.admit(CALL)
    else:
        with pytest.raises(QuotaExceededError):
            await admission.admit(CALL)


async def test_a_day_of_the_provider_ends(admission: MemoryAdmission, clock: StandingClock) -> None:
    one = replace(CALL, limits=QuotaLimits(per_day=1))
    unsent = await admission.admit(one)
    with pytest.raises(QuotaExceededError) as refused:
        await admission.admit(one)
    assert refused.value.until is not None
    clock.now = refused.value.until
    await admission.admit(one)
    await unsent.release()  # of yesterday: today's unit stays spent
    assert admission.quotas.usage(KEY, one.limits).used == 1


async def test_a_clock_that_is_a_day_ahead_for_a_while_does_not_forget_what_was_used(clock: StandingClock) -> None:
    admission = MemoryAdmission(clock=clock)
    call = replace(CALL, limits=QuotaLimits(per_day=2, per_minute=None))
    for days in (0, 1, -1):
        clock.forward(days=days)
        await admission.admit(call)
    with pytest.raises(QuotaExceededError) as caught:
        await admission.admit(call)
    assert caught.value.window == "day"


def test_a_released_unit_is_given_back_once(admission: MemoryAdmission) -> None:
    first = admission.quotas.reserve(KEY, CALL.limits, purpose="fresh")
    admission.quotas.reserve(KEY, CALL.limits, purpose="fresh")
    for _ in range(3):
        admission.quotas.release(first)
    assert admission.quotas.usage(KEY, CALL.limits).used == 1


def test_a_share_beyond_the_whole_is_refused() -> None:
    with pytest.raises(InputError, match="0 to 1"):
        MemoryAdmission(fresh_share=-0.1)
