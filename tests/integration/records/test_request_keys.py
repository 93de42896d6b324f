"""The record behind a sender's key: the same for as long as the key is remembered, and another one from then on."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.support.records import HandClock
from touchstone.records import RequestKeys

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

type IdFor = Callable[[str], str]


@pytest.fixture
def id_for(table: "Table", clock: HandClock) -> IdFor:
    keys = RequestKeys(table, clock=clock)
    return lambda key: keys.id_for(tenant="acme", key=key)


def test_a_key_leads_to_its_record_for_thirty_days(id_for: IdFor, clock: HandClock) -> None:
    first = id_for("order 7")
    clock.advance(days=29, hours=23)
    assert id_for("order 7") == first
    assert id_for("order 8") != first


def test_a_key_whose_time_is_over_is_a_new_one_while_the_table_still_holds_it(
    id_for: IdFor, clock: HandClock, table: "Table"
) -> None:
    first = id_for("order 7")
    clock.advance(days=30)
    assert len(table.scan()["Items"]) == 1
    second = id_for("order 7")
    assert second != first
    clock.advance(days=29)
    assert id_for("order 7") == second


def test_of_many_who_ask_for_an_expired_key_at_once_all_get_the_same_new_record(
    id_for: IdFor, clock: HandClock
) -> None:
    first = id_for("order 7")
    clock.advance(days=31)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: id_for("order 7"), range(16)))
    assert len(found) == 1
    assert first not in found
