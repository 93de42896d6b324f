"""How answers are stored: their places in the indexes, what a list shows of them, and what they count for."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from touchstone.answers.model import (
    ENDED,
    AnswerRecord,
    Attempt,
    Difficulty,
    EvaluationState,
    Method,
    SkipReason,
    Stage,
    Status,
)
from touchstone.clock import Clock, system_clock
from touchstone.judges.spends import unpriced
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import action_of, difference
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import of_tenant, sortable, unfinished_pk
from touchstone.records.list_query import CLAIMED_BEFORE, beginning
from touchstone.records.table import Item
from touchstone.records.ulids import derived_ulid, is_ulid, ulid_moment
from touchstone.strict import Strict

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table

EVALUATION = "EVALUATION#"
"""How the names of the lists of deep evaluations that are not over begin, before their states."""


class AttemptSummary(Strict):
    """One attempt in a list: who answered, and what was found. `method` None: nothing was looked for yet.

    `skip_reason` is why nobody decided, where `passed` is None.
    """

    provider: str
    model: str
    passed: bool | None
    method: Method | None
    skip_reason: SkipReason | None


class AnswerSummary(Strict):
    """One line of a list of answers. `problem` and `answer` have at most 160 characters, None before they exist.

    What is longer ends in an ellipsis. `overall` is the deep evaluation's score (0–1), None before there is one.
    Answers that an earlier release stored have no `language`, `attempts` and `retrieved_from` here until they change.
    """

    id: str
    kind: Literal["verify", "solve"]
    stage: Stage
    created_at: datetime
    updated_at: datetime
    problem: str | None
    answer: str | None
    subject: str | None
    difficulty: Difficulty | None
    model: str | None
    attempt_count: int
    verification_status: Status | None
    verification_confidence: float | None
    evaluation: EvaluationState
    overall: float | None
    cost_usd: float | None
    unpriced_calls: int = 0
    batch_id: str | None
    language: Literal["zh", "en"] | None = None
    attempts: tuple[AttemptSummary, ...] = ()
    retrieved_from: str | None = None


def summary_of(record: AnswerRecord) -> AnswerSummary:
    """The summary of a record; shows the best attempt, or the latest while none is chosen."""
    shown = record.best or (record.attempts[-1] if record.attempts else None)
    return AnswerSummary(
        id=record.id,
        kind=record.kind,
        stage=record.stage,
        created_at=record.created_at,
        updated_at=record.updated_at,
        problem=None if record.problem is None else beginning(record.problem),
        answer=None if shown is None else beginning(shown.solution.answer),
        subject=record.subject,
        difficulty=record.difficulty,
        model=None if shown is None else shown.solution.model,
        attempt_count=record.attempt_count,
        verification_status=record.verification_status,
        verification_confidence=record.verification_confidence,
        evaluation=record.evaluation.state,
        overall=None if record.deep_evaluation is None else record.deep_evaluation.overall,
        cost_usd=record.cost_usd,
        unpriced_calls=unpriced(record.spends),
        batch_id=record.batch_id,
        language=record.language,
        attempts=tuple(map(_attempt, record.attempts)),
        retrieved_from=record.retrieved_from,
    )


def _attempt(attempt: Attempt) -> AttemptSummary:
    found = attempt.verification
    return AttemptSummary(
        provider=attempt.solution.provider,
        model=attempt.solution.model,
        passed=None if found is None else found.passed,
        method=None if found is None else found.method,
        skip_reason=None if found is None else found.skip_reason,
    )


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
    if _came_late(record):
        item |= {"gsi3pk": late_pk(record.tenant), "count": milliseconds(record.created_at)}
    return item if record.verification_status is None else item | {"verification_status": record.verification_status}


def _came_late(record: AnswerRecord) -> bool:
    """Whether a record's id is much older than itself, so that it stands in the list far from its day.

    A line's id is as old as its batch, which its list leads to; what is meant is a batch whose own key is older.
    """
    made = ulid_moment(record.id)
    if record.batch_id is None:
        return record.created_at - made > CLAIMED_BEFORE
    return is_ulid(record.batch_id) and made - ulid_moment(record.batch_id) > CLAIMED_BEFORE


def late_pk(tenant: str) -> str:
    """The partition, in the index by count, of a tenant's answers whose ids are much older, by when they came."""
    return of_tenant(tenant, "LATE")


def milliseconds(moment: datetime) -> int:
    """A moment as a number that sorts."""
    return round(moment.timestamp() * 1000)


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
        case "deferred" if progress.when == "cheap":
            # A list of their own: who works off the others has not to look at them.
            return {"gsi2pk": unfinished_pk(f"{EVALUATION}cheap", record.id), "gsi2sk": request}
        case "deferred":
            position = request
        case "submitted":
            # Their batch leads to them, and looks after them.
            return {}
        case "waiting" | "running":
            position = f"{sortable(progress.not_before or record.updated_at)}#{request}"
    return {"gsi2pk": unfinished_pk(f"{EVALUATION}{progress.state}", record.id), "gsi2sk": position}


def _asked(record: AnswerRecord) -> str:
    """What a record began as. What a request does not say reads as it did before it could be said."""
    unsaid = [name for name in ("answer_key", "verify_seconds") if getattr(record, name) is None]
    unsaid += ["judges"] if record.judges == 1 else []
    unset = {"failure_reason", "since", "submitted", *(() if record.evaluation.when else ("when",))}
    later = ("created_at", "updated_at", "failure_reason", "trying", "waiting", "left_until", *unsaid)
    return record.model_dump_json(exclude={**dict.fromkeys(later, True), "evaluation": unset})


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
