"""Batches: files of thousands of requests. A batch is done chunk by chunk, and each chunk is counted once."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import TypeAdapter

from touchstone.attempts import When
from touchstone.aws import ConditionFailedError, store_faults
from touchstone.errors import ConflictError, NotFoundError
from touchstone.records.keys import batch_key, of_tenant
from touchstone.records.lists import Page, newest
from touchstone.records.table import Action, Item, OfTable, read, transact, update

type BatchState = Literal["running", "finished", "failed"]

_WAITING = ("waiting", "waiting_for", "waiting_until")
_OPTIONAL = ("source_key", "results_key", "failure", "total", "version", "owner", "when", *_WAITING)
COUNT_TRIES = 3
"""A chunk is delivered at most twice at the same time, and its counts are the same when it is read a second time."""
_MINE = "(attribute_not_exists(#owner) OR #owner = :owner)"
"""The condition that the run `owner` owns the batch, or nobody does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch and its progress. `done` and `failed` count lines; `total` is None until the file has been read.

    `version` is the version of the file whose lines are counted, None as long as `total` is. `results_key` is set once
    the batch is finished, `failure` while it has failed. `owner` names the run that works on it, None before the first
    run.

    `waiting` lines of a running batch are tried again at `waiting_until` (UTC), most of them for the reason
    `waiting_for`; both are None if no line waits.

    `when` "now": the lines are asked at once from then on. Lines that are in a provider's batch are asked only with
    `pay_twice`.
    """

    tenant: str
    id: str
    state: BatchState
    created_at: datetime
    updated_at: datetime
    source_key: str | None = None
    total: int | None = None
    version: str | None = None
    done: int = 0
    failed: int = 0
    results_key: str | None = None
    failure: str | None = None
    owner: str | None = None
    waiting: int = 0
    waiting_for: str | None = None
    waiting_until: datetime | None = None
    when: When | None = None
    pay_twice: bool = False

    @property
    def last_heartbeat_at(self) -> datetime:
        """When the batch's run was last heard of, or the end of its wait: a waiting run is not heard of before it."""
        return max(self.updated_at, self.waiting_until or self.updated_at)


