"""A tenant with many calls at once: its day is kept in parts, and its ceiling holds over all of them."""

import random
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support.clocks import StandingClock
from tests.support.store_faults import refusing
from touchstone.budgets import day_parts
from touchstone.budgets.day_parts import MOST_PARTS
from touchstone.budgets.spending import Spending, SpendReservation
from touchstone.errors import SpendingCeilingError, StoreError
from touchstone.records.belongings import SPENDING_PARTS, Belongings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

BUSY_CALLS, DRAWN_SHARE = 4, 64
"""Here a few calls make a tenant busy, and few leave little to be shared out."""
CALL_USD = 0.01
ROOM_USD = 2 * DRAWN_SHARE * CALL_USD
"""As much as two draws of one call each leave room for."""


@pytest.fixture(autouse=True)
def _soon_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(day_parts, "BUSY_CALLS", BUSY_CALLS)
    monkeypatch.setattr(day_parts, "DRAWN_SHARE", DRAWN_SHARE)


@pytest.fixture
def spending(table: "Table", clock: StandingClock) -> Spending:
    return Spending(table, clock=clock)


def items(table: "Table") -> Iterator[Mapping[str, object]]:
    return (item for item in table.scan()["Items"] if str(item["sk"]).startswith("DAY#"))


def busy(spending: Spending, *, ceiling: float | None = None, calls: int = 6 * BUSY_CALLS) -> list[SpendReservation]:
    """So many calls in flight of one tenant."""
    return [spending.reserve("acme", CALL_USD, ceiling) for _ in range(calls)]


def until_refused(spending: Spending, ceiling: float, *, usd: float = CALL_USD) -> int:
    """How many calls a ceiling admits."""
    for admitted in range(1_000):
        try:
            spending.reserve("acme", usd, ceiling)
        except SpendingCeilingError:
            return admitted
    raise AssertionError("Nothing was refused.")


def near(usd: float) -> float:
    """A sum of money, as far as sums of floating-point numbers tell it."""
    return pytest.approx(usd)  # type: ignore[return-value]


def test_a_calm_tenant_has_one_item_a_day(spending: Spending, table: "Table") -> None:
    for held in busy(spending, calls=BUSY_CALLS):
        spending.settle(held, cost_usd=0.001)
    for _ in range(12):
        spending.settle(spending.reserve("acme", CALL_USD, ROOM_USD), cost_usd=0.001)
    assert len(list(items(table))) == 1


@pytest.mark.parametrize("ceiling", [100 * ROOM_USD, None])
def test_many_calls_in_flight_are_spread_and_counted_as_if_they_were_not(
    spending: Spending, table: "Table", ceiling: float | None
) -> None:
    held = busy(spending, ceiling=ceiling, calls=60)
    most = max(sum(name.startswith("open#") for name in item) for item in items(table))
    assert most <= 5 * BUSY_CALLS
    assert 4 <= len(list(items(table))) <= MOST_PARTS
    today = spending.today("acme")
    assert (today.spent_usd, today.reserved_usd, today.calls) == (0.0, near(60 * CALL_USD), 60)
    for number, one in enumerate(held):
        if number % 4:
            spending.settle(one, cost_usd=0.002)
            spending.settle(one, cost_usd=0.002)
        else:
            spending.release(one)
            spending.release(one)
    today = spending.today("acme")
    assert (today.spent_usd, today.reserved_usd, today.calls) == (near(45 * 0.002), 0.0, 45)
    assert spending.history("acme") == (today,)


def test_calls_that_cost_nothing_are_spread_too_and_never_refused(spending: Spending, table: "Table") -> None:
    for _ in range(40):
        spending.reserve("acme", None, 0.0)
    assert len(list(items(table))) > 2
    assert spending.today("acme").unpriced_calls == 40


