"""A request that a door accepted becomes a record, and its work is started."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from touchstone.answers.model import ENDED, MAX_IMAGE_BYTES, AnswerRecord, SkipReason, SolveRequest, VerifyRequest
from touchstone.answers.progress import new_record
from touchstone.answers.reading import image, inline_image
from touchstone.clock import Deadline
from touchstone.errors import ConflictError, StoreError, TooLargeError
from touchstone.operations.bulk import BulkEvaluations
from touchstone.operations.finishing import finish_skipped, sentence_of
from touchstone.operations.jobs.intake import Intake
from touchstone.records import Answers, Artifacts, Evaluations, evaluation_request_id
from touchstone.references import Reference

SYNC_SECONDS = 5.0
"""A caller waits no longer than this for a verification, counted from the arrival of the request."""
STORE_SECONDS = 0.6
"""Left of it when a judge must have answered, for storing the verdict and returning it."""
RETURN_SECONDS = 0.4
"""Left of it for storing a skip and returning it where the verification did not come back in time."""
START_SECONDS = 0.3
"""Where less than that is left of it, a deep evaluation is not started here: the sweep does it."""

logger = logging.getLogger(__name__)

type Ended = Callable[[AnswerRecord], None]
type Verifier = Callable[[str, Deadline, Deadline, Ended], None]
"""Verifies an answer by its id, and tells of it where it made its end: a judge may answer until the first moment, and
the caller waits until the second. What has not ended by then may go on, and finds the record finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerIntake(Intake):
    """Accepts requests for one tenant. A `key` is the sender's own: a repeat with it meets the same record.

    `bulk` takes the deep evaluations of a door by which thousands come; None: each is started by itself. `verifier`
    does what a caller waits for, and `ended` is told of each answer that it gave its end; a door where nobody waits has
    none.
    """

    answers: Answers
    evaluations: Evaluations
    artifacts: Artifacts
    bulk: BulkEvaluations | None = None
    verifier: Verifier | None = None
    ended: Ended = lambda _record: None

    def verify(self, request: VerifyRequest, *, key: str | None, received_at_ms: int) -> AnswerRecord:
        """Verify an answer within `SYNC_SECONDS` of its arrival (epoch milliseconds), `unverified` where that fails."""
        deadline = Deadline.at_epoch_ms(received_at_ms + round(SYNC_SECONDS * 1000))
        record = self.accept(request, self.new_id(key))
        if record.stage in ENDED:
            return record
        ends: list[AnswerRecord] = []
        reason = self._verified(record.id, deadline, ends.append)
        record = self.answers.get(record.ref)
        record = finish_skipped(self.answers, record, reason=reason, sentence=sentence_of(reason), ended=ends.append)
        if ends:
            self.ended(record)
        if record.evaluation.state == "waiting" and deadline.remaining >= START_SECONDS:
            # The verdict is stored and must not fail by this; a record that waits is taken up by the sweep.
            with suppress(StoreError):
                record = self.start_evaluation(record)
        return record

    def _verified(self, answer_id: str, deadline: Deadline, ended: Ended) -> SkipReason:
        """Have it verified in time; what is to be said of the record where it has no end then."""
        if self.verifier is None:
            raise ConflictError("Nobody verifies answers at this door while their senders wait.")
        try:
            self.verifier(answer_id, deadline.before(STORE_SECONDS), deadline.before(RETURN_SECONDS), ended)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets an answer
            logger.error("A verification broke off: %s", type(error).__name__)  # noqa: TRY400 - it may quote what was sent
            return "overloaded"
        return "timed_out"

    def solve(self, request: SolveRequest, *, key: str | None) -> AnswerRecord:
        """Start solving a problem and return at once; the record tells how far it is.

        Raises `InputError` for an image that is none, `NotFoundError` for one that was never uploaded.
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
        left_for: timedelta | None = None,
    ) -> AnswerRecord:
        """The record of a request under an id; a repeat finds it, however far it has come.

        `left_for`: how long whoever carries it may take it up again after a death, None where nobody does. Raises
        `InputError` for an image that is none, `NotFoundError` for one that was never uploaded.
        """
        now = self.clock()
        image_key = self.keep_image(request, answer_id) if isinstance(request, SolveRequest) else None
        record = new_record(request, tenant=self.tenant, answer_id=answer_id, now=now, image_key=image_key)
        carried = {"batch_id": batch_id, "left_until": None if left_for is None else now + left_for}
        return self.answers.create(record.model_copy(update=carried))

    def evaluate(self, answer_id: str) -> AnswerRecord:
        """Ask for a deep evaluation of a finished answer; one that failed is asked for anew."""
        before = self.answers.get(Reference(self.tenant, "answer", answer_id))
        record = self.evaluations.request(tenant=self.tenant, answer_id=answer_id, retry_failed=True)
        if record.evaluation.state == "waiting":
            # Tries are counted from one again; the request is what tells this execution from all earlier ones.
            run = evaluation_request_id(record) if before.evaluation.state == "failed" else "1"
            record = self.start_evaluation(record, run=run)
        return record

    def start_evaluation(self, record: AnswerRecord, *, run: str = "1") -> AnswerRecord:
        """Start the evaluation that a record waits for, or put it in the line; `run` tells it from earlier ones."""
        if self.bulk is not None:
            return self.bulk.add(record)
        self.workflows().start("evaluate", record.ref, run=run)
        return record

    def keep_image(self, request: SolveRequest, answer_id: str) -> str | None:
        """Keep a request's image where its record can find it; None for a request without one.

        Raises `InputError` for an image that is none, `NotFoundError` for one that was never uploaded.
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
            return key
        picture = inline_image(request.image)
        key = f"{self.tenant}/images/{answer_id}"
        self.artifacts.put_bytes(tenant=self.tenant, key=key, data=picture.data, content_type=picture.media_type)
        return key
