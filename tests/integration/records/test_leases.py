"""R12: at most one holder, and a fence that only grows."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.support.records import HandClock
from tests.support.store_faults import one_call_at_a_time, refusing
from touchstone.errors import ConflictError, StoreError
from touchstone.records import Leases

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


@pytest.fixture
def leases(table: "Table", clock: HandClock) -> Leases:
    return Leases(table, clock=clock)


def test_r12_the_second_of_two_drains_is_refused(leases: Leases, clock: HandClock) -> None:
    first = leases.acquire("drain", owner="one", seconds=60)
    assert first is not None
    assert leases.acquire("drain", owner="two", seconds=60) is None
    assert leases.acquire("sweep", owner="two", seconds=60) is not None
    clock.advance(seconds=59.999)
    assert leases.acquire("drain", owner="two", seconds=60) is None
    clock.advance(seconds=0.001)
    second = leases.acquire("drain", owner="two", seconds=60)
    assert second is not None
    assert second.fence > first.fence


def test_r12_of_many_at_once_exactly_one_holds(leases: Leases, table: "Table") -> None:
    with one_call_at_a_time(table.meta.client), ThreadPoolExecutor(8) as workers:
        held = list(workers.map(lambda each: leases.acquire("drain", owner=str(each), seconds=60), range(16)))
    assert sum(each is not None for each in held) == 1


def test_r20_the_owner_that_asks_again_gets_it_again(leases: Leases, clock: HandClock) -> None:
    first = leases.acquire("drain", owner="one", seconds=60)
    clock.advance(seconds=30)
    again = leases.acquire("drain", owner="one", seconds=60)
    assert first is not None
    assert again is not None
    assert (again.until - first.until).total_seconds() == 30


def test_a_lease_is_renewed_until_somebody_else_has_it(leases: Leases, clock: HandClock) -> None:
    lease = leases.acquire("drain", owner="one", seconds=60)
    assert lease is not None
    clock.advance(seconds=50)
    renewed = leases.renew(lease, seconds=60)
    clock.advance(seconds=50)
    assert leases.acquire("drain", owner="two", seconds=60) is None
    clock.advance(seconds=10)
    assert renewed.until == clock()
    assert leases.acquire("drain", owner="two", seconds=60) is not None
    with pytest.raises(ConflictError):
        leases.renew(renewed, seconds=60)


def test_a_lease_given_back_is_free_and_the_fence_grows_on(leases: Leases) -> None:
    first = leases.acquire("drain", owner="one", seconds=60)
    assert first is not None
    leases.release(first)
    leases.release(first)
    second = leases.acquire("drain", owner="two", seconds=60)
    assert second is not None
    assert second.fence == first.fence + 1
    leases.release(first)
    assert leases.acquire("drain", owner="three", seconds=60) is None


def test_a_store_that_fails_grants_nothing(leases: Leases, table: "Table") -> None:
    with refusing(table.meta.client, "UpdateItem", "InternalServerError"), pytest.raises(StoreError):
        leases.acquire("drain", owner="one", seconds=60)
