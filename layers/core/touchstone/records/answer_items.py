"""An answer's record as an item of the table, and the one way in which it changes.

The record is stored whole, as JSON in `body`, and every other attribute is derived from it on each write: what the
indexes say cannot drift from what the record says. A record changes by a pure step: it is read, the step is applied,
and the result is written on condition that nobody wrote in between (`revision`), together with the difference it makes
to the counters. A step that finds its work done returns the record as it is, and nothing is written: that makes every
redelivery harmless.
"""

import hashlib
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.clock import Clock, system_clock
from touchstone.errors import ConflictError, InputError, NotFoundError, StoreError
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import action_of, difference
from touchstone.records.keys import answer_key, of_tenant
from touchstone.records.summaries import summary_of
from touchstone.records.table import Action, ConditionFailedError, Item, jitter, read, store_faults, transact
from touchstone.records.ulids import derived_ulid

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

MAX_BODY_BYTES = 350_000
"""A longer record lies in S3: an item holds 400 KB, and the summary and keys need their share."""
CHANGE_TRIES = 12
"""Writers of one record are few (a workflow, a sweep, a person); more collisions than this mean something is wrong."""
UNFINISHED = "ANSWER#unfinished"
"""The partition of the `deferred` index where answers without an end are, of all tenants."""

type Step = Callable[[AnswerRecord], AnswerRecord]
"""A pure change of a record. Returning the very same object means: nothing to do."""
type Beside = Callable[[AnswerRecord], Sequence[Action]]
"""Further writes of the same transaction, from the record as it will be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A record as it was read: `revision` changes with every write, `request` is the hash of what it began as."""

    record: AnswerRecord
    revision: str
    request: str


class AnswerItems:
    """Reads and changes the items of answers' records."""

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock,
        pause: Callable[[float], None],
    ) -> None:
        self.table = table
        self._artifacts = artifacts
        self._clock = clock
        self._pause = pause

    def read(self, tenant: str, answer_id: str) -> Stored:
        """The record, strongly consistent. Raises `NotFoundError`, also for another tenant's."""
        item = read(self.table, answer_key(tenant, answer_id), "the answer")
        if item is None:
            raise NotFoundError("There is no answer with this id.")
        body = item["body"] if "body" in item else self._artifacts.get_text(tenant=tenant, key=item["body_key"])
        return Stored(record=AnswerRecord.model_validate_json(body), revision=item["revision"], request=item["request"])

    def insert(self, record: AnswerRecord) -> AnswerRecord:
        """Store a new record; an identical repeat returns the stored one, however far it has come.

        Raises `ConflictError` where this id already belongs to another request.
        """
        request = fingerprint(record)
        try:
            self._write(record, None, str(uuid.uuid4()), request, ())
        except ConditionFailedError:
            stored = self.read(record.tenant, record.id)
            if stored.request == request:
                return stored.record
            raise ConflictError("An answer with this id exists already, for another request.") from None
        return record

    def change(self, tenant: str, answer_id: str, step: Step, *, beside: Beside | None = None) -> AnswerRecord:
        """Apply `step` and return the record as stored then.

        Raises `NotFoundError`, what `step` raises, `InputError` where the result is no valid record, or `StoreError`.
        """
        revisions: set[str] = set()
        for attempt in range(CHANGE_TRIES):
            stored = self.read(tenant, answer_id)
            # A write whose answer was lost is recognised by its revision and not applied again.
            if stored.revision in revisions:
                return stored.record
            after = step(stored.record)
            if after is stored.record:
                return stored.record
            after = after.model_copy(update={"updated_at": self._clock()})
            revision = str(uuid.uuid4())
            revisions.add(revision)
            try:
                self._write(after, stored, revision, stored.request, beside(after) if beside else ())
            except ConditionFailedError:
                self._pause(jitter(attempt))
            else:
                return after
        raise StoreError("The answer was changed by others each time; it is safe to repeat.")

    def _write(
        self, record: AnswerRecord, before: Stored | None, revision: str, request: str, beside: Sequence[Action]
    ) -> None:
        increments = difference(None if before is None else before.record, record)
        item = self._item(record, revision, request)
        condition: Item
        if before is None:
            condition = {"ConditionExpression": "attribute_not_exists(pk)"}
        else:
            condition = {
                "ConditionExpression": "revision = :before",
                "ExpressionAttributeValues": {":before": before.revision},
            }
        if increments or beside:
            actions: list[Action] = [{"Put": {"Item": item, **condition}}, *beside, *map(action_of, increments)]
            transact(self.table, actions, "store the answer", pause=self._pause)
        else:
            with store_faults("store the answer"):
                self.table.put_item(Item=item, **condition)

    def _item(self, record: AnswerRecord, revision: str, request: str) -> Item:
        body = _checked(record)
        item: Item = {
            **answer_key(record.tenant, record.id),
            "revision": revision,
            "request": request,
            "summary": summary_of(record).model_dump_json(),
            "gsi1pk": of_tenant(record.tenant, "ANSWERS"),
            "gsi1sk": record.id,
            **pending_index(record),
        }
        if record.verification_status is not None:
            item["verification_status"] = record.verification_status
        encoded = body.encode()
        if len(encoded) <= MAX_BODY_BYTES:
            return item | {"body": body}
        # Stored under its own hash before the item names it: a crash in between leaves an object nobody names.
        key = f"{record.tenant}/records/{record.id}/{hashlib.sha256(encoded).hexdigest()}.json"
        self._artifacts.put_text(tenant=record.tenant, key=key, text=body, content_type="application/json")
        return item | {"body_key": key}


class OfAnswers:
    """What the classes share that keep or read answers' records: the table, the bodies, and a clock."""

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._items = AnswerItems(table, artifacts, clock=clock, pause=pause)
        self._clock = clock


def evaluation_request_id(record: AnswerRecord) -> str:
    """The id of a record's evaluation request: a ULID of when it was asked for, the same whenever computed."""
    moment = record.evaluation.requested_at or record.created_at
    return derived_ulid(moment, record.tenant, record.id)


def pending_index(record: AnswerRecord) -> dict[str, str]:
    """The attributes that place a record in the `deferred` index; empty once nothing of it is left to do.

    An answer without an end is sorted by its beginning: it keeps its place until then, which costs two writes in all.
    Of evaluations, which begin only after that end, deferred ones are sorted by their request, waiting and running ones
    by the moment somebody may (again) take them.
    """
    if record.stage not in ENDED:
        return {"gsi2pk": UNFINISHED, "gsi2sk": f"{sortable(record.created_at)}#{record.id}"}
    progress = record.evaluation
    request = evaluation_request_id(record)
    match progress.state:
        case "none" | "done" | "failed":
            return {}
        case "deferred":
            position = request
        case "waiting" | "running":
            position = f"{sortable(progress.not_before or record.updated_at)}#{request}"
    return {"gsi2pk": f"EVALUATION#{progress.state}", "gsi2sk": position}


def sortable(moment: datetime) -> str:
    """A moment as text of fixed width that sorts by time (UTC, microseconds)."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}"


def fingerprint(record: AnswerRecord) -> str:
    """The hash of what was asked for: the new record without its times."""
    asked = record.model_dump_json(exclude={"created_at", "updated_at"})
    return hashlib.sha256(asked.encode()).hexdigest()


def _checked(record: AnswerRecord) -> str:
    """The record's JSON, proved readable: a body that cannot be read back would be lost."""
    body = record.model_dump_json()
    try:
        AnswerRecord.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise InputError(f"The answer's record would not be valid at {where}: {fault['msg']}.", where=where) from error
    return body
