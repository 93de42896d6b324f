"""A cache of judges' replies, each tenant's own, kept for thirty days."""

import asyncio
import logging
from collections.abc import Iterable
from copy import copy
from datetime import timedelta
from typing import Self

from touchstone.aws import Table, read_many, store_faults
from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError
from touchstone.records.keys import Key, listed_by_key, of_tenant, part
from touchstone.records.table import Item, read

KEPT = timedelta(days=30)
MAX_REPLY_BYTES = 300_000
"""The largest reply that is kept. A larger one would come near the 400 KB of an item; to ask again costs what the first
call cost."""

_log = logging.getLogger(__name__)


class Replies:
    """A tenant's cache of replies (`touchstone.judges.base.ReplyCache`).

    `cache_scope` (an id) separates replies: they are given only to a caller with the same id. None: the common replies.

    The cache only saves money. If the store fails, no reply is found or kept, and the judge is asked.
    """

    def __init__(
        self,
        table: Table,
        *,
        tenant: str,
        cache_scope: str | None = None,
        kept: timedelta = KEPT,
        clock: Clock = system_clock,
    ) -> None:
        self._table = table
        self._tenant = tenant
        self._cache_scope = cache_scope
        self._kept = kept
        self._clock = clock
        self._preloaded: dict[str, Item | None] = {}

    def preloaded(self, keys: Iterable[str]) -> Self:
        """The same cache, with the replies of these keys looked up now, a hundred at once."""
        preloaded = copy(self)
        places = {key: self._key(key) for key in keys}
        try:
            items = {item["pk"]: item for item in read_many(self._table, list(places.values()), "the cached replies")}
        except StoreError:
            _log.warning("the cache of replies could not be read ahead; each reply is looked up by itself")
            return preloaded
        preloaded._preloaded = {key: items.get(place["pk"]) for key, place in places.items()}  # noqa: SLF001 - its own
        return preloaded

    async def get(self, key: str) -> str | None:
        """The stored reply; None if there is none or its time has passed."""
        return await asyncio.to_thread(self._get, key)

    async def put(self, key: str, reply_json: str) -> None:
        """Keep a reply, unless it is too large."""
        await asyncio.to_thread(self._put, key, reply_json)

    def _get(self, key: str) -> str | None:
        try:
            item = (
                self._preloaded[key]
                if key in self._preloaded
                else read(self._table, self._key(key), "the cached reply")
            )
        except StoreError:
            _log.warning("the cache of replies could not be read; the judge is asked")
            return None
        # The table removes an item some time after it expires; until then the item is there and does not count.
        if item is None or int(item["expires_at"]) <= self._clock().timestamp():
            return None
        return str(item["reply"])

    def _put(self, key: str, reply_json: str) -> None:
        if len(reply_json.encode()) > MAX_REPLY_BYTES:
            return
        self._preloaded.pop(key, None)
        place = self._key(key)
        expires_at = int((self._clock() + self._kept).timestamp())
        item: Item = {**place, **listed_by_key(self._tenant, place), "reply": reply_json, "expires_at": expires_at}
        try:
            with store_faults("keep the reply"):
                self._table.put_item(Item=item)
        except StoreError:
            _log.warning("the cache of replies could not be written; the reply is not kept")

    def _key(self, key: str) -> Key:
        named = key if self._cache_scope is None else f"{self._cache_scope}/{key}"
        return {"pk": of_tenant(self._tenant, "CACHE", part(named)), "sk": "REPLY"}
