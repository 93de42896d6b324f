"""Removes a tenant's items from the table, and keeps right what all tenants share."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from touchstone.aws import ConditionFailedError, Table, jitter, store_faults
from touchstone.records.belongings import EMPTIED, KINDS, Belonging, Belongings, kind_of
from touchstone.records.counters import Increment, action_of, deferred_pk
from touchstone.records.keys import Key, key_in, of_tenant, record_of
from touchstone.records.table import Action, Item, read, transact

_DEFERRED = {
    "EVALUATION#deferred": {"deferred": -1},
    "EVALUATION#cheap": {"deferred": -1, "cheap": -1},
}
"""By its list in the `deferred` index, what an answer subtracts from the count of all tenants when it is removed."""
_ASKED = ("pk", "sk", "revision", "gsi2pk")
_SHARING = frozenset(kind.word for kind in KINDS if kind.shared and kind.word)
"""The kinds of partitions into which items may come after their record. They are looked at again when nothing can come
any more."""


class Removal:
    """Removes tenants' items. Every method raises `StoreError` if the store fails, and is safe to repeat."""

    def __init__(self, table: Table, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._table = table
        self._belongings = Belongings(table)
        self._pause = pause

    def partition(self, tenant: str, pk: str) -> Counter[str]:
        """Remove everything in one of a tenant's partitions. Return how many items of each kind were removed."""
        items = self._belongings.items(pk, only=_ASKED)
        first = next(items, None)
        if first is None:
            return Counter()
        if self._kind(first).word in _SHARING:
            self._belongings.may_fill(tenant, pk)
        return self._remove((first, *items))

    def rest(self, tenant: str) -> None:
        """Forget which partitions were emptied, once no item can come into them any more."""
        self._remove(self._belongings.items(of_tenant(tenant), begins=EMPTIED, only=_ASKED))

    def _remove(self, items: Iterable[Item]) -> Counter[str]:
        removed: Counter[str] = Counter()
        with store_faults("remove what a tenant has"), self._table.batch_writer() as batch:
            for item in items:
                kind = self._kind(item)
                if kind.name == "answers":
                    self._remove_answer(item)
                else:
                    batch.delete_item(Key=key_in(item))
                removed[kind.name] += 1
        return removed

    def _remove_answer(self, item: Item | None) -> None:
        """Remove an answer. If its evaluation was deferred, subtract it from the count of all tenants."""
        attempt = 0
        while item is not None:
            key = key_in(item)
            delete: Action = {
                "Delete": {
                    "Key": key,
                    "ConditionExpression": "revision = :seen",
                    "ExpressionAttributeValues": {":seen": item["revision"]},
                }
            }
            less = _DEFERRED.get("#".join(str(item.get("gsi2pk")).split("#")[:2]))
            counted = () if less is None else (action_of(_less(key, less)),)
            try:
                transact(self._table, [delete, *counted], "remove the answer", pause=self._pause)
            except ConditionFailedError:  # a step that was under way came first
                self._pause(jitter(attempt))
                attempt += 1
                item = read(self._table, key, "the answer")
            else:
                return

    @staticmethod
    def _kind(item: Item) -> Belonging:
        return kind_of(key_in(item))


def _less(key: Key, add: Mapping[str, int]) -> Increment:
    """The increment that subtracts a deferred answer from the count of all tenants."""
    _, answer_id = record_of(key["pk"])
    return Increment(pk=deferred_pk(answer_id), sk="DEFERRED", add=add)
