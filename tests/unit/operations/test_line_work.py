"""The lines of a chunk that is done again: those that are due are asked, and no other, not a moment before."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from tests.support.clocks import StandingClock
from tests.support.quizzes import quiz
from tests.support.records import an_answer
from touchstone.answers.model import AnswerRecord
from touchstone.attempts import Waiting
from touchstone.clock import Deadline
from touchstone.errors import NotFoundError
from touchstone.operations.answers.context import AnswerContext
from touchstone.operations.answers.intake import AnswerIntake
from touchstone.operations.batches.batching import Batching
from touchstone.operations.batches.chunks import LineChunk, chunks_of
from touchstone.operations.batches.line_work import LineWork
from touchstone.operations.batches.lines import LineResult, part_of
from touchstone.operations.jobs.waiting import OpenLine
from touchstone.records import Batch

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


class _Folder:
    """A folder of the bucket, in memory."""

    def __init__(self, **objects: bytes) -> None:
        self.objects = objects
        self.written: list[str] = []

    def get_bytes(self, *, key: str, **_: Any) -> bytes:
        if key not in self.objects:
            raise NotFoundError("There is no such object.")
        return self.objects[key]

    def get_range(self, *, key: str, start: int, end: int, **_: Any) -> bytes:
        return self.objects[key][start:end]

    def version(self, **_: Any) -> str:
        return "v1"

    def put_text(self, *, key: str, text: str, **_: Any) -> None:
        self.objects[key] = text.encode()
        self.written.append(key)


class _Counted:
    """The record of the batch, with the lines that were counted last."""

    counted = (0, 0)

    def get(self, **_: Any) -> Batch:
        return Batch(tenant="acme", id="b", state="running", created_at=NOON, updated_at=NOON)

    def chunk_done(self, *, done: int, failed: int, **_: Any) -> Batch:
        self.counted = done, failed
        return self.get()


class _Work:
    """In place of all work on a line: which lines were begun, by the names of their quizzes or answers."""

    def __init__(self, waiting: Waiting | None = None) -> None:
        self.begun: list[str] = []
        self._waiting = waiting

    def hand_in(self, line: Any, _record_id: str) -> str:
        self.begun.append(line.id)
        return str(line.id)

    async def judge(self, work: str, *, deadline: Deadline, last: bool, at_once: bool) -> Waiting:  # noqa: ARG002 - it waits anyhow
        return Waiting(
            reason="overloaded", sentence="Later.", until=NOON + timedelta(hours=2), left_until=NOON + timedelta(days=8)
        )

    def accept(self, request: Any, answer_id: str, **_: Any) -> AnswerRecord:
        return an_answer(answer_id=answer_id, problem=request.problem, waiting=self._waiting)

    async def by_batch(self, record: AnswerRecord) -> tuple[()]:
        self.begun.append(str(record.problem))
        return ()


def _file(rows: Sequence[dict[str, Any]]) -> tuple[LineChunk, bytes]:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (chunk,) = chunks_of(data, tenant="acme", batch_id="b", key="k", version="v1")
    return chunk, data


def _line_work(inbox: _Folder, scratch: _Folder, work: _Work, clock: StandingClock) -> tuple[LineWork, _Counted]:
    counted: Any = _Counted()
    nothing: Any = None
    folders: Any = {"inbox": inbox, "scratch": scratch, "artifacts": scratch}
    batching = Batching(
        tenant="acme", tenants=nothing, batches=counted, keys=nothing, days=timedelta(days=7), clock=clock, **folders
    )
    line_work = LineWork(
        batching=batching,
        context=cast("AnswerContext", nothing),
        intake=cast("AnswerIntake", work),
        handlers={"measurement": lambda: work},
        by_batch=work.by_batch,
        clock=clock,
    )
    return line_work, counted


def _open(number: int, until: datetime) -> OpenLine:
    return OpenLine(line=number, id=f"line {number}", reason="overloaded", detail="Later.", until=until)


LEFT: list[LineResult | OpenLine] = [
    LineResult(line=1, id="line 1", finished_at=NOON),
    _open(2, NOON - timedelta(hours=1)),
    _open(3, NOON),
    _open(4, NOON + MOMENT),
    _open(5, NOON + timedelta(days=1)),
]
"""The lines as an earlier round left them: one is done, two are due, two are not."""


@pytest.mark.parametrize(
    ("at", "last", "begun"),
    [
        (NOON, False, [2, 3]),
        (NOON + MOMENT, False, [2, 3, 4]),
        (NOON - timedelta(hours=1), False, [2]),
        (NOON - timedelta(hours=1) - MOMENT, False, []),
        (NOON - timedelta(days=1), True, [2, 3, 4, 5]),
    ],
)
async def test_lines_that_are_due_are_asked_and_no_other_before_the_last_round(
    at: datetime, last: bool, begun: list[int]
) -> None:
    rows = [
        {"kind": "quiz_evaluation", "id": f"line {number}", "material": quiz(1), "metrics": ["quiz_clarity"]}
        for number in range(1, 6)
    ]
    chunk, data = _file(rows)
    chunk = chunk.model_copy(update={"last": last})
    scratch = _Folder(**{chunk.part_key: "".join(one.model_dump_json() + "\n" for one in LEFT).encode()})
    work = _Work()
    line_work, counted = _line_work(_Folder(k=data), scratch, work, StandingClock(at))
    await line_work.run(chunk, deadline=Deadline.after(60))
    assert work.begun == [f"line {number}" for number in begun]
    stored = part_of(scratch.objects[chunk.part_key])
    assert [one for one in stored if one.line not in begun] == [one for one in LEFT if one.line not in begun]
    asked = [one for one in stored if one.line in begun]
    assert asked == [_open(number, NOON + timedelta(hours=2)) for number in begun]
    assert scratch.written == [chunk.part_key] * bool(begun), "where nothing is due the part stays as it is"
    assert counted.counted == (1, 0)


@pytest.mark.parametrize(("waits", "begun"), [(MOMENT, []), (timedelta(0), ["Name it."])])
async def test_an_answer_that_waits_is_asked_when_its_time_has_come_and_not_before(
    waits: timedelta, begun: list[str]
) -> None:
    """A function that died has left no line, but a record that says until when it waits."""
    chunk, data = _file([{"kind": "verify", "id": "one", "problem": "Name it.", "answer": "x"}])
    waiting = Waiting(reason="overloaded", sentence="Later.", until=NOON + waits, left_until=NOON + timedelta(days=8))
    scratch, work = _Folder(), _Work(waiting)
    line_work, _ = _line_work(_Folder(k=data), scratch, work, StandingClock(NOON))
    await line_work.run(chunk, deadline=Deadline.after(60))
    assert work.begun == begun
    (stored,) = part_of(scratch.objects[chunk.part_key])
    assert isinstance(stored, OpenLine)
    assert (stored.reason, stored.until) == (("batched", NOON) if begun else ("overloaded", waiting.until))
