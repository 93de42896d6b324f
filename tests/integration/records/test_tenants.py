"""Tenants: whether there are several, and how often the table is asked."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import EndpointConnectionError

from tests.support.clocks import StandingClock
from touchstone.errors import StoreError
from touchstone.records.tenants import ALONE_HOLDS, Tenants

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(datetime(2026, 11, 21, 20, 0, tzinfo=UTC))


@pytest.fixture
def tenants(table: "Table", clock: StandingClock) -> Tenants:
    return Tenants(table, clock=clock)


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The queries sent so far."""
    send, seen = BaseClient._make_api_call, []  # type: ignore[attr-defined]

    def watch(self: BaseClient, operation: str, parameters: Any) -> Any:
        if operation == "Query":
            seen.append(parameters)
        return send(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", watch)
    return seen


def test_there_are_several_from_the_second_on(tenants: Tenants, clock: StandingClock) -> None:
    for name in ("acme", "bona"):
        assert not tenants.several()
        tenants.create(tenant=name, name=name)
        clock.now += ALONE_HOLDS
    assert tenants.several()


@pytest.mark.parametrize("number", [1, 5])
def test_whether_there_are_several_is_looked_up_every_five_minutes(
    tenants: Tenants, clock: StandingClock, queries: list[Any], number: int
) -> None:
    for each in range(number):
        tenants.create(tenant=f"tenant-{each}", name="One of some")
    for _ in range(10):
        assert tenants.several() == (number > 1)
        clock.forward(seconds=59)
    assert [query["Limit"] for query in queries] == [2, 2]


def test_of_two_one_is_alone_again_when_the_other_is_removed(tenants: Tenants, clock: StandingClock) -> None:
    for name in ("acme", "bona"):
        tenants.create(tenant=name, name=name)
    assert tenants.several()
    tenants.remove("acme")
    clock.now += ALONE_HOLDS
    assert not tenants.several()


def test_a_clock_that_was_set_back_looks_again(tenants: Tenants, clock: StandingClock) -> None:
    assert not tenants.several()
    for name in ("acme", "bona"):
        tenants.create(tenant=name, name=name)
    clock.now -= timedelta(days=3)
    assert tenants.several()


def test_r16_a_table_that_fails_is_a_store_error_and_nothing_is_remembered(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: BaseClient, operation: str, parameters: Any) -> Any:
        raise EndpointConnectionError(endpoint_url="https://table")

    for name in ("acme", "bona"):
        tenants.create(tenant=name, name=name)
    with monkeypatch.context() as broken:
        broken.setattr(BaseClient, "_make_api_call", fail)
        with pytest.raises(StoreError, match="count the tenants"):
            tenants.several()
    assert tenants.several()
