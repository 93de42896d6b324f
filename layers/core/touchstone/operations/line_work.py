"""The lines of a chunk, done side by side like any other request.

Every line's answer, submission or measurement has an id that follows from the batch, the line's number and its text, so
a chunk that is repeated meets its own records, and a corrected line of a file that failed meets nobody's. A chunk whose
results are kept is not done again.

What a chunk hands in is handed in first, in the file's order: a task's deadline does not pass while other lines are
judged.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from pydantic import BaseModel

from touchstone.answers.model import ENDED, AnswerRecord, VerifyRequest
from touchstone.answers.progress import new_record
from touchstone.answers.view import AnswerView
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import NotFoundError, StoreError, TouchstoneError
from touchstone.operations.batching import CONTENT_TYPE, NOT_DONE, BatchDesk
from touchstone.operations.chunks import Chunk, lines_of
from touchstone.operations.desk import Desk
from touchstone.operations.lines import (
    AnswerLine,
    EvaluateLine,
    LineError,
    LineResult,
    RecordLine,
    SolveLine,
    VerifyLine,
    failed_line,
    parse_line,
    reference_in,
    request_of,
)
from touchstone.operations.reception import Reception
from touchstone.operations.steps import solve_whole, verify_own_answer
from touchstone.records import Batch, derived_ulid

SIDE_BY_SIDE = 8
"""Lines of a chunk done at once: the judges' quota is the limit long before."""
REPLACED = LineError(
    reason="file_replaced", detail="The file was replaced before this line was done. Send it again in a new batch."
)
UNEXPECTED = LineError(
    reason="unexpected",
    detail="The line could not be done for a reason that was recorded. Send it again in a new batch.",
)

logger = logging.getLogger(__name__)


def line_answer_id(text: bytes, moment: datetime, *, tenant: str, batch_id: str, number: int) -> str:
    """The id of what a line hands in, the same for the same line of a batch that was begun at `moment`."""
    return derived_ulid(moment, tenant, batch_id, str(number), hashlib.sha256(text).hexdigest())


