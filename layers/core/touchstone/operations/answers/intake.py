"""Accepted requests for answers: each becomes a record, and its work is started."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from touchstone.answers.model import ENDED, MAX_IMAGE_BYTES, AnswerRecord, SolveRequest, VerifyRequest
from touchstone.answers.progress import new_record
from touchstone.answers.reading import image, inline_image
from touchstone.attempts import When
from touchstone.aws import missing_object
from touchstone.clock import Deadline
from touchstone.errors import ConflictError, SkipReason, StoreError, TooLargeError
from touchstone.operations.answers.draining import lease_of
from touchstone.operations.answers.finishing import finish_skipped, sentence_of
from touchstone.operations.jobs.intake import Intake
from touchstone.operations.retention import RENEWED_AFTER
from touchstone.records import (
    Answers,
    Artifacts,
    DeferredEvaluation,
    DeferredQueue,
    Evaluations,
    Leases,
    evaluation_request_id,
)
from touchstone.records.artifacts import IMAGES
from touchstone.references import Reference
from touchstone.workflows import Workflows


@dataclass(kw_only=True)
class BulkEvaluations:
    """Puts evaluations of any tenant into the line, and starts the drains that work it off.

    `spent` tells whether the quota has nothing left for the backlog today: then no drain is started. `drains` is the
    number of drains that run side by side. `batches` tells whether evaluations go by a provider's batch, which needs no
    quota.
    """

    evaluations: Evaluations
    queue: Callable[[], DeferredQueue]
    leases: Leases
    workflows: Callable[[], Workflows]
    spent: Callable[[], bool]
    batches: Callable[[], bool] = bool
    drains: int = 1
    _enqueued: bool = field(default=False, init=False)

    def add(self, record: AnswerRecord) -> AnswerRecord:
        """Put a waiting evaluation into the line. A repeat changes nothing."""
        queued = self.evaluations.enqueue(record.ref, cheap=self.batches())
        if queued.evaluation.state != "deferred":
            return queued
        self._enqueued = True
        if queued.evaluation.when != "cheap":  # it has a list of its own, and for a day nobody takes the message
            with suppress(StoreError):  # the record is in the line; without the message nothing is lost
                self.queue().send(
                    DeferredEvaluation(
                        tenant=record.tenant, answer_id=record.id, request_id=evaluation_request_id(queued)
                    )
                )
        return queued

    def start(self) -> None:
        """Start the drains for evaluations that were added since the last start, if there are any."""
        if self._enqueued:
            self._enqueued = False
            self.wake()

    def wake(self) -> None:
        """Start each drain, unless it is at work and told to look again, or nothing may be asked today.

        A drain that is not started here, also for a fault of the store, is started by the hourly schedule.
        """
        with suppress(StoreError):
            idle = [shard for shard in range(self.drains) if not self.leases.ask(lease_of(shard))]
            if idle and (self.batches() or not self.spent()):
                for shard in idle:
                    self.workflows().drain(shard)


SYNC_SECONDS = 5.0
"""How long a caller waits at most for a verification, counted from the arrival of the request."""
STORE_SECONDS = 0.6
"""The part of `SYNC_SECONDS` that must be left when a judge has answered, for storing and returning the verdict."""
RETURN_SECONDS = 0.4
"""The part of `SYNC_SECONDS` that must be left for storing and returning a skip if no verification came in time."""
START_SECONDS = 0.3
"""If less than this is left of `SYNC_SECONDS`, a deep evaluation is not started here: the sweep starts it."""

logger = logging.getLogger(__name__)

type Ended = Callable[[AnswerRecord], None]
type Verifier = Callable[[Answers, str, Deadline, Deadline, Ended], None]
"""Verifies one of the answers by its id, and calls `Ended` with it if the verification ended it. A judge may answer
until the first deadline, and the caller waits until the second. Work that goes on after that finds the record finished.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerIntake(Intake):
    """Accepts requests for one tenant. A `key` is the sender's own: a repeat with the same key meets the same record.

    `bulk` takes the deep evaluations of a door through which thousands come; None: each is started by itself.
    `verifier` verifies answers for which a caller waits, and `ended` is called with each answer that it ended; a door
    where nobody waits has no verifier. `batches` tells whether deep evaluations may go by a provider's batch.
    """

    answers: Answers
    evaluations: Evaluations
    artifacts: Artifacts
    bulk: BulkEvaluations | None = None
    verifier: Verifier | None = None
    ended: Ended = lambda _record: None
    batches: Callable[[], bool] = bool

    def verify(self, request: VerifyRequest, *, key: str | None, received_at_ms: int) -> AnswerRecord:
        """Verify an answer within `SYNC_SECONDS` of its arrival (epoch milliseconds); `unverified` if that fails.

        The record is stored only with its end: until then nobody was told of it. A repeat after a crash does the work
        anew.
        """
        deadline = Deadline.at_epoch_ms(received_at_ms + round(SYNC_SECONDS * 1000))
        record = self._new(request, self.new_id(key))
        answers = self.answers.drafting(record)
        if key is not None:
            record = answers.get(record.ref)  # an earlier run may have stored it, and crashed before it could reply
        if record.stage in ENDED:
            return record
        ends: list[AnswerRecord] = []
        reason = self._verified(answers, record.id, deadline, ends.append)
        record = answers.get(record.ref)
        record = finish_skipped(answers, record, reason=reason, sentence=sentence_of(reason), ended=ends.append)
        if ends:
            self.ended(record)
        if record.evaluation.state == "waiting" and deadline.remaining >= START_SECONDS:
            # The verdict is stored and must not fail because of this; the sweep takes up a record that waits.
            with suppress(StoreError):
                record = self.start_evaluation(record)
        return record

    def _verified(self, answers: Answers, answer_id: str, deadline: Deadline, ended: Ended) -> SkipReason:
        """Have an answer verified in time. Return the reason to store if the record has not ended by then."""
        if self.verifier is None:
            raise ConflictError("Nobody verifies answers at this door while their senders wait.")
        try:
            self.verifier(answers, answer_id, deadline.before(STORE_SECONDS), deadline.before(RETURN_SECONDS), ended)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets an answer
            logger.error("A verification broke off: %s", type(error).__name__)  # noqa: TRY400 - it may quote what was sent
            return "overloaded"
        return "timed_out"

    def solve(self, request: SolveRequest, *, key: str | None) -> AnswerRecord:
        """Start solving a problem and return at once; the record tells its progress.

        Raises `InputError` for a file that is no image, `NotFoundError` for an image that was never uploaded.
        """
        record = self.accept(request, self.new_id(key))
        if record.stage not in ENDED:
            self.workflows().start("solve", record.ref, run=None, has_image=record.image_key is not None)
        return record

    def accept(
        self,
        request: VerifyRequest | SolveRequest,
        answer_id: str,
        *,
        batch_id: str | None = None,
        abandoned_after: timedelta | None = None,
    ) -> AnswerRecord:
        """The record of a request under an id. A repeat finds it, however far it has come.

        `abandoned_after`: for how long the batch or message that carries the record may resume it after a crash; None
        if nothing carries it. Raises `InputError` for a file that is no image, `NotFoundError` for an image that was
        never uploaded.
        """
        record = self._new(request, answer_id)
        carried = {
            "batch_id": batch_id,
            "left_until": None if abandoned_after is None else record.created_at + abandoned_after,
        }
        return self.answers.create(record.model_copy(update=carried))

    def _new(self, request: VerifyRequest | SolveRequest, answer_id: str) -> AnswerRecord:
        image_key = self.keep_image(request, answer_id) if isinstance(request, SolveRequest) else None
        return new_record(request, tenant=self.tenant, answer_id=answer_id, now=self.clock(), image_key=image_key)

    def evaluate(self, answer_id: str, *, when: When | None = None, pay_twice: bool = False) -> AnswerRecord:
        """Request a deep evaluation of a finished answer. A failed evaluation is requested anew.

        If `when` is "now", an evaluation that waits in the line is taken out of it and started. Raises `ConflictError`
        if it is in a provider's batch already, unless `pay_twice` is set.
        """
        before = self.answers.get(Reference(self.tenant, "answer", answer_id))
        record = self.evaluations.request(Reference(self.tenant, "answer", answer_id), retry_failed=True, when=when)
        if when == "now" and record.evaluation.state in {"deferred", "submitted"}:
            record = self.evaluations.ask_now(Reference(self.tenant, "answer", answer_id), pay_twice=pay_twice)
            self.workflows().start("evaluate", record.ref, run=self.run_now())
            return record
        if record.evaluation.state == "waiting":
            # A new request counts its tries from one again; its id distinguishes this execution from all earlier ones.
            run = evaluation_request_id(record) if before.evaluation.state == "failed" else "1"
            record = self.start_evaluation(record, run=run)
        return record

    def start_evaluation(self, record: AnswerRecord, *, run: str = "1") -> AnswerRecord:
        """Start the evaluation that a record waits for, or put it in the line; `run` tells it from earlier runs."""
        if self.bulk is not None:
            return self.bulk.add(record)
        if record.evaluation.when == "cheap" and self.batches():
            return self.evaluations.enqueue(record.ref, cheap=True)
        self.workflows().start("evaluate", record.ref, run=run)
        return record

    def keep_image(self, request: SolveRequest, answer_id: str) -> str | None:
        """Store a request's image where its record can find it. Return its key; None if the request has no image.

        Raises `InputError` for a file that is no image, `NotFoundError` for an image that was never uploaded.
        """
        if request.image is None:
            return None
        if request.image.s3_key is not None:
            key = request.image.s3_key
            size = self.artifacts.size(tenant=self.tenant, key=key)
            if size > MAX_IMAGE_BYTES:
                raise TooLargeError(
                    f"The image has {size:,} bytes; at most {MAX_IMAGE_BYTES:,} are taken.", where="image"
                )
            image(self.artifacts.get_bytes(tenant=self.tenant, key=key))
            if not self.artifacts.renew(tenant=self.tenant, key=key, older_than=RENEWED_AFTER):
                raise missing_object()  # deleted after it was read, since nobody had named it for long
            return key
        picture = inline_image(request.image)
        key = f"{self.tenant}/{IMAGES}/{answer_id}"
        self.artifacts.put_bytes(tenant=self.tenant, key=key, data=picture.data, content_type=picture.media_type)
        return key
