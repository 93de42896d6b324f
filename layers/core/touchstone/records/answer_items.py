"""An answer's record as an item of the table: its key, its places in the indexes, and what it counts for."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.clock import Clock, system_clock
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import action_of, difference
from touchstone.records.keys import answer_key, of_tenant, sortable
from touchstone.records.summaries import summary_of
from touchstone.records.table import Action, Item
from touchstone.records.ulids import derived_ulid
from touchstone.records.versioned import Kind, Stored, Versioned

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

UNFINISHED = "ANSWER#unfinished"
"""The partition of the `deferred` index where answers without an end are, of all tenants."""

type Step = Callable[[AnswerRecord], AnswerRecord]
"""A pure change of a record. Returning the very same object means: nothing to do."""
type Beside = Callable[[AnswerRecord], Sequence[Action]]
"""Further writes of the same transaction, from the record as it will be."""


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
        self._records = Versioned(_ANSWER, table, artifacts, pause=pause)
        self._clock = clock

    def read(self, tenant: str, answer_id: str) -> Stored[AnswerRecord]:
        """The record, strongly consistent. Raises `NotFoundError`, also for another tenant's."""
        return self._records.read(tenant, answer_key(tenant, answer_id))

    def insert(self, record: AnswerRecord) -> AnswerRecord:
        """Store a new record; an identical repeat returns the stored one, however far it has come.

        Raises `ConflictError` where this id already belongs to another request.
        """
        return self._records.insert(record)

    def change(self, tenant: str, answer_id: str, step: Step, *, beside: Beside | None = None) -> AnswerRecord:
        """Apply `step` and return the record as stored then.

        Raises `NotFoundError`, what `step` raises, `InputError` where the result is no valid record, or `StoreError`.
        """

        def dated(record: AnswerRecord) -> AnswerRecord:
            after = step(record)
            return after if after is record else after.model_copy(update={"updated_at": self._clock()})

        return self._records.change(tenant, answer_key(tenant, answer_id), dated, beside=beside)


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
        self._artifacts = artifacts
        self._items = AnswerItems(table, artifacts, clock=clock, pause=pause)
        self._clock = clock


def evaluation_request_id(record: AnswerRecord) -> str:
    """The id of a record's evaluation request: a ULID of when it was asked for, the same whenever computed."""
    moment = record.evaluation.requested_at or record.created_at
    return derived_ulid(moment, record.tenant, record.id)


def pending_index(record: AnswerRecord) -> dict[str, str]:
    """The attributes that place a record in the `deferred` index; empty once nothing of it is left to do.

    An answer without an end is sorted by its beginning, or by when it is abandoned where somebody carries it to another
    try: mostly it keeps its place until its end, which costs two writes in all.
    Of evaluations, which begin only after that end, deferred ones are sorted by their request, waiting and running ones
    by the moment somebody may (again) take them.
    """
    if record.stage not in ENDED:
        left_until = record.left_until if record.waiting is None else record.waiting.left_until
        begun = left_until or record.created_at
        return {"gsi2pk": UNFINISHED, "gsi2sk": f"{sortable(begun)}#{record.id}"}
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


def _asked(record: AnswerRecord) -> str:
    """What a record began as. What a request does not say reads as it did before it could be said."""
    unsaid = [name for name in ("answer_key", "verify_seconds") if getattr(record, name) is None]
    later = ("created_at", "updated_at", "failure_reason", "trying", "waiting", "left_until", *unsaid)
    return record.model_dump_json(exclude={**dict.fromkeys(later, True), "evaluation": {"failure_reason", "since"}})


def _derived(record: AnswerRecord) -> Item:
    item: Item = {
        "summary": summary_of(record).model_dump_json(),
        "gsi1pk": of_tenant(record.tenant, "ANSWERS"),
        "gsi1sk": record.id,
        **pending_index(record),
    }
    if record.verification_status is not None:
        item["verification_status"] = record.verification_status
    return item


_ANSWER = Kind(
    name="answer",
    model=AnswerRecord,
    key=lambda record: answer_key(record.tenant, record.id),
    asked=_asked,
    derived=_derived,
    follows=lambda before, after: tuple(map(action_of, difference(before, after))),
)