class LineDesk[L, W](Protocol):
    """Takes what lines of a kind carry into records of their own, and does that work beside the other lines."""

    def hand_in(self, line: L, record_id: str) -> W:
        """Take what a line carries; a repeat finds it. Raises what is wrong with the line."""

    async def judge(self, work: W, *, deadline: Deadline) -> BaseModel:
        """Do the work as far as it comes before the deadline; what a reader sees of it then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _HandedIn:
    """What a line handed in at a desk, and the field of the line's result that tells of it."""

    result: str
    desk: LineDesk[Any, Any]
    work: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A line that was understood: what is to be answered under an id, or what it handed in."""

    number: int
    reference: str | None
    work: AnswerLine | _HandedIn
    answer_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineWork:
    """Does the lines of a chunk; `ended` is told of each answer that a line came to.

    `desks` make the desk of each kind of work that has records of its own, by the field of a line's result that it
    fills, where a line hands in such work: most files hold none.
    """

    batch_desk: BatchDesk
    desk: Desk
    reception: Reception
    desks: Mapping[str, Callable[[], LineDesk[Any, Any]]]
    ended: Callable[[AnswerRecord], None] = lambda _: None
    clock: Clock = system_clock

    async def run(self, chunk: Chunk, *, deadline: Deadline) -> Batch:
        """Do a chunk and keep its results, once; a repeat finds them.

        Lines that the deadline leaves no time for say so. Raises `StoreError` where the chunk must be repeated.
        """
        here = self.batch_desk
        batch = here.batches.get(tenant=chunk.tenant, batch_id=chunk.batch_id)
        try:
            text = here.scratch.get_text(tenant=chunk.tenant, key=chunk.part_key)
            results = [LineResult.model_validate_json(line) for line in text.splitlines()]
        except NotFoundError:
            results = await self._do(chunk, batch.created_at, deadline)
            text = "".join(result.model_dump_json() + "\n" for result in results)
            here.scratch.put_text(tenant=chunk.tenant, key=chunk.part_key, text=text, content_type=CONTENT_TYPE)
        failed = sum(result.error is not None for result in results)
        return here.batches.chunk_done(
            tenant=chunk.tenant,
            batch_id=chunk.batch_id,
            version=chunk.version,
            chunk=chunk.chunk,
            done=len(results) - failed,
            failed=failed,
        )

    async def _do(self, chunk: Chunk, moment: datetime, deadline: Deadline) -> list[LineResult]:
        inbox = self.batch_desk.inbox
        data = inbox.get_range(tenant=chunk.tenant, key=chunk.key, start=chunk.start, end=chunk.end)
        # Asked after the bytes were read: if it is the same now, they are those that were cut.
        if inbox.version(tenant=chunk.tenant, key=chunk.key) != chunk.version:
            return [LineResult(line=number, error=REPLACED) for number in chunk.numbers]
        numbered = [(chunk.first_line + place, text) for place, text in enumerate(lines_of(data)) if text.strip()]
        taken = [self._taken(chunk, number, text, moment) for number, text in numbered]
        seats = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(line: _Taken | LineResult) -> LineResult:
            if isinstance(line, LineResult):
                return line
            async with seats:
                return await self._result(line, chunk.batch_id, deadline)

        return list(await asyncio.gather(*(one(line) for line in taken)))

    def _taken(self, chunk: Chunk, number: int, text: bytes, moment: datetime) -> _Taken | LineResult:
        """A line, with its work handed in where it holds some; its result where it cannot be taken."""
        reference = None
        try:
            line = parse_line(text)
            reference = line.id
            record_id = line_answer_id(text, moment, tenant=chunk.tenant, batch_id=chunk.batch_id, number=number)
            work = line if isinstance(line, VerifyLine | SolveLine | EvaluateLine) else self._handed_in(line, record_id)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the other lines of the chunk are to be done
            return _failed(error, number, reference or reference_in(text), batch_id=chunk.batch_id)
        return _Taken(number=number, reference=reference, work=work, answer_id=record_id)

    def _handed_in(self, line: RecordLine, record_id: str) -> _HandedIn:
        desk = self.desks[line.result]()
        return _HandedIn(result=line.result, desk=desk, work=desk.hand_in(line, record_id))

    async def _result(self, taken: _Taken, batch_id: str, deadline: Deadline) -> LineResult:
        number, reference, work = taken.number, taken.reference, taken.work
        try:
            if isinstance(work, _HandedIn):
                view = await work.desk.judge(work.work, deadline=deadline)
                told = {work.result: view.model_dump(mode="json")}
                return LineResult(line=number, id=reference, finished_at=self.clock(), **told)
            if deadline.passed:
                return LineResult(line=number, id=reference, error=NOT_DONE)
            record = await self._record(work, taken.answer_id, batch_id, deadline)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the other lines of the chunk are done and paid for
            return _failed(error, number, reference, batch_id=batch_id)
        return LineResult(line=number, id=reference, answer=AnswerView.of(record), finished_at=self.clock())

    async def _record(self, line: AnswerLine, answer_id: str, batch_id: str, deadline: Deadline) -> AnswerRecord:
        if isinstance(line, EvaluateLine):
            return self.reception.evaluate(line.answer_id)
        request = request_of(line)
        image_key = self.reception.keep_image(line, answer_id) if isinstance(line, SolveLine) else None
        record = new_record(
            request, tenant=self.desk.tenant, answer_id=answer_id, now=self.clock(), image_key=image_key
        )
        record = self.desk.answers.create(record.model_copy(update={"batch_id": batch_id}))
        if record.stage not in ENDED:
            if isinstance(request, VerifyRequest):
                record = await verify_own_answer(self.desk, answer_id, deadline=deadline)
            else:
                record = await solve_whole(self.desk, answer_id, deadline=deadline)
            self.ended(record)
        if record.evaluation.state == "waiting":
            record = self.reception.start_evaluation(record)
        return record


def _failed(error: Exception, number: int, reference: str | None, *, batch_id: str) -> LineResult:
    """The result of a line that an error ended, logged where nobody raised it on purpose."""
    if isinstance(error, TouchstoneError):
        return failed_line(number, reference, error)
    # Its type only: its words may quote the line.
    logger.error("Line %d of batch %s could not be done: %s", number, batch_id, type(error).__name__)
    return LineResult(line=number, id=reference, error=UNEXPECTED)