def test_what_the_parts_do_not_need_is_there_for_the_last_call(spending: Spending, table: "Table") -> None:
    """Every cent can be spent, and not one more, whatever parts had drawn and got back."""
    ceiling = ROOM_USD
    for held in busy(spending, ceiling=ceiling):
        spending.release(held)
    assert len(list(items(table))) > 2
    assert until_refused(spending, ceiling, usd=ceiling / 16) == 16
    assert spending.today("acme").reserved_usd == near(ceiling)


def test_one_dear_call_gets_what_lies_in_the_parts(spending: Spending, table: "Table", clock: StandingClock) -> None:
    for held in busy(spending, ceiling=ROOM_USD):
        spending.release(held)
    calm = Spending(table, clock=clock)
    calm.reserve("acme", ROOM_USD, ROOM_USD)
    with pytest.raises(SpendingCeilingError):
        calm.reserve("acme", CALL_USD, ROOM_USD)


def test_a_call_that_is_refused_reads_the_parts_together(spending: Spending, table: "Table") -> None:
    """However many there are: a tenant whose money is spent goes on asking."""
    ceiling = 4 * ROOM_USD
    for held in busy(spending, ceiling=ceiling, calls=60 * BUSY_CALLS):
        spending.settle(held, cost_usd=CALL_USD)
    until_refused(spending, ceiling)
    assert len(list(items(table))) > 8
    read: list[str] = []
    events = table.meta.client.meta.events
    for operation in ("GetItem", "BatchGetItem", "Query"):
        events.register(f"before-call.dynamodb.{operation}", lambda model, **_: read.append(model.name))
    with pytest.raises(SpendingCeilingError):
        spending.reserve("acme", CALL_USD, ceiling)
    assert len(read) <= 5, read
    assert "BatchGetItem" in read


