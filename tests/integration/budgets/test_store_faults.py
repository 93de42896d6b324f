"""R16: throttling, lost replies, races, cancelled transactions end in a retry or a `StoreError`, never a lost unit."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, EndpointConnectionError

from tests.support.clocks import StandingClock
from touchstone.budgets.account import QuotaKey
from touchstone.budgets.quotas import MAX_TRIES, Quotas
from touchstone.budgets.spending import Spending
from touchstone.errors import DayQuotaError, QuotaExceededError, SpendingCeilingError, StoreError
from touchstone.judges.base import QuotaLimits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEY = QuotaKey("gemini", "gemini-3.5-flash-lite", "default")
DEEP = QuotaLimits(per_day=250, per_minute=10)
WRITES = ("PutItem", "UpdateItem", "TransactWriteItems")

type Fault = Callable[[Callable[[], Any]], Any]
"""Stands between a client and the table: gets what sends the request, returns the table's reply or raises."""


@pytest.fixture
def inject(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the next requests of some kinds meet faults, one each, in order."""
    send = BaseClient._make_api_call  # type: ignore[attr-defined]
    waiting: list[Fault] = []
    kinds: list[str] = []

    def meet(self: BaseClient, operation: str, parameters: dict[str, Any]) -> Any:
        if waiting and operation in kinds:
            return waiting.pop(0)(lambda: send(self, operation, parameters))
        return send(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", meet)

    def add(*faults: Fault, on: tuple[str, ...] = WRITES) -> None:
        waiting.extend(faults)
        kinds.extend(on)

    return add


def refuse(code: str, *reasons: str) -> Fault:
    def fault(send: Callable[[], Any]) -> Any:
        response: Any = {"Error": {"Code": code, "Message": ""}, "CancellationReasons": [{"Code": r} for r in reasons]}
        raise ClientError(response, "Write")

    return fault


def unreachable(send: Callable[[], Any]) -> Any:
    raise EndpointConnectionError(endpoint_url="https://table")


def reply_lost_and_sent_again(send: Callable[[], Any]) -> Any:
    """The SDK repeats a request whose reply it did not get; the repeat meets what the first one wrote."""
    send()
    return send()


@pytest.mark.parametrize(
    "fault",
    [
        refuse("ProvisionedThroughputExceededException"),
        refuse("ThrottlingException"),
        refuse("TransactionCanceledException", "None", "ThrottlingError"),
        refuse("TransactionCanceledException"),
        unreachable,
    ],
)
@pytest.mark.parametrize("on", [WRITES, ("GetItem",)])
def test_r16_a_table_that_fails_is_a_store_error_and_counts_nothing(
    quotas: Quotas, inject: Callable[..., None], fault: Fault, on: tuple[str, ...]
) -> None:
    inject(fault, on=on)
    with pytest.raises(StoreError, match="repeat"):
        quotas.reserve(KEY, DEEP, purpose="fresh")
    assert quotas.usage(KEY, DEEP).used == 0


@pytest.mark.parametrize(
    "fault",
    [
        refuse("ConditionalCheckFailedException"),
        refuse("TransactionConflictException"),
        refuse("TransactionCanceledException", "ConditionalCheckFailed", "None"),
        refuse("TransactionCanceledException", "TransactionConflict", "None"),
    ],
)
def test_r16_a_lost_race_is_decided_anew(quotas: Quotas, inject: Callable[..., None], fault: Fault) -> None:
    inject(fault, fault)
    quotas.reserve(KEY, DEEP, purpose="fresh")
    assert quotas.usage(KEY, DEEP).used == 1


def test_r16_a_race_without_end_is_a_store_error(
    table: "Table", clock: StandingClock, inject: Callable[..., None]
) -> None:
    pauses: list[float] = []
    quotas = Quotas(table, clock=clock, sleep=pauses.append)
    inject(*[refuse("ConditionalCheckFailedException")] * MAX_TRIES)
    with pytest.raises(StoreError, match="too many at once"):
        quotas.reserve(KEY, DEEP, purpose="fresh")
    assert len(pauses) == MAX_TRIES
    assert max(pauses) <= 1.0


def test_r16_a_reservation_whose_reply_is_lost_is_counted_once(quotas: Quotas, inject: Callable[..., None]) -> None:
    inject(reply_lost_and_sent_again)
    quotas.reserve(KEY, DEEP, purpose="fresh")
    assert quotas.usage(KEY, DEEP).used == 1


def test_r16_a_release_whose_reply_is_lost_is_made_once(quotas: Quotas, inject: Callable[..., None]) -> None:
    kept, unsent = (quotas.reserve(KEY, DEEP, purpose="fresh") for _ in range(2))
    inject(reply_lost_and_sent_again)
    quotas.release(unsent)
    assert quotas.usage(KEY, DEEP).used == 1
    assert kept != unsent


def test_r16_the_last_unit_whose_reply_is_lost_is_not_refused(quotas: Quotas, inject: Callable[..., None]) -> None:
    inject(reply_lost_and_sent_again)
    quotas.reserve(KEY, QuotaLimits(per_day=1), purpose="fresh")
    with pytest.raises(QuotaExceededError):
        quotas.reserve(KEY, QuotaLimits(per_day=1), purpose="fresh")


def test_r16_midnight_loses_no_day_when_its_transaction_is_cancelled(
    quotas: Quotas, clock: StandingClock, inject: Callable[..., None]
) -> None:
    quotas.learn(quotas.reserve(KEY, DEEP, purpose="fresh"), DayQuotaError("spent"))
    clock.forward(days=1)
    inject(refuse("TransactionCanceledException", "TransactionConflict", "None"), reply_lost_and_sent_again)
    quotas.reserve(KEY, DEEP, purpose="fresh")
    assert [(day.used, day.exhausted) for day in quotas.history(KEY)] == [(1, False), (1, True)]


def test_r16_money_whose_reply_is_lost_is_held_back_and_settled_once(
    table: "Table", clock: StandingClock, inject: Callable[..., None]
) -> None:
    spending = Spending(table, clock=clock)
    inject(reply_lost_and_sent_again, reply_lost_and_sent_again)
    reservation = spending.reserve("acme", 0.75, 1.0)
    spending.settle(reservation, cost_usd=0.5)
    today = spending.today("acme")
    assert (today.spent_usd, today.reserved_usd, today.calls) == (0.5, 0.0, 1)
    with pytest.raises(SpendingCeilingError):
        spending.reserve("acme", 0.75, 1.0)


@pytest.mark.parametrize("fault", [refuse("ThrottlingException"), unreachable])
def test_r16_money_that_cannot_be_held_back_is_a_store_error(
    table: "Table", clock: StandingClock, inject: Callable[..., None], fault: Fault
) -> None:
    inject(fault)
    with pytest.raises(StoreError):
        Spending(table, clock=clock).reserve("acme", 0.75, 1.0)
