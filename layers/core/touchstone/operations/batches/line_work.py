"""The work on the lines of a chunk, done side by side like any other requests.

The record that a line makes has an id that follows from the batch, the line's number and its text. So a repeated chunk
finds its own records, and a corrected line of a file that failed gets a new one. A line whose result is stored is not
done again.

A line that is undecided for a passing reason stays open and its record waits. The chunk is done again when some of its
open lines are due; the other lines are not asked about then.

Submissions, measurements and quizzes are handed in first, in the file's order, so that a task's deadline does not pass
while other lines are judged.
"""

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from touchstone.answers.model import ENDED, AnswerRecord
from touchstone.answers.view import AnswerView
from touchstone.attempts import BATCHED, Waiting
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import NotFoundError, StoreError, TouchstoneError
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.intake import AnswerIntake
from touchstone.operations.answers.steps import work_whole
from touchstone.operations.batches.batching import CONTENT_TYPE, Batching
from touchstone.operations.batches.chunks import LineChunk, asks_now, lines_of, request_of
from touchstone.operations.batches.lines import (
    AnswerLine,
    EvaluateLine,
    Line,
    LineError,
    LineResult,
    RecordLine,
    SolveLine,
    VerifyLine,
    failed_line,
    given_up,
    parse_line,
    part_of,
    reference_in,
)
from touchstone.operations.batches.rounds import NOT_DONE
from touchstone.operations.jobs.waiting import IN_A_BATCH, BatchedLine, OpenLine, WantedQuestion
from touchstone.records import Batch, derived_ulid
from touchstone.together import gather_all

SIDE_BY_SIDE = 8
"""How many lines of a chunk are done at once. The judges' quota is reached long before this limit."""
REPLACED = LineError(
    reason="file_replaced", detail="The file was replaced before this line was done. Send it again in a new batch."
)
UNEXPECTED = LineError(
    reason="unexpected",
    detail="The line could not be done for a reason that was recorded. Send it again in a new batch.",
)

logger = logging.getLogger(__name__)


def line_answer_id(text: bytes, moment: datetime, *, tenant: str, batch_id: str, number: int) -> str:
    """The id of the record that a line makes, always the same for the same line of a batch begun at `moment`."""
    return derived_ulid(moment, tenant, batch_id, str(number), hashlib.sha256(text).hexdigest())


