"""The lines of a chunk, done side by side like any other request.

Every line's answer, submission or measurement has an id that follows from the batch, the line's number and its text, so
a chunk that is repeated meets its own records, and a corrected line of a file that failed meets nobody's. A line whose
result is kept is not done again.

A line that nobody decided for a reason that may pass has no end: it stays open, its record waits, and the chunk is done
again when some of its open lines are due. Nobody is asked for the others.

What a chunk hands in is handed in first, in the file's order: a task's deadline does not pass while other lines are
judged.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.answers.view import AnswerView
from touchstone.attempts import Waiting
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import NotFoundError, StoreError, TouchstoneError
from touchstone.operations.batches.batching import CONTENT_TYPE, NOT_DONE, Batching
from touchstone.operations.batches.chunks import LineChunk, asks_now, lines_of
from touchstone.operations.batches.lines import (
    BATCHED,
    IN_A_BATCH,
    AnswerLine,
    BatchedLine,
    EvaluateLine,
    Line,
    LineError,
    LineResult,
    OpenLine,
    RecordLine,
    SolveLine,
    VerifyLine,
    WantedQuestion,
    failed_line,
    parse_line,
    part_of,
    reference_in,
    request_of,
)
from touchstone.operations.context import AnswerContext
from touchstone.operations.intake import AnswerIntake
from touchstone.operations.steps import work_whole
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


class LineDoor[L, W](Protocol):
    """Takes what lines of a kind carry into records of their own, and does that work beside the other lines."""

    def hand_in(self, line: L, record_id: str) -> W:
        """Take what a line carries; a repeat finds it. Raises what is wrong with the line."""

    async def judge(
        self, work: W, *, deadline: Deadline, last: bool, at_once: bool
    ) -> BaseModel | Waiting | tuple[WantedQuestion, ...]:
        """Do the work as far as it comes before the deadline; what a reader sees of it then, for what it waits, or what
        it wants of batches.

        `last`: its line ends now. Work that has a machine of its own for its further way need not wait.
        `at_once`: it wants nothing of batches.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class _HandedIn:
    """What a line handed in at its door, and the field of the line's result that tells of it."""

    result: str
    door: LineDoor[Any, Any]
    work: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A line that was understood: what is to be answered under an id, or what it handed in.

    `now`: it is asked at once, whatever it says itself.
    """

    number: int
    reference: str | None
    work: AnswerLine | _HandedIn
    answer_id: str
    now: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineWork:
    """Does the lines of a chunk; `ended` is told of each answer that a line came to.

    `doors` open the door to each kind of work that has records of its own, by the field of a line's result that it
    fills, where a line hands in such work: most files hold none. `by_batch` tries a verification by what batches of
    providers brought: its record, or the questions that it wants of them; None: there are no batches.
    """

    batching: Batching
    context: AnswerContext
    intake: AnswerIntake
    doors: Mapping[str, Callable[[], LineDoor[Any, Any]]]
    by_batch: Callable[[AnswerRecord], Awaitable[AnswerRecord | tuple[WantedQuestion, ...]]] | None = None
    ended: Callable[[AnswerRecord], None] = lambda _: None
    clock: Clock = system_clock

    async def run(self, chunk: LineChunk, *, deadline: Deadline) -> Batch:
        """Do what is due of a chunk and keep the results, each once; a repeat finds them.

        Lines that the deadline leaves no time for stay open. Raises `StoreError` where the chunk must be repeated.
        """
        here = self.batching
        batch = here.batches.get(tenant=chunk.tenant, batch_id=chunk.batch_id)
        before = self._part(chunk)
        lines: Sequence[LineResult | OpenLine] = before or ()
        if before is None or any(self._due(one, chunk) for one in before):
            lines = await self._do(chunk, batch, deadline, {one.line: one for one in lines})
            text = "".join(one.model_dump_json() + "\n" for one in lines)
            here.scratch.put_text(tenant=chunk.tenant, key=chunk.part_key, text=text, content_type=CONTENT_TYPE)
        results = [one for one in lines if isinstance(one, LineResult)]
        failed = sum(result.error is not None for result in results)
        return here.batches.chunk_done(
            tenant=chunk.tenant,
            batch_id=chunk.batch_id,
            version=chunk.version,
            chunk=chunk.chunk,
            done=len(results) - failed,
            failed=failed,
        )

    def _part(self, chunk: LineChunk) -> list[LineResult | OpenLine] | None:
        """What is kept of a chunk; None where nothing is."""
        try:
            return part_of(self.batching.scratch.get_bytes(tenant=chunk.tenant, key=chunk.part_key))
        except NotFoundError:
            return None

    def _due(self, line: LineResult | OpenLine | None, chunk: LineChunk) -> bool:
        """Whether a line, as it was left, is to be done now."""
        return line is None or (isinstance(line, OpenLine) and (chunk.last or line.until <= self.clock()))

    async def _do(
        self, chunk: LineChunk, batch: Batch, deadline: Deadline, before: Mapping[int, LineResult | OpenLine]
    ) -> list[LineResult | OpenLine]:
        inbox = self.batching.inbox
        data = inbox.get_range(tenant=chunk.tenant, key=chunk.key, start=chunk.start, end=chunk.end)
        # Asked after the bytes were read: if it is the same now, they are those that were cut.
        if inbox.version(tenant=chunk.tenant, key=chunk.key) != chunk.version:
            kept = {number: one for number, one in before.items() if isinstance(one, LineResult)}
            return [kept.get(number) or LineResult(line=number, error=REPLACED) for number in chunk.numbers]
        numbered = [(chunk.first_line + place, text) for place, text in enumerate(lines_of(data)) if text.strip()]
        # One that was left before is in a provider's batch, unless whoever listed the chunk says that it is not.
        hastened = {number for number, _ in numbered if batch.when == "now" and number not in before} | set(chunk.now)
        taken = [
            self._taken(chunk, number, text, batch.created_at, now=number in hastened)
            if self._due(before.get(number), chunk)
            else before[number]
            for number, text in numbered
        ]
        seats = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(line: _Taken | LineResult | OpenLine) -> LineResult | OpenLine:
            if not isinstance(line, _Taken):
                return line
            async with seats:
                return await self._result(line, chunk, deadline)

        return list(await asyncio.gather(*(one(line) for line in taken)))

    def _taken(self, chunk: LineChunk, number: int, text: bytes, moment: datetime, *, now: bool) -> _Taken | LineResult:
        """A line, with its work handed in where it holds some; its result where it cannot be taken.

        `now`: it is asked at once, whatever it says itself.
        """
        reference = None
        try:
            line = _as_its_file_says(parse_line(text), chunk.key)
            reference = line.id
            record_id = line_answer_id(text, moment, tenant=chunk.tenant, batch_id=chunk.batch_id, number=number)
            work = line if isinstance(line, VerifyLine | SolveLine | EvaluateLine) else self._handed_in(line, record_id)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the other lines of the chunk are to be done
            return _failed(error, number, reference or reference_in(text), batch_id=chunk.batch_id)
        return _Taken(number=number, reference=reference, work=work, answer_id=record_id, now=now)

    def _handed_in(self, line: RecordLine, record_id: str) -> _HandedIn:
        door = self.doors[line.result]()
        return _HandedIn(result=line.result, door=door, work=door.hand_in(line, record_id))

    async def _result(self, taken: _Taken, chunk: LineChunk, deadline: Deadline) -> LineResult | OpenLine:
        number, reference, work = taken.number, taken.reference, taken.work
        try:
            if isinstance(work, _HandedIn):
                view = await work.door.judge(work.work, deadline=deadline, last=chunk.last, at_once=taken.now)
                if isinstance(view, Waiting):
                    return _open(number, reference, view)
                if isinstance(view, tuple):
                    return self._wanting(taken, "measurement", view)
                told = {work.result: view.model_dump(mode="json")}
                return LineResult(line=number, id=reference, finished_at=self.clock(), **told)
            if deadline.passed:
                late = OpenLine(
                    line=number, id=reference, reason=NOT_DONE.reason, detail=NOT_DONE.detail, until=self.clock()
                )
                return late.given_up if chunk.last else late
            record = await self._record(work, taken.answer_id, chunk, deadline, now=taken.now)
            if isinstance(record, tuple):
                return self._wanting(taken, "verification", record)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the other lines of the chunk are done and paid for
            return _failed(error, number, reference, batch_id=chunk.batch_id)
        if record.waiting is not None:
            return _open(number, reference, record.waiting)
        kind: Literal["evaluate"] | None = "evaluate" if isinstance(work, EvaluateLine) else None
        answer = AnswerView.of(record)
        return LineResult(line=number, id=reference, kind=kind, answer=answer, finished_at=self.clock())

    def _wanting(self, taken: _Taken, of: BatchedLine, wanted: tuple[WantedQuestion, ...]) -> OpenLine:
        """A line whose questions are to go by batches of providers."""
        return OpenLine(
            line=taken.number,
            id=taken.reference,
            reason=BATCHED,
            detail=IN_A_BATCH[of],
            until=self.clock(),
            answer_id=taken.answer_id,
            of=of,
            wanted=wanted,
        )

    async def _record(
        self, line: AnswerLine, answer_id: str, chunk: LineChunk, deadline: Deadline, *, now: bool
    ) -> AnswerRecord | tuple[WantedQuestion, ...]:
        """A line's record as far as it comes now, or what it wants of batches."""
        if isinstance(line, EvaluateLine):
            return self.intake.evaluate(line.answer_id, when="now" if now else line.when)
        request = request_of(line)
        left_for = self.batching.left_for
        record = self.intake.accept(request, answer_id, batch_id=chunk.batch_id, left_for=left_for)
        if record.waiting is not None and record.waiting.until > self.clock() and not chunk.last:
            return record
        cheap = isinstance(line, VerifyLine) and line.when != "now" and not (now or chunk.last)
        if cheap and self.by_batch is not None and record.stage not in ENDED:
            tried = await self.by_batch(record)
            if isinstance(tried, tuple):
                return tried
            record = tried
        if record.stage not in ENDED:
            record = await work_whole(
                self.context, record, deadline=deadline, left_for=None if chunk.last else left_for
            )
            if record.stage in ENDED:
                self.ended(record)
        if record.evaluation.state == "waiting":
            record = self.intake.start_evaluation(record)
        return record


def _as_its_file_says(line: Line, key: str) -> Line:
    """The line, asked at once where it does not say how and the name of its file does."""
    if not asks_now(key) or getattr(line, "when", "now") is not None:
        return line
    return line.model_copy(update={"when": "now"})


def _open(number: int, reference: str | None, waiting: Waiting) -> OpenLine:
    """A line whose work waits."""
    reason, detail = waiting.reason, waiting.sentence
    return OpenLine(line=number, id=reference, reason=reason, detail=detail, until=waiting.until)


def _failed(error: Exception, number: int, reference: str | None, *, batch_id: str) -> LineResult:
    """The result of a line that an error ended, logged where nobody raised it on purpose."""
    if isinstance(error, TouchstoneError):
        return failed_line(number, reference, error)
    # Its type only: its words may quote the line.
    logger.error("Line %d of batch %s could not be done: %s", number, batch_id, type(error).__name__)
    return LineResult(line=number, id=reference, error=UNEXPECTED)