class Batches(OfTable):
    """The batches of all tenants. All methods are safe to repeat.

    Raises `NotFoundError` for an id that this tenant does not have, `StoreError` if the store fails.
    """

    def create(self, *, tenant: str, batch_id: str, source_key: str | None = None, total: int | None = None) -> Batch:
        """Begin a batch; a repeat for the same source returns the batch as it is.

        Raises `ConflictError` if the id belongs to another source.
        """
        now = self._clock()
        batch = Batch(
            tenant=tenant,
            id=batch_id,
            state="running",
            created_at=now,
            updated_at=now,
            source_key=source_key,
            total=total,
        )
        try:
            with store_faults("store the batch"):
                self._table.put_item(Item=_item_of(batch), ConditionExpression="attribute_not_exists(pk)")
        except ConditionFailedError:
            stored = self.get(tenant=tenant, batch_id=batch_id)
            if stored.source_key == source_key:
                return stored
            raise ConflictError("A batch with this id exists already, for another file.") from None
        return batch

    def get(self, *, tenant: str, batch_id: str) -> Batch:
        """A batch."""
        item = read(self._table, batch_key(tenant, batch_id), "the batch")
        if item is None:
            raise NotFoundError("There is no batch with this id.")
        return _batch_of(item)

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[Batch]:
        """A tenant's batches, newest first. Raises `InputError` for a cursor of another list."""
        scope = of_tenant(tenant, "BATCHES")
        items, after = newest(self._table, "the batches", scope=scope, limit=limit, cursor=cursor)
        # The index gives only the keys: progress is read from the items themselves, so that it is never behind.
        shown = tuple(self.get(tenant=tenant, batch_id=str(item["gsi1sk"])) for item in items)
        return Page(items=shown, cursor=after)

    def own(self, *, tenant: str, batch_id: str, owner: str, quiet: timedelta) -> Batch | None:
        """Give a batch to the run `owner`; None if the batch is finished or another run works on it.

        The first run to ask gets the batch, and gets it again whenever it asks. Another run gets it, set to running
        again, if the batch has failed or if nothing was heard of it for `quiet`.
        """
        now = self._clock()
        owned = self._set(
            tenant,
            batch_id,
            {"state": "running", "owner": owner},
            without=("failure", *_WAITING),
            condition="#state IN (:running, :failed) AND (attribute_not_exists(#owner) OR #owner = :owner"
            " OR #state = :failed OR (updated_at <= :silent"
            " AND (attribute_not_exists(#waiting_until) OR #waiting_until <= :silent)))",
            tested={":running": "running", ":failed": "failed", ":silent": (now - quiet).isoformat()},
        )
        if owned is None:
            self.get(tenant=tenant, batch_id=batch_id)
        return owned

    def hold(self, *, tenant: str, batch_id: str, owner: str) -> Batch | None:
        """Note that the run `owner` is alive; None if the batch has ended or another run owns it.

        A run that calls this keeps its batch for as long as the `quiet` of `own`.
        """
        held = self._set_of_running(tenant, batch_id, {"owner": owner})
        return held if held.state == "running" and held.owner == owner else None

    def ask_now(self, *, tenant: str, batch_id: str, pay_twice: bool) -> Batch:
        """Ask a running batch's lines at once from now on; with `pay_twice` also the lines in a provider's batch.

        A batch that has ended stays as it is.
        """
        twice = {"pay_twice": 1} if pay_twice else {}
        changed = self._set(
            tenant, batch_id, {"when": "now", **twice}, condition="#state = :running", tested={":running": "running"}
        )
        return changed or self.get(tenant=tenant, batch_id=batch_id)

    def wait(self, *, tenant: str, batch_id: str, owner: str, lines: int, reason: str, until: datetime) -> Batch:
        """Record how many lines wait, for what reason, and until when.

        A batch that has ended, or that another run owns, stays as it is.
        """
        told: dict[str, str | int] = {"waiting": lines, "waiting_for": reason, "waiting_until": until.isoformat()}
        return self._set_of_running(tenant, batch_id, {"owner": owner, **told})

    def set_total(self, *, tenant: str, batch_id: str, owner: str, version: str, total: int) -> Batch:
        """Record how many lines this version of the file has. With another version of the file the counts begin anew.

        A batch that has ended, or that another run owns, stays as it is.
        """
        changes: dict[str, str | int] = {"owner": owner, "version": version, "total": total}
        other = "(attribute_not_exists(#version) OR #version <> :version)"
        anew = self._set(
            tenant,
            batch_id,
            {**changes, "done": 0, "failed": 0},
            condition=f"#state = :running AND {_MINE} AND {other}",
            tested={":running": "running"},
        )
        return anew or self._set_of_running(tenant, batch_id, changes)

    def chunk_done(self, *, tenant: str, batch_id: str, version: str, chunk: int, done: int, failed: int) -> Batch:
        """Count a chunk's lines with a result, `failed` of which are errors, in place of the chunk's earlier counts.

        A repeat changes nothing. A chunk of another version of the file than the counted one changes nothing either,
        nor does a chunk of a batch that has ended.
        """
        of_batch = batch_key(tenant, batch_id)
        after: Item = {"pk": of_batch["pk"], "sk": f"CHUNK#{chunk:08d}"}
        key = dict(after)
        after |= {"version": version, "done": done, "failed": failed}
        for _ in range(COUNT_TRIES):
            counted = read(self._table, key, "the chunk")
            if counted is not None and all(counted[name] == value for name, value in after.items()):
                break
            # A condition fails if another delivery counts the chunk just now, if the chunk is not counted any more, or
            # if there is no such batch; reading the batch tells the last.
            with suppress(ConditionFailedError):
                transact(self._table, self._counting(of_batch, counted, after), "count the chunk", pause=self._pause)
                break
        return self.get(tenant=tenant, batch_id=batch_id)

    def _counting(self, batch: Item, counted: Item | None, after: Item) -> list[Action]:
        """The writes that replace the chunk's counts `counted` (None: not counted yet) by `after`."""
        before = (0, 0)
        unchanged: Item = {"ConditionExpression": "attribute_not_exists(pk)"}
        if counted is not None:
            tested = {":version": counted["version"], ":done": counted["done"], ":failed": counted["failed"]}
            unchanged = {
                "ConditionExpression": "#version = :version AND done = :done AND failed = :failed",
                "ExpressionAttributeNames": {"#version": "version"},
                "ExpressionAttributeValues": tested,
            }
            if counted["version"] == after["version"]:
                before = (int(counted["done"]), int(counted["failed"]))
        of_batch = {
            "Key": batch,
            "UpdateExpression": "ADD done :done, failed :failed SET updated_at = :now",
            "ConditionExpression": "#state = :running AND #version = :version",
            "ExpressionAttributeNames": {"#version": "version", "#state": "state"},
            "ExpressionAttributeValues": {
                ":version": after["version"],
                ":running": "running",
                ":done": after["done"] - before[0],
                ":failed": after["failed"] - before[1],
                ":now": self._clock().isoformat(),
            },
        }
        return [{"Update": of_batch}, {"Put": {"Item": after, **unchanged}}]

    def finish(self, *, tenant: str, batch_id: str, owner: str, results_key: str, done: int, failed: int) -> Batch:
        """Finish a running batch with the key of its results. `done` and `failed` are its final counts of lines.

        A batch that has ended, or that another run owns, stays as it is.
        """
        ended: dict[str, str | int] = {"state": "finished", "owner": owner, "results_key": results_key}
        return self._set_of_running(tenant, batch_id, {**ended, "done": done, "failed": failed}, without=_WAITING)

    def fail(self, *, tenant: str, batch_id: str, owner: str, failure: str) -> Batch:
        """Give up a running batch, with the reason.

        A batch that has ended, or that another run owns, stays as it is.
        """
        failed = {"state": "failed", "failure": failure, "owner": owner}
        return self._set_of_running(tenant, batch_id, failed, without=_WAITING)

    def _set_of_running(
        self, tenant: str, batch_id: str, changes: Mapping[str, str | int], *, without: Sequence[str] = ()
    ) -> Batch:
        """The batch with `changes`, if it runs and belongs to the `owner` in the changes; else the batch as it is."""
        changed = self._set(
            tenant,
            batch_id,
            changes,
            condition=f"#state = :running AND {_MINE}",
            tested={":running": "running"},
            without=without,
        )
        return changed or self.get(tenant=tenant, batch_id=batch_id)

    def _set(
        self,
        tenant: str,
        batch_id: str,
        changes: Mapping[str, str | int],
        *,
        condition: str,
        tested: Mapping[str, str],
        without: Sequence[str] = (),
    ) -> Batch | None:
        """Set attributes, and remove those in `without`, if the condition holds; None if it does not.

        The condition names attributes as `#state` and `#owner`. It names a value by its name in `tested`, or by the
        name of a change.
        """
        assignments = ", ".join([*(f"#{name} = :{name}" for name in changes), "updated_at = :now"])
        removals = f" REMOVE {', '.join(f'#{name}' for name in without)}" if without else ""
        item = update(
            self._table,
            "store the batch",
            batch_key(tenant, batch_id),
            f"SET {assignments}{removals}",
            condition=condition,
            values={f":{name}": value for name, value in changes.items()}
            | {**tested, ":now": self._clock().isoformat()},
            ExpressionAttributeNames={f"#{name}": name for name in ("state", *changes, *without)},
        )
        return None if item is None else _batch_of(item)


def _item_of(batch: Batch) -> Item:
    item: Item = {
        **batch_key(batch.tenant, batch.id),
        "tenant": batch.tenant,
        "batch_id": batch.id,
        "state": batch.state,
        "created_at": batch.created_at.isoformat(),
        "updated_at": batch.updated_at.isoformat(),
        "done": batch.done,
        "failed": batch.failed,
        "gsi1pk": of_tenant(batch.tenant, "BATCHES"),
        "gsi1sk": batch.id,
    }
    return item | {name: value for name in _OPTIONAL if (value := getattr(batch, name)) is not None}


_BATCH = TypeAdapter(Batch)


def _batch_of(item: Item) -> Batch:
    return _BATCH.validate_python({**item, "id": item["batch_id"]})
