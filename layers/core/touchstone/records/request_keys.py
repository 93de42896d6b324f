"""The record behind a sender's own key: while the key is kept it leads to the same record, whatever crashes."""

import hashlib
from datetime import timedelta
from typing import Protocol

from touchstone.aws import ConditionFailedError, store_faults
from touchstone.records.keys import listed_by_key, of_tenant
from touchstone.records.table import Item, OfTable, read
from touchstone.records.ulids import new_ulid

KEPT = timedelta(days=30)
"""How long a key is kept: longer than a message can wait in a queue and its dead-letter queue together (14 days
each)."""


class RequestIds(Protocol):
    """Gives each key of a tenant one id."""

    def id_for(self, *, tenant: str, key: str) -> str:
        """The id of the record that belongs to `key`: a new one the first time, then the same one while it is kept."""


class RequestKeys(OfTable):
    """Gives each key of a tenant one id, decided by the first to ask."""

    def id_for(self, *, tenant: str, key: str) -> str:
        """The id of the record that belongs to `key`: a new one the first time, the same one for as long as `KEPT`."""
        now = self._clock()
        digest = hashlib.sha256(key.encode()).hexdigest()
        place = {"pk": of_tenant(tenant, "KEY", digest), "sk": "KEY"}
        item: Item = {
            **place,
            **listed_by_key(tenant, place),
            "record_id": new_ulid(now),
            "expires_at": int((now + KEPT).timestamp()),
        }
        try:
            with store_faults("remember the key of a request"):
                # The table removes an item some time after it expires; until then the item is there and does not count.
                self._table.put_item(
                    Item=item,
                    ConditionExpression="attribute_not_exists(pk) OR expires_at <= :now",
                    ExpressionAttributeValues={":now": int(now.timestamp())},
                )
        except ConditionFailedError:
            kept = read(self._table, place, "the key of a request")
            return str(kept["record_id"]) if kept else self.id_for(tenant=tenant, key=key)
        return str(item["record_id"])
