"""Records as items of the table, and the one way in which they change.

A record is stored whole, as JSON in `body`. Every other attribute is derived from it on each write, so that the indexes
cannot differ from the record. A record changes by a pure step: it is read, the step is applied, and the result is
written on condition that nobody wrote in between (`revision`), together with what follows from the change (counters,
events). A step that finds its work done returns the record as it is, and nothing is written: that makes every
redelivery harmless.
"""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, Self

from pydantic import ValidationError

from touchstone.aws import ConditionFailedError, Table, jitter, read_many, store_faults
from touchstone.errors import ConflictError, InputError, NotFoundError, StoreError
from touchstone.records.artifacts import Artifacts
from touchstone.records.keys import Key
from touchstone.records.table import Action, Item, read, transact
from touchstone.strict import fault_sentence, first_fault

MAX_BODY_BYTES = 350_000
"""The longest body in an item; a longer record lies in S3. An item holds 400 KB, and the summary and keys need their
share."""
CHANGE_TRIES = 12
"""How often a change is tried. Writers of one record are few (a workflow, a sweep, a person); more collisions than this
mean a fault."""


class Storable(Protocol):
    """A record of a tenant that can be written as JSON and read back."""

    @property
    def tenant(self) -> str:
        """The tenant that owns the record."""

    @property
    def id(self) -> str:
        """The record's ULID."""

    def model_dump_json(self, *, exclude_none: bool = False) -> str:
        """The record as JSON; with `exclude_none` without the fields that are null."""

    @classmethod
    def model_validate_json(cls, json_data: str, /) -> Self:
        """The record from its JSON text. Raises `ValidationError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind[R: Storable]:
    """How the records of one kind are stored.

    `name` is the kind's noun in sentences. `asked` is the request that a record began as: the same text for a repeated
    request. `derived` are the attributes beside the body. `counter_writes` are the writes that a change brings with it
    in the same transaction, from the record before (None: there was none) and after. `touched` writes into a record
    that it changed now.
    """

    name: str
    model: type[R]
    key: Callable[[R], Key]
    asked: Callable[[R], str]
    derived: Callable[[R], Item]
    counter_writes: Callable[[R | None, R], Sequence[Action]] = lambda _before, _after: ()
    touched: Callable[[R], R] = lambda record: record


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored[R]:
    """A record as it was read. `revision` changes with every write; `request` is the hash of the original request.

    `revision` None: the record is not stored yet.
    """

    record: R
    revision: str | None
    request: str


class Versioned[R: Storable]:
    """Reads and changes the items of one kind of records."""

    def __init__(
        self,
        kind: RecordKind[R],
        table: Table,
        artifacts: Artifacts,
        *,
        pause: Callable[[float], None],
        draft: R | None = None,
        preloaded: Mapping[tuple[str, str], Stored[R]] | None = None,
    ) -> None:
        self._kind = kind
        self._table = table
        self._artifacts = artifacts
        self._pause = pause
        self._draft = draft
        self._preloaded = dict(preloaded or {})

    def drafting(self, draft: R) -> "Versioned[R]":
        """The same items and a draft: a record that is read as it is and stored by the first change to it.

        If a record with the draft's id is stored already, that one is read. If it belongs to another request, reading
        raises `ConflictError`.
        """
        return Versioned(self._kind, self._table, self._artifacts, pause=self._pause, draft=draft)

    def preloaded(self, tenant: str, keys: Sequence[Key]) -> "Versioned[R]":
        """The same items, with the records of these keys read now and not again before they are written.

        A hundred records are read at once. If somebody else changes such a record meanwhile, the condition of the write
        fails. A record that does not exist or cannot be read is skipped here, and is read when it is asked for.
        """
        preloaded = {}
        for item in read_many(self._table, keys, f"the records of the kind {self._kind.name}", pause=self._pause):
            with suppress(ValidationError, NotFoundError):
                preloaded[_place(item)] = self.of_item(tenant, item)
        return Versioned(
            self._kind, self._table, self._artifacts, pause=self._pause, draft=self._draft, preloaded=preloaded
        )

    def find(self, tenant: str, key: Key) -> Stored[R] | None:
        """The record, strongly consistent; None if there is none."""
        if (known := self._preloaded.get(_place(key))) is not None:
            return known
        item = read(self._table, key, f"the {self._kind.name}")
        stored = None if item is None else self.of_item(tenant, item)
        draft = self._draft
        if draft is None or key != self._kind.key(draft):
            return stored
        if stored is None:
            return Stored(record=draft, revision=None, request=self._request(draft))
        self.same(stored, draft)
        return stored

    def read(self, tenant: str, key: Key) -> Stored[R]:
        """The record, strongly consistent. Raises `NotFoundError` if this tenant has none with this key."""
        stored = self.find(tenant, key)
        if stored is None:
            raise NotFoundError(f"There is no {self._kind.name} with this id.")
        return stored

    def find_many(self, tenant: str, keys: Sequence[Key]) -> list[Stored[R]]:
        """The existing records of these keys, in no order, strongly consistent: one read for each hundred."""
        items = read_many(self._table, keys, f"the records of the kind {self._kind.name}", pause=self._pause)
        return [self.of_item(tenant, item) for item in items]

    def of_item(self, tenant: str, item: Item) -> Stored[R]:
        """The record of an item that was read; its body is read from S3 if it lies there."""
        body = item["body"] if "body" in item else self._artifacts.get_text(tenant=tenant, key=item["body_key"])
        return Stored(
            record=self._kind.model.model_validate_json(body), revision=item["revision"], request=item["request"]
        )

    def insert(self, record: R, *, also_write: Sequence[Action] = ()) -> R:
        """Store a new record; an identical repeat returns the stored record in its present state.

        `also_write` are further writes of the same transaction. Raises `ConflictError` if this id already belongs to
        another request, and `ConditionFailedError` if a condition of `also_write` did not hold.
        """
        request = self._request(record)
        try:
            self._write(record, None, str(uuid.uuid4()), request, also_write)
        except ConditionFailedError as error:
            if 0 not in error.failed:
                raise
            return self.same(self.read(record.tenant, self._kind.key(record)), record)
        return record

    def inserting(self, record: R) -> Action:
        """The write that stores a new record, as part of a transaction; it fails if the record exists already."""
        item = self._item(record, str(uuid.uuid4()), self._request(record))
        return {"Put": {"Item": item, **_unchanged(None)}}

    def same(self, stored: Stored[R], record: R) -> R:
        """The stored record of the request that `record` repeats. Raises `ConflictError` if it is another request's."""
        if stored.request != self._request(record):
            raise ConflictError(
                f"This id belongs to another request's {self._kind.name} already; repeat a request unchanged."
            )
        return stored.record

    def unchanged(self, stored: Stored[R]) -> Action:
        """The condition, as part of a transaction, that a record is unchanged since it was read."""
        return {"ConditionCheck": {"Key": self._kind.key(stored.record), **_unchanged(stored)}}

    def change(
        self,
        tenant: str,
        key: Key,
        step: Callable[[R], R],
        *,
        also_write: Callable[[R], Sequence[Action]] | None = None,
    ) -> R:
        """Apply `step`, a pure change that returns the very same object if nothing is to do. Return the stored record.

        `also_write` returns further writes of the same transaction, from the record as it will be. Raises
        `NotFoundError`, what `step` raises, `InputError` if the result is no valid record, or `StoreError`.
        """
        revisions: set[str | None] = set()
        for attempt in range(CHANGE_TRIES):
            stored = self.read(tenant, key)
            # A write whose reply was lost is recognised by its revision and not applied again.
            if stored.revision in revisions:
                return stored.record
            after = step(stored.record)
            if after is stored.record:
                return stored.record
            after = self._kind.touched(after)
            revision = str(uuid.uuid4())
            revisions.add(revision)
            try:
                self._write(after, stored, revision, stored.request, also_write(after) if also_write else ())
            except ConditionFailedError:
                self._pause(jitter(attempt))
            else:
                return after
        raise StoreError(f"The {self._kind.name} was changed by others each time; it is safe to repeat.")

    def begin(self, tenant: str, key: Key, step: Callable[[R], R]) -> tuple[R, bool]:
        """Apply a step that takes a record's work. The flag says whether this caller got it: of many exactly one."""
        taken = False

        def taking(record: R) -> R:
            nonlocal taken
            after = step(record)
            taken = after is not record
            return after

        return self.change(tenant, key, taking), taken

    def _write(
        self, record: R, before: Stored[R] | None, revision: str, request: str, also_write: Sequence[Action]
    ) -> None:
        self._preloaded.pop(_place(self._kind.key(record)), None)
        following = self._kind.counter_writes(None if before is None else before.record, record)
        put = {"Item": self._item(record, revision, request), **_unchanged(before)}
        what = f"store the {self._kind.name}"
        if also_write or following:
            transact(self._table, [{"Put": put}, *also_write, *following], what, pause=self._pause)
        else:
            with store_faults(what):
                self._table.put_item(**put)

    def _item(self, record: R, revision: str, request: str) -> Item:
        body = self._checked(record)
        item: Item = {
            **self._kind.key(record),
            "revision": revision,
            "request": request,
            **self._kind.derived(record),
        }
        encoded = body.encode()
        if len(encoded) <= MAX_BODY_BYTES:
            return item | {"body": body}
        # The body is stored under its hash before the item names it. A crash in between leaves an object that no item
        # names.
        key = f"{record.tenant}/records/{record.id}/{hashlib.sha256(encoded).hexdigest()}.json"
        self._artifacts.put_text(tenant=record.tenant, key=key, text=body, content_type="application/json")
        return item | {"body_key": key}

    def _checked(self, record: R) -> str:
        """The record's JSON, checked to be readable: a body that cannot be read back would be lost.

        Fields that are null are left out if the same record can be read without them: a third of most records, which
        each write would pay for.
        """
        body = record.model_dump_json(exclude_none=True)
        with suppress(ValidationError):
            if self._kind.model.model_validate_json(body) == record:
                return body
        body = record.model_dump_json()
        try:
            self._kind.model.model_validate_json(body)
        except ValidationError as error:
            fault = first_fault(error)
            where = ".".join(map(str, fault["loc"]))
            raise InputError(
                f"The record of the {self._kind.name} would not be valid: {fault_sentence(fault)}.", where=where
            ) from error
        return body

    def _request(self, record: R) -> str:
        return hashlib.sha256(self._kind.asked(record).encode()).hexdigest()


def _place(item: Mapping[str, Any]) -> tuple[str, str]:
    """The partition key and the sort key of an item."""
    return item["pk"], item["sk"]


def _unchanged[R](before: Stored[R] | None) -> Item:
    """The condition that a record is unchanged since it was read; `before` None: that there is no record."""
    if before is None or before.revision is None:
        return {"ConditionExpression": "attribute_not_exists(pk)"}
    return {
        "ConditionExpression": "revision = :before",
        "ExpressionAttributeValues": {":before": before.revision},
    }
