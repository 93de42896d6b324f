"""How answers are stored: their places in the indexes, their lines in lists, and what they add to the counters."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from touchstone.answers.model import ENDED, AnswerRecord, Attempt, Difficulty, EvaluationState, Method, Stage, Status
from touchstone.aws import Table
from touchstone.clock import Clock, system_clock
from touchstone.errors import SkipReason
from touchstone.judges.spends import count_unpriced
from touchstone.records.answer_counters import contributions
from touchstone.records.artifacts import Artifacts
from touchstone.records.counters import writes_of
from touchstone.records.jobs import Job, JobStore
from touchstone.records.keys import of_tenant, sortable, unfinished_pk
from touchstone.records.list_query import CLAIMED_BEFORE, beginning
from touchstone.records.table import Item
from touchstone.records.ulids import derived_ulid, is_ulid, ulid_moment
from touchstone.strict import Strict

EVALUATION = "EVALUATION#"
"""The prefix of the names of the lists of unfinished deep evaluations; the evaluation's state follows."""


class AttemptSummary(Strict):
    """One attempt in a list: who answered, and what was found.

    `method` is null if the attempt was not examined yet. `skip_reason` is why nobody decided, if `passed` is null.
    """

    provider: str
    model: str
    passed: bool | None
    method: Method | None
    skip_reason: SkipReason | None


class AnswerSummary(Strict):
    """One line of a list of answers.

    `problem` and `answer` have at most 160 characters and are null before they exist. A longer text ends in an
    ellipsis. `overall` is the score of the deep evaluation (0–1), null before there is one. `error` says what is wrong
    with the answer, or why nobody decided, in at most 160 characters. Answers that an earlier release stored have no
    `language`, `attempts`, `retrieved_from` and `error` here until they change.
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
    error: str | None = None

    def model_dump_json(self, **said: Any) -> str:
        """The line as it is stored. `error` is left out if it is None: it would cost most answers another unit."""
        return super().model_dump_json(**{"exclude": {"error"} if self.error is None else None, **said})


def summary_of(record: AnswerRecord) -> AnswerSummary:
    """The summary of a record. It shows the best attempt, or the latest one while none is chosen."""
    shown = record.best or (record.attempts[-1] if record.attempts else None)
    said = None if shown is None or shown.verification is None else shown.verification.error
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
        unpriced_calls=count_unpriced(record.spends),
        batch_id=record.batch_id,
        language=record.language,
        attempts=tuple(map(_attempt, record.attempts)),
        retrieved_from=record.retrieved_from,
        error=None if said is None else beginning(said),
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
    """The base of the classes that write or read answers' records."""

    def __init__(
        self,
        table: Table,
        artifacts: Artifacts,
        *,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(ANSWER, table, artifacts, clock=clock, pause=pause)


def evaluation_request_id(record: AnswerRecord) -> str:
    """The id of a record's evaluation request: a ULID of when it was asked for, the same whenever it is computed."""
    moment = record.evaluation.requested_at or record.created_at
    return derived_ulid(moment, record.tenant, record.id)


def _due(record: AnswerRecord) -> datetime | None:
    """When the sweep takes an unfinished answer for lost: `left_until` if it is set, else the answer's creation.

    `left_until` is set if something carries the answer to another try. None if the answer has ended. An answer mostly
    keeps its place in the index until its end, so that it costs two index writes in all.
    """
    if record.stage in ENDED:
        return None
    left_until = record.left_until if record.waiting is None else record.waiting.left_until
    return left_until or record.created_at


def _more_attributes(record: AnswerRecord) -> Item:
    item: Item = {} if record.stage not in ENDED else _evaluation_index(record)
    if _came_late(record):
        item |= {"gsi3pk": late_pk(record.tenant), "count": milliseconds(record.created_at)}
    return item if record.verification_status is None else item | {"verification_status": record.verification_status}


def _came_late(record: AnswerRecord) -> bool:
    """Whether a record's id is much older than the record, so that the record stands in the list far from its day.

    A line's id is as old as its batch, which the list of batches leads to. So for a line this is about a batch id that
    is much older than the line's id: the batch's own key is older.
    """
    made = ulid_moment(record.id)
    if record.batch_id is None:
        return record.created_at - made > CLAIMED_BEFORE
    return is_ulid(record.batch_id) and made - ulid_moment(record.batch_id) > CLAIMED_BEFORE


def late_pk(tenant: str) -> str:
    """The partition, in the index by count, of a tenant's answers with much older ids, sorted by when they arrived."""
    return of_tenant(tenant, "LATE")


def milliseconds(moment: datetime) -> int:
    """A moment as milliseconds since 1970, a number that sorts by time."""
    return round(moment.timestamp() * 1000)


def _evaluation_index(record: AnswerRecord) -> Item:
    """The attributes that place an evaluation in the `deferred` index; empty if no step of it is left.

    Evaluations begin only after the answer's end. Deferred evaluations are sorted by their request, waiting and running
    ones by the moment at which they may be taken (again).
    """
    progress = record.evaluation
    request = evaluation_request_id(record)
    match progress.state:
        case "none" | "done" | "failed":
            return {}
        case "deferred" if progress.when == "cheap":
            # They have a list of their own, so that the drain of the others need not look at them.
            return {"gsi2pk": unfinished_pk(f"{EVALUATION}cheap", record.id), "gsi2sk": request}
        case "deferred":
            position = request
        case "submitted":
            # Their batch leads to them and carries them on.
            return {}
        case "waiting" | "running":
            position = f"{sortable(progress.not_before or record.updated_at)}#{request}"
    return {"gsi2pk": unfinished_pk(f"{EVALUATION}{progress.state}", record.id), "gsi2sk": position}


def _asked(record: AnswerRecord) -> str:
    """The request that a record began as, as JSON.

    A field that the request does not set is left out, so that the JSON is the same as before the field existed.
    """
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
    more_attributes=_more_attributes,
    counter_writes=writes_of(contributions),
    touched=lambda record, now: record.model_copy(update={"updated_at": now}),
)
"""How answers are stored."""
