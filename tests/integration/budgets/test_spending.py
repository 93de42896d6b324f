"""Money is held back before a call and settled after it, whatever is repeated and whoever calls at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import boto3
import pytest

from tests.support.clocks import StandingClock
from touchstone.budgets.day_parts import DayParts
from touchstone.budgets.spending import Spending, SpendReservation
from touchstone.errors import InputError, MinuteQuotaError, SpendingCeilingError, TimedOutError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def spending(table: "Table", clock: StandingClock) -> Spending:
    return Spending(table, clock=clock)


def sums(spending: Spending, tenant: str = "acme") -> tuple[float, float, int, int]:
    today = spending.today(tenant)
    return today.spent_usd, today.reserved_usd, today.calls, today.unpriced_calls


def test_money_is_held_back_and_then_counted_as_it_cost(spending: Spending) -> None:
    reservation = spending.reserve("acme", 0.30, 1.0)
    assert sums(spending) == (0.0, 0.30, 1, 0)
    spending.settle(reservation, cost_usd=0.12)
    assert sums(spending) == (0.12, 0.0, 1, 0)


def test_the_ceiling_counts_what_is_under_way(spending: Spending) -> None:
    first = spending.reserve("acme", 0.60, 1.0)
    with pytest.raises(SpendingCeilingError, match="acme") as refused:
        spending.reserve("acme", 0.41, 1.0)
    assert refused.value.until == datetime(2026, 11, 22, tzinfo=UTC)
    spending.reserve("acme", 0.40, 1.0)
    spending.settle(first, cost_usd=0.10)
    spending.reserve("acme", 0.50, 1.0)
    assert sums(spending) == (0.10, 0.90, 3, 0)


def test_whoever_looks_after_it_is_told_from_four_fifths_of_a_ceiling_on(table: "Table", clock: StandingClock) -> None:
    told: list[float] = []
    spending = Spending(table, clock=clock, near=told.append)
    spending.reserve("acme", 0.79, 1.0)
    assert told == []
    small = spending.reserve("acme", 0.01, 1.0)
    assert told == [80.0]
    with pytest.raises(SpendingCeilingError):
        spending.reserve("acme", 0.21, 1.0)
    with pytest.raises(SpendingCeilingError):
        spending.reserve("rival", 1.01, 1.0)
    assert told == [80.0, 100.0, 100.0]
    spending.release(small)
    spending.reserve("acme", 5.0, None)
    assert told[3:] == [], "who has no ceiling comes near none"


def test_a_call_dearer_than_the_ceiling_is_refused_on_a_fresh_day(spending: Spending) -> None:
    with pytest.raises(SpendingCeilingError):
        spending.reserve("acme", 1.01, 1.0)
    assert sums(spending) == (0.0, 0.0, 0, 0)


def test_i2_settling_and_giving_back_happen_once(spending: Spending) -> None:
    settled, unsent = spending.reserve("acme", 0.20, 1.0), spending.reserve("acme", 0.30, 1.0)
    for _ in range(3):
        spending.settle(settled, cost_usd=0.15)
        spending.release(unsent)
    spending.release(settled)
    spending.settle(unsent, cost_usd=0.30)
    assert sums(spending) == (0.15, 0.0, 1, 0)


def test_r29_no_call_is_settled_at_more_than_was_held_back_for_it(spending: Spending) -> None:
    spending.settle(spending.reserve("acme", 1.0, 1.0), cost_usd=750.0)
    assert spending.today("acme").spent_usd == 1.0
    with pytest.raises(SpendingCeilingError):
        spending.reserve("acme", 0.01, 1.0)
    spending.reserve("acme", 0.0, 1.0)


def test_a_call_without_a_price_is_counted_and_let_through(spending: Spending) -> None:
    spending.settle(spending.reserve("acme", None, 0.0), cost_usd=None)
    spending.release(spending.reserve("acme", None, 0.0))
    assert sums(spending) == (0.0, 0.0, 1, 1)


def test_r4_a_lost_reply_counts_as_paid_and_a_refused_call_does_not(spending: Spending) -> None:
    spending.settle(spending.reserve("acme", 0.20, None), cost_usd=None, error=TimedOutError("late"))
    spending.settle(spending.reserve("acme", 0.20, None), cost_usd=None, error=MinuteQuotaError("busy"))
    assert sums(spending) == (0.20, 0.0, 2, 0)


def test_many_calls_are_held_back_for_once_under_their_name_and_only_those_sent_are_counted(
    spending: Spending, clock: StandingClock
) -> None:
    for ceiling in (1.0, 1.0, 0.1):  # a repeat is not refused, however low the ceiling is by then
        batch = spending.reserve_for("acme", 0.90, ceiling, name="batch", calls=10, on=clock())
        assert sums(spending) == (0.0, 0.90, 10, 0)
    with pytest.raises(SpendingCeilingError):
        spending.reserve_for("acme", 0.20, 1.0, name="another", calls=2, on=clock())
    for _ in range(2):
        spending.settle(batch, cost_usd=0.30, unsent=4)
    assert sums(spending) == (0.30, 0.0, 6, 0)


def test_a_new_day_begins_at_utc_midnight_and_the_old_one_is_kept(spending: Spending, clock: StandingClock) -> None:
    late = spending.reserve("acme", 0.70, 1.0)
    clock.now = datetime(2026, 11, 22, 0, 0, tzinfo=UTC)
    spending.reserve("acme", 0.70, 1.0)
    spending.settle(late, cost_usd=0.40)
    history = spending.history("acme")
    assert [(day.day, day.spent_usd, day.reserved_usd) for day in history] == [
        (date(2026, 11, 22), 0.0, 0.70),
        (date(2026, 11, 21), 0.40, 0.0),
    ]


def test_money_that_comes_back_while_a_call_is_being_refused_lets_it_through(
    spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, give_back = spending.reserve("acme", 0.80, 1.0), DayParts.give_back

    def meanwhile(parts: DayParts, tenant: str, day: date) -> bool:
        spending.release(first)
        return give_back(parts, tenant, day)

    monkeypatch.setattr(DayParts, "give_back", meanwhile)
    spending.reserve("acme", 0.50, 1.0)
    assert sums(spending) == (0.0, 0.50, 1, 0)


def test_tenants_spend_apart(spending: Spending) -> None:
    spending.reserve("acme", 1.0, 1.0)
    spending.reserve("umbrella", 1.0, 1.0)
    assert sums(spending, "umbrella") == (0.0, 1.0, 1, 0)


def test_a_tenant_may_have_a_ceiling_of_its_own(spending: Spending) -> None:
    assert spending.ceiling("acme") is None
    spending.set_ceiling("acme", 2.5)
    assert spending.ceiling("acme") == spending.today("acme").ceiling_usd == 2.5
    assert spending.ceiling("umbrella") is None
    spending.set_ceiling("acme", None)
    assert spending.ceiling("acme") is None


@pytest.mark.parametrize("usd", [-1.0, float("nan")])
def test_a_ceiling_that_is_no_amount_is_refused(spending: Spending, usd: float) -> None:
    with pytest.raises(InputError):
        spending.set_ceiling("acme", usd)


def test_twenty_workers_at_once_never_pass_the_ceiling(table: "Table", clock: StandingClock) -> None:
    def worker(own: "Table") -> SpendReservation | None:
        try:
            return Spending(own, clock=clock).reserve("acme", 0.10, 0.75)
        except SpendingCeilingError:
            return None

    tables = [boto3.resource("dynamodb", region_name="us-east-1").Table(table.name) for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        granted = [reservation for reservation in pool.map(worker, tables) if reservation]
    assert len(granted) == 7
    assert sums(Spending(table, clock=clock)) == (0.0, 0.70, 7, 0)