class LineHandler[L, W](Protocol):
    """Turns lines of one kind into records of their own, and does their work beside the other lines."""

    def hand_in(self, line: L, record_id: str) -> W:
        """Accept what a line carries; a repeat finds it. Raises if the line has a fault."""

    async def judge(
        self, work: W, *, deadline: Deadline, last: bool, at_once: bool
    ) -> BaseModel | Waiting | tuple[WantedQuestion, ...]:
        """Do the work as far as possible before the deadline.

        Return what a reader sees of it then, or for what it waits, or the questions that it has for batches. `last`:
        its line ends now. Work whose own machine continues it need not wait. `at_once`: it has no questions for
        batches.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class _HandedIn:
    """The work that a line handed in at its door, and the field of the line's result that shows it."""

    result: str
    handler: LineHandler[Any, Any]
    work: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A line that was parsed: the answer to make under `answer_id`, or the work that it handed in.

    `now`: the line is asked at once, whatever it says itself.
    """

    number: int
    reference: str | None
    work: AnswerLine | _HandedIn
    answer_id: str
    now: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineWork:
    """Does the lines of a chunk; `ended` is called with each answer in which a line ended.

    `handlers` opens the door for each kind of work with records of its own, keyed by the field of a line's result that
    the work fills. A door is opened only if a line needs it: most files have no such line. `by_batch` tries a
    verification with the replies that batches of providers brought: it returns the record, or the questions that are
    still open; None if there are no batches.
    """

    batching: Batching
    context: AnswerContext
    intake: AnswerIntake
    handlers: Mapping[str, Callable[[], LineHandler[Any, Any]]]
    by_batch: Callable[[AnswerRecord], Awaitable[AnswerRecord | tuple[WantedQuestion, ...]]] | None = None
    ended: Callable[[AnswerRecord], None] = lambda _: None
    clock: Clock = system_clock

    async def run(self, chunk: LineChunk, *, deadline: Deadline) -> Batch:
        """Do the lines of a chunk that are due, and store the results, each once; a repeat finds them.

        Lines for which the deadline leaves no time stay open. Raises `StoreError` if the chunk must be repeated.
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
        """The stored lines of a chunk. None if nothing is stored."""
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
        # Read the version after the bytes: if it has not changed, the bytes are those that were cut.
        if inbox.version(tenant=chunk.tenant, key=chunk.key) != chunk.version:
            kept = {number: one for number, one in before.items() if isinstance(one, LineResult)}
            return [kept.get(number) or LineResult(line=number, error=REPLACED) for number in chunk.numbers]
        numbered = [(chunk.first_line + place, text) for place, text in enumerate(lines_of(data)) if text.strip()]
        # An open line of an earlier round is in a provider's batch, unless the chunk's list says that it is asked at
        # once.
        at_once = {number for number, _ in numbered if batch.when == "now" and number not in before} | set(chunk.now)
        taken = [
            self._taken(chunk, number, text, batch.created_at, now=number in at_once)
            if self._due(before.get(number), chunk)
            else before[number]
            for number, text in numbered
        ]

        async def one(line: _Taken | LineResult | OpenLine) -> LineResult | OpenLine:
            return await self._result(line, chunk, deadline) if isinstance(line, _Taken) else line

        return await gather_all(map(one, taken), concurrency=SIDE_BY_SIDE)

    def _taken(self, chunk: LineChunk, number: int, text: bytes, moment: datetime, *, now: bool) -> _Taken | LineResult:
        """A line with its work handed in, if it holds such work; or its result if it cannot be taken.

        `now`: the line is asked at once, whatever it says itself.
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
        handler = self.handlers[line.result]()
        return _HandedIn(result=line.result, handler=handler, work=handler.hand_in(line, record_id))

    async def _result(self, taken: _Taken, chunk: LineChunk, deadline: Deadline) -> LineResult | OpenLine:
        number, reference, work = taken.number, taken.reference, taken.work
        try:
            if isinstance(work, _HandedIn):
                view = await work.handler.judge(work.work, deadline=deadline, last=chunk.last, at_once=taken.now)
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
                return given_up(late) if chunk.last else late
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
        """An open line whose questions are to go by batches of providers."""
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
        """A line's record, worked on as far as possible now, or the questions that it has for batches."""
        if isinstance(line, EvaluateLine):
            return self.intake.evaluate(line.answer_id, when="now" if now else line.when)
        abandoned_after = self.batching.abandoned_after
        record = self.intake.accept(
            request_of(line), answer_id, batch_id=chunk.batch_id, abandoned_after=abandoned_after
        )
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
                self.context, record, deadline=deadline, abandoned_after=None if chunk.last else abandoned_after
            )
            if record.stage in ENDED:
                self.ended(record)
        if record.evaluation.state == "waiting":
            record = self.intake.start_evaluation(record)
        return record


def _as_its_file_says(line: Line, key: str) -> Line:
    """The line; asked at once if its file's name says so and the line itself does not say when."""
    if not asks_now(key) or getattr(line, "when", "now") is not None:
        return line
    return line.model_copy(update={"when": "now"})


def _open(number: int, reference: str | None, waiting: Waiting) -> OpenLine:
    """The open line of work that waits."""
    reason, detail = waiting.reason, waiting.sentence
    return OpenLine(line=number, id=reference, reason=reason, detail=detail, until=waiting.until)


def _failed(error: Exception, number: int, reference: str | None, *, batch_id: str) -> LineResult:
    """The result of a line that an error ended.

    An error that is not a `TouchstoneError` is unexpected, and is logged.
    """
    if isinstance(error, TouchstoneError):
        return failed_line(number, reference, error)
    # Log the error's type only: its message may quote the line.
    logger.error("Line %d of batch %s could not be done: %s", number, batch_id, type(error).__name__)
    return LineResult(line=number, id=reference, error=UNEXPECTED)
