"""Earlier replies of judges, each tenant's own, for thirty days."""

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError
from touchstone.records.keys import Key, listed_by_key, of_tenant, part
from touchstone.records.table import Item, read, store_faults

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

KEPT = timedelta(days=30)
MAX_REPLY_BYTES = 300_000
"""A larger reply is not kept: it would near the 400 KB of an item, and asking again costs what it cost before."""

_log = logging.getLogger(__name__)


class Replies:
    """A tenant's cache of replies (`touchstone.judges.base.ReplyCache`).

    `apart` (an id) keeps replies that only who asks under the same word is given; None: those of all others.

    Only saves money: where the store fails, nothing was found and nothing is kept, and the judge is asked.
    """

    def __init__(
        self,
        table: "Table",
        *,
        tenant: str,
        apart: str | None = None,
        kept: timedelta = KEPT,
        clock: Clock = system_clock,
    ) -> None:
        self._table = table
        self._tenant = tenant
        self._apart = apart
        self._kept = kept
        self._clock = clock

    async def get(self, key: str) -> str | None:
        """The stored reply; None where there is none, or where its time has passed."""
        return await asyncio.to_thread(self._get, key)

    async def put(self, key: str, reply_json: str) -> None:
        """Keep a reply, unless it is too large."""
        await asyncio.to_thread(self._put, key, reply_json)

    def _get(self, key: str) -> str | None:
        try:
            item = read(self._table, self._key(key), "the cached reply")
        except StoreError:
            _log.warning("the cache of replies could not be read; the judge is asked")
            return None
        # The table removes what has expired some time after; until then it is here and does not count.
        if item is None or int(item["expires_at"]) <= self._clock().timestamp():
            return None
        return str(item["reply"])

    def _put(self, key: str, reply_json: str) -> None:
        if len(reply_json.encode()) > MAX_REPLY_BYTES:
            return
        place = self._key(key)
        expires_at = int((self._clock() + self._kept).timestamp())
        item: Item = {**place, **listed_by_key(self._tenant, place), "reply": reply_json, "expires_at": expires_at}
        try:
            with store_faults("keep the reply"):
                self._table.put_item(Item=item)
        except StoreError:
            _log.warning("the cache of replies could not be written; the reply is not kept")

    def _key(self, key: str) -> Key:
        named = key if self._apart is None else f"{self._apart}/{key}"
        return {"pk": of_tenant(self._tenant, "CACHE", part(named)), "sk": "REPLY"}
