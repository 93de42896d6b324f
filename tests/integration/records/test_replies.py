"""The cache of replies: each tenant's own, for a while, and never in the way."""

from typing import TYPE_CHECKING

import pytest

from tests.support.records import HandClock
from tests.support.store_faults import refusing
from touchstone.judges.base import ReplyCache
from touchstone.records import Replies
from touchstone.records.replies import MAX_REPLY_BYTES

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEY = "0" * 64


@pytest.fixture
def replies(table: "Table", clock: HandClock) -> ReplyCache:
    return Replies(table, tenant="acme", clock=clock)


async def test_a_reply_is_kept_for_thirty_days(replies: ReplyCache, clock: HandClock) -> None:
    assert await replies.get(KEY) is None
    await replies.put(KEY, '{"is_correct": true, "理由": "\\u0000"}')
    clock.advance(days=29, hours=23)
    assert await replies.get(KEY) == '{"is_correct": true, "理由": "\\u0000"}'
    clock.advance(hours=1)
    assert await replies.get(KEY) is None


async def test_the_table_clears_it_by_its_ttl(replies: ReplyCache, table: "Table", clock: HandClock) -> None:
    await replies.put(KEY, "{}")
    (item,) = table.scan()["Items"]
    assert item["expires_at"] == int(clock().timestamp()) + 30 * 86_400


async def test_another_tenants_reply_is_not_found(replies: ReplyCache, table: "Table", clock: HandClock) -> None:
    await replies.put(KEY, "{}")
    assert await Replies(table, tenant="rival", clock=clock).get(KEY) is None


@pytest.mark.parametrize(("size", "kept"), [(MAX_REPLY_BYTES, True), (MAX_REPLY_BYTES + 1, False)])
async def test_a_reply_too_large_for_an_item_is_not_kept(replies: ReplyCache, size: int, kept: bool) -> None:
    await replies.put(KEY, "x" * size)
    assert (await replies.get(KEY) is not None) is kept


async def test_r16_a_cache_that_cannot_be_reached_is_an_empty_one(replies: ReplyCache, table: "Table") -> None:
    with refusing(table.meta.client, "PutItem", "InternalServerError"):
        await replies.put(KEY, "{}")
    await replies.put(KEY, "{}")
    with refusing(table.meta.client, "GetItem", "InternalServerError"):
        assert await replies.get(KEY) is None


async def test_replies_that_are_looked_up_together_are_read_a_hundred_at_once(table: "Table", clock: HandClock) -> None:
    cache = Replies(table, tenant="acme", clock=clock)
    keys = [f"{number:064}" for number in range(150)]
    for key in keys[:3]:
        await cache.put(key, f'"{key}"')
    ahead = cache.preloaded(keys)
    with refusing(table.meta.client, "GetItem", "InternalServerError") as read:
        assert [await ahead.get(key) for key in keys] == [f'"{key}"' for key in keys[:3]] + [None] * 147
    assert read == [], "none by itself"
    await ahead.put(keys[-1], '"new"')
    assert await ahead.get(keys[-1]) == '"new"'
    clock.advance(days=31)
    assert await ahead.get(keys[0]) is None
    clock.advance(days=-31)
    with refusing(table.meta.client, "BatchGetItem", "InternalServerError"):
        alone = cache.preloaded(keys)
    assert await alone.get(keys[0]) == f'"{keys[0]}"', "each by itself, where they cannot be read together"
