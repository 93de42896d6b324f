"""Remove records whose time is over, with all that depends on them.

A purge begins with one transaction: it deletes the record, on condition that nobody wrote it since it was read, and
puts an item in its place that says what is left to remove. So nothing of a living record is touched. A crash leaves
nothing that cannot be found again: the next run finds the item and ends the purge. Counters stay as they are.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from touchstone.aws import ConditionFailedError, Table, store_faults
from touchstone.clock import Clock, system_clock
from touchstone.errors import ConflictError
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import counts_pk
from touchstone.records.keys import RECORD, Key, key_in, listed_by_key, of_tenant, sortable
from touchstone.records.lists import due_until
from touchstone.records.table import Action, Item, partition, query, read, transact
from touchstone.records.ulids import first_ulid

PURGE = "PURGE"
"""The partition, in the index of unfinished work, of purges that have begun; also their sort key."""
PURGED = "PURGED"
"""The sort key, among a tenant's counters, of the number of its purged records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What is left to remove of a record: whole partitions, single items, and objects.

    `folders` and `objects` are among the artifacts, `files` among the files that tenants dropped and got back.
    `guarded` are the keys of items that may belong to another answer by now; they are removed only if they are still
    this answer's.
    """

    partitions: tuple[str, ...]
    items: tuple[tuple[str, str], ...] = ()
    guarded: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """A purge that has begun: the record is gone, and its `remains` are still to be removed."""

    tenant: str
    record_id: str
    remains: Remains


@dataclass(frozen=True, slots=True, kw_only=True)
class Purges:
    """Purges of all tenants' records. Every method raises `StoreError` if a store fails, and is safe to repeat."""

    table: Table
    artifacts: Artifacts
    inbox: Artifacts
    clock: Clock = system_clock
    pause: Callable[[float], None] = field(default=time.sleep)

    def older(self, tenant: str, scope: str, *, than: datetime) -> Iterator[str]:
        """The ids of a tenant's records in a list of the index by time that began before `than`, oldest first."""
        found = query(
            self.table,
            "what is to be purged",
            IndexName="by_time",
            KeyConditionExpression="gsi1pk = :scope AND gsi1sk < :first",
            ExpressionAttributeValues={":scope": of_tenant(tenant, scope), ":first": first_ulid(than)},
        )
        return (str(item["gsi1sk"]) for item in found)

    def partition(self, pk: str) -> list[Item]:
        """All items of a record's partition, strongly consistent."""
        return list(partition(self.table, "what is to be purged", pk))

    def begin(self, purge: Purge, seen: Mapping[str, Any], *, unchanged: Sequence[str]) -> bool:
        """Remove the record as it was `seen`; False if one of the attributes `unchanged` has another value by now."""
        gone: Action = {
            "Delete": {
                "Key": key_in(seen),
                "ConditionExpression": " AND ".join(f"#{name} = :{name}" for name in unchanged),
                "ExpressionAttributeNames": {f"#{name}": name for name in unchanged},
                "ExpressionAttributeValues": {f":{name}": seen[name] for name in unchanged},
            }
        }
        counted: Action = {
            "Update": {
                "Key": _mark(purge.tenant),
                "UpdateExpression": "ADD records :one",
                "ExpressionAttributeValues": {":one": 1},
            }
        }
        try:
            actions = (gone, {"Put": {"Item": self._item(purge)}}, counted)
            transact(self.table, actions, "remove the record", pause=self.pause)
        except ConditionFailedError:
            return False
        return True

    def begun(self, *, limit: int) -> list[Purge]:
        """The purges that an earlier run did not end, oldest first."""
        listed = due_until(self.table, "purges", lists=(PURGE,), moment=self.clock(), limit=limit)
        items = (read(self.table, key_in(one), "the purge") for one in listed)
        return [
            Purge(tenant=item["tenant"], record_id=item["record_id"], remains=_remains(item["remains"]))
            for item in items
            if item is not None
        ]

    def end(self, purge: Purge) -> None:
        """Remove what a record left, and then the item of the purge."""
        left = purge.remains
        keys = [key_in(item) for pk in left.partitions for item in self.partition(pk)]
        keys += [{"pk": pk, "sk": sk} for pk, sk in left.items]
        with store_faults("remove what a record left"), self.table.batch_writer() as batch:
            for key in keys:
                batch.delete_item(Key=key)
        for pk, sk in left.guarded:
            self._remove_guarded({"pk": pk, "sk": sk}, purge.record_id)
        for folder in left.folders:
            self.artifacts.remove_folder(tenant=purge.tenant, folder=folder)
        for name in left.objects:
            self.artifacts.delete(tenant=purge.tenant, key=name)
        for name in left.files:
            self.inbox.delete(tenant=purge.tenant, key=name)
        with store_faults("end the purge"):
            self.table.delete_item(Key=_purge_key(purge.tenant, purge.record_id))

    def _remove_guarded(self, key: Key, answer_id: str) -> None:
        try:
            with store_faults("remove what a record left"):
                self.table.delete_item(
                    Key=key, ConditionExpression="answer_id = :mine", ExpressionAttributeValues={":mine": answer_id}
                )
        except ConditionFailedError:
            return  # it belongs to another answer by now, or is gone

    def _item(self, purge: Purge) -> Item:
        key = _purge_key(purge.tenant, purge.record_id)
        return {
            **key,
            **listed_by_key(purge.tenant, key),
            "gsi2pk": PURGE,
            "gsi2sk": f"{sortable(self.clock())}#{purge.record_id}",
            "tenant": purge.tenant,
            "record_id": purge.record_id,
            "remains": {name: _listed(value) for name, value in asdict(purge.remains).items()},
        }


def purged_records(table: Table, tenant: str) -> int:
    """How many of a tenant's records were purged. Only the tenant's counters still count them."""
    item = read(table, _mark(tenant), "the counters")
    return 0 if item is None else int(item["records"])


def refuse_recount(table: Table, tenant: str) -> None:
    """Raise `ConflictError` if a tenant's counters count records that are gone."""
    if purged := purged_records(table, tenant):
        raise ConflictError(
            f"The counters of {tenant} cannot be counted again: {purged} of its records were removed when their time "
            "was over, and only the counters still count them. They are left as they are."
        )


def _mark(tenant: str) -> Key:
    return {"pk": counts_pk(tenant, 0), "sk": PURGED}


def _purge_key(tenant: str, record_id: str) -> Key:
    return {"pk": of_tenant(tenant, PURGE, record_id), "sk": PURGE}


def _listed(value: Any) -> Any:
    """A value in the form that the table takes: lists instead of tuples."""
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else value


def _remains(stored: Mapping[str, Any]) -> Remains:
    pairs = ("items", "guarded")
    return Remains(
        **{
            name: tuple(map(tuple, value)) if name in pairs else tuple(value)  # type: ignore[arg-type] # as it was written
            for name, value in stored.items()
        }
    )


def is_at_rest(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the items have a record and none of them has a step ahead, that is, a place among unfinished work."""
    return any(item["sk"] == RECORD for item in items) and not any("gsi2pk" in item for item in items)
