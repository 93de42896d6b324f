"""What AWS holds in the process at one moment, to begin many cases at the same one."""

from collections.abc import Callable

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import Item
from moto.s3.models import s3_backends

from tests.support.aws import REGION
from tests.support.batching import BatchingHouse


def starting_point(house: BatchingHouse) -> Callable[[], None]:
    """Remember what is stored; whoever calls what is returned puts a house back there.

    Tables and objects are as they were, and no execution waits. Time goes on: ids and names that a case made are not
    made again. The server's log of calls is to be empty then (`ProviderServer.reset`). Items and objects are replaced
    and never changed in their place (`moto_shortcuts`), so that only what leads to them is copied.
    """
    tables = [*dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables.values()]
    buckets = [*s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets.values()]
    items = [{key: _copied(found) for key, found in table.items.items()} for table in tables]
    objects = [[(key, bucket.keys.getlist(key)) for key in bucket.keys] for bucket in buckets]
    asked_before = house.asked_before + sum(not call.by_batch for call in house.server.calls)

    def put_back() -> None:
        for table, stored in zip(tables, items, strict=True):
            table.items.clear()
            table.items.update({key: _copied(found) for key, found in stored.items()})
        for bucket, kept in zip(buckets, objects, strict=True):
            bucket.keys.clear()
            for key, versions in kept:
                bucket.keys.setlist(key, versions)
        house.deployment.machines.asleep.clear()
        house.asked_before = asked_before

    return put_back


def _copied(found: Item | dict[str, Item]) -> Item | dict[str, Item]:
    """A partition, in which items may be put or deleted; a table without sort keys has the item itself there."""
    return found if isinstance(found, Item) else {**found}