def test_parts_that_a_busy_table_left_out_are_read_again(
    spending: Spending, table: "Table", monkeypatch: pytest.MonkeyPatch
) -> None:
    for held in busy(spending):
        spending.settle(held, cost_usd=CALL_USD)
    whole = spending.today("acme")
    client = table.meta.client
    read, left_out = client.batch_get_item, list[int]()

    def half(**given: Any) -> Any:
        [(name, asked)] = given["RequestItems"].items()
        keys = asked["Keys"]
        now, later = keys[: (len(keys) + 1) // 2], keys[(len(keys) + 1) // 2 :]
        left_out.append(len(later))
        asking: Any = {name: {**asked, "Keys": now}}
        page = read(RequestItems=asking)
        return {**page, "UnprocessedKeys": {name: {**asked, "Keys": later}} if later else {}}

    monkeypatch.setattr(client, "batch_get_item", half)
    assert spending.today("acme") == whole
    assert left_out[-1] == 0
    assert len(left_out) > 1

    def nothing(**given: Any) -> Any:
        return {"Responses": {}, "UnprocessedKeys": given["RequestItems"]}

    monkeypatch.setattr(client, "batch_get_item", nothing)
    monkeypatch.setattr("touchstone.aws._FIRST_PAUSE_SECONDS", 0.0)
    with pytest.raises(StoreError, match="too busy"):
        spending.today("acme")


def test_a_ceiling_that_is_lowered_holds_for_what_parts_drew_before(spending: Spending) -> None:
    spent = 0.0
    for held in busy(spending, ceiling=100 * ROOM_USD):
        spending.settle(held, cost_usd=CALL_USD)
        spent += CALL_USD
    assert until_refused(spending, spent + 5 * CALL_USD) == 5
    assert spending.today("acme").reserved_usd == near(5 * CALL_USD)


def test_a_part_holds_nothing_back_of_what_it_drew_under_another_ceiling(
    spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call goes to the one part that drew, as any might."""
    monkeypatch.setattr("touchstone.budgets.spending.random.randrange", lambda spread: min(1, spread - 1))
    held = busy(spending, ceiling=100 * ROOM_USD)
    for one in held:
        spending.settle(one, cost_usd=CALL_USD)
    assert {one.part for one in held} == {0, 1}
    assert until_refused(spending, len(held) * CALL_USD + 5 * CALL_USD) == 5


def test_a_ceiling_where_there_was_none_counts_what_was_spent_without(spending: Spending) -> None:
    for held in busy(spending):
        spending.settle(held, cost_usd=CALL_USD)
    spent = spending.today("acme").spent_usd
    assert until_refused(spending, spent + 3 * CALL_USD) == 3
    assert spending.today("acme").reserved_usd == near(3 * CALL_USD)


def test_twelve_functions_at_once_spend_all_and_never_more(table: "Table", clock: StandingClock) -> None:
    """Each holds back, settles and gives back by chance; the ceiling holds, and at the end all is spent."""
    ceiling, workers = 2.0, 12

    def worker(number: int) -> float:
        chance = random.Random(number)  # noqa: S311 - the same way each time
        own = boto3.resource("dynamodb", region_name="us-east-1").Table(table.name)
        spending, paid = Spending(own, clock=clock), 0.0
        in_flight: list[SpendReservation] = []
        while True:
            try:
                in_flight.append(spending.reserve("acme", CALL_USD, ceiling))
            except SpendingCeilingError:
                break
            if len(in_flight) > 4:
                one = in_flight.pop(chance.randrange(len(in_flight)))
                if chance.random() < 0.2:
                    spending.release(one)
                else:
                    spending.settle(one, cost_usd=CALL_USD)
                    paid += CALL_USD
        for one in in_flight:
            spending.settle(one, cost_usd=CALL_USD)
        return paid + len(in_flight) * CALL_USD

    with ThreadPoolExecutor(workers) as pool:
        paid = sum(pool.map(worker, range(workers)))
    today = Spending(table, clock=clock).today("acme")
    assert len(list(items(table))) > 2
    assert paid <= ceiling + 1e-9
    assert (today.spent_usd, today.reserved_usd) == (near(paid), 0.0)
    # Whoever gave a call back after all others had ended left its money unspent: no more than was in flight.
    assert paid >= ceiling - workers * 5 * CALL_USD


def test_i2_a_write_whose_reply_was_lost_holds_back_once_in_a_part_too(spending: Spending, table: "Table") -> None:
    held = busy(spending, ceiling=100 * ROOM_USD)
    part = next(one for one in held if one.part)
    before = spending.today("acme")
    assert spending._reserve(part, 100 * ROOM_USD) == part
    assert spending.today("acme") == before


def test_r16_a_draw_that_fails_holds_nothing_back(spending: Spending, table: "Table") -> None:
    busy(spending, ceiling=1_000 * ROOM_USD)
    before = spending.today("acme")
    failed = 0
    with refusing(table.meta.client, "TransactWriteItems", "InternalServerError"):
        for _ in range(40):
            try:
                spending.release(spending.reserve("acme", ROOM_USD, 1_000 * ROOM_USD))
            except (StoreError, ClientError):
                failed += 1
    assert failed
    assert spending.today("acme") == before


def test_days_of_one_item_and_of_several_are_shown_alike(spending: Spending, clock: StandingClock) -> None:
    for held in busy(spending):
        spending.settle(held, cost_usd=0.005)
    clock.now = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
    spending.settle(Spending.reserve(spending, "acme", CALL_USD, None), cost_usd=0.004)
    clock.now = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
    for held in busy(spending):
        spending.settle(held, cost_usd=0.002)
    shown = [(one.day.day, one.spent_usd, one.calls) for one in spending.history("acme")]
    calls = 6 * BUSY_CALLS
    assert shown == [
        (24, near(0.002 * calls), calls),
        (22, near(0.004), 1),
        (21, near(0.005 * calls), calls),
    ]


def test_all_parts_are_among_what_a_tenant_has(spending: Spending, table: "Table") -> None:
    busy(spending, calls=60)
    partitions = set(Belongings(table).partitions("acme"))
    assert {str(item["pk"]) for item in items(table)} <= partitions
    assert SPENDING_PARTS == MOST_PARTS
