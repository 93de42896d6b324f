"""How answers are stored: their places in the indexes, and what they count for."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.clock import Clock, system_clock
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import action_of, difference
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import sortable
from touchstone.records.summaries import AnswerSummary, summary_of
from touchstone.records.table import Item
from touchstone.records.ulids import derived_ulid

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table


class OfAnswers(JobStore[AnswerRecord, AnswerSummary]):
    """What the classes share that keep or read answers' records."""

    def __init__(
        self,
        table: "Table",
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(ANSWER, table, artifacts, clock=clock, pause=pause)


def evaluation_request_id(record: AnswerRecord) -> str:
    """The id of a record's evaluation request: a ULID of when it was asked for, the same whenever computed."""
    moment = record.evaluation.requested_at or record.created_at
    return derived_ulid(moment, record.tenant, record.id)


def _due(record: AnswerRecord) -> datetime | None:
    """When an answer without an end began, or is abandoned where somebody carries it to another try.

    Mostly it keeps its place until its end, which costs two writes in all.
    """
    if record.stage in ENDED:
        return None
    left_until = record.left_until if record.waiting is None else record.waiting.left_until
    return left_until or record.created_at


def _also(record: AnswerRecord) -> Item:
    item: Item = {} if record.stage not in ENDED else _evaluation_index(record)
    return item if record.verification_status is None else item | {"verification_status": record.verification_status}


def _evaluation_index(record: AnswerRecord) -> Item:
    """The attributes that place an evaluation in the `deferred` index; empty once nothing of it is left to do.

    Evaluations begin only after the answer's end. Deferred ones are sorted by their request, waiting and running ones
    by the moment somebody may (again) take them.
    """
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


ANSWER = Job(
    kind="answer",
    plural="answers",
    model=AnswerRecord,
    asked=_asked,
    line=AnswerSummary,
    summary=summary_of,
    due=_due,
    also=_also,
    follows=lambda before, after: tuple(map(action_of, difference(before, after))),
    dated=lambda record, now: record.model_copy(update={"updated_at": now}),
)
"""How answers are stored."""
