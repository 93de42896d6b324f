"""A file of requests in this process: results are appended as they come, and a repeat does only what is missing.

A result is known by its answer's id, which follows from the line's number and content: one that is there already is
never asked for again, and one of another file is never taken for it.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

from pydantic import ValidationError

from touchstone.answers.model import AnswerRecord
from touchstone.answers.view import AnswerView
from touchstone.cli import inprocess
from touchstone.cli.batch_files import Requests, alone
from touchstone.cli.places import read_file, replace
from touchstone.cli.progress import Show, progress
from touchstone.cli.screen import say
from touchstone.clock import system_clock
from touchstone.errors import ConflictError, InputError, StoreError, TouchstoneError
from touchstone.judges import Judges
from touchstone.operations.lines import (
    EvaluateLine,
    Line,
    LineResult,
    SolveLine,
    VerifyLine,
    failed_line,
    parse_line,
    reference_in,
    request_of,
)
from touchstone.operations.patience import PatientJudges
from touchstone.operations.submission_lines import SubmissionLine

LINE_SECONDS = 300.0
"""Longest time for a line with its waits: a minute's quota that several lines want takes some minutes to come by."""
ID_DIGITS = 32


def run(requests: Requests, *, results: Path, side_by_side: int, again: bool) -> None:
    """Do the lines that have no result yet, `side_by_side` at once; the results are in the file's order at the end.

    An interruption lets the lines that were begun finish first; a second one does not. Raises `ConflictError` where
    `results` holds those of another file, unless `again`: then all is done anew.
    """
    with alone(str(results.resolve())):
        kept = {} if again or not results.exists() else _kept(results, requests)
        replace(results, _written(kept.values()))
        missing = [(number, text) for number, text in requests.lines() if number not in kept]
        if kept and not missing:
            say(f"This file is finished: all {len(kept)} results are in {results}. --again does its lines anew.")
        elif kept:
            say(f"{len(kept)} results are there already; {len(missing)} lines are left.")
        with results.open("ab", buffering=0) as file, progress("Batch") as show, inprocess.said_aloud():
            asyncio.run(
                _all(missing, Results(file, show, done=len(kept), total=len(kept) + len(missing)), side_by_side)
            )
        replace(results, _written(sorted(_kept(results, requests, errors=True).values(), key=lambda each: each.line)))


class Results:
    """Appends results to an open file without a buffer, each whole and at once, and shows how many there are."""

    def __init__(self, file: FileIO, show: Show, *, done: int, total: int) -> None:
        self._file = file
        self._show = show
        self._done = done
        self._total = total
        show(done, total)

    def append(self, result: LineResult) -> None:
        """Keep a result; it outlives this process. Raises `StoreError`."""
        line = _line_of(result)
        try:
            written = self._file.write(line)
        except OSError as error:
            raise StoreError(f"{self._file.name} cannot be written: {error.strerror}.") from None
        if written < len(line):
            raise StoreError(f"{self._file.name} took only part of a result: is the disk full?")
        self._done += 1
        self._show(self._done, self._total)


async def _all(lines: list[tuple[int, bytes]], results: Results, side_by_side: int) -> None:
    async with inprocess.opened(PatientJudges) as judges:
        waiting = iter(lines)
        workers = [asyncio.create_task(_work(waiting, judges, results)) for _ in range(min(side_by_side, len(lines)))]
        if not workers:
            return
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        except asyncio.CancelledError:
            say("Finishing the lines that were begun; interrupt again to leave at once.")
            raise
        finally:
            for _ in waiting:  # nothing new is begun
                pass
            await asyncio.wait(workers)
        for worker in workers:
            worker.result()


async def _work(waiting: Iterator[tuple[int, bytes]], judges: Judges, results: Results) -> None:
    """Do one line after the other, as long as there are any."""
    for number, text in waiting:
        results.append(await _done(number, text, judges))


async def _done(number: int, text: bytes, judges: Judges) -> LineResult:
    reference = None
    try:
        line = parse_line(text)
        reference = line.id
        record = await _record(line, _id_of(number, text), judges)
    except TouchstoneError as error:
        return failed_line(number, reference or reference_in(text), error)
    return LineResult(line=number, id=reference, answer=AnswerView.of(record), finished_at=system_clock())


async def _record(line: Line, answer_id: str, judges: Judges) -> AnswerRecord:
    if isinstance(line, EvaluateLine):
        raise InputError(
            "The answer to evaluate is in a deployment; send this line without --local.", where="answer_id"
        )
    if isinstance(line, SubmissionLine):
        raise InputError(
            "The task of a submission is in a deployment; send this line without --local.", where="task_id"
        )
    if not isinstance(line, VerifyLine | SolveLine):
        raise InputError("Only a deployment does lines of this kind; send this line without --local.", where="kind")
    return await inprocess.answered(request_of(line), judges, seconds=LINE_SECONDS, answer_id=answer_id)


def _id_of(number: int, text: bytes) -> str:
    return hashlib.sha256(b"%d\n" % number + text).hexdigest()[:ID_DIGITS]


def _kept(path: Path, requests: Requests, *, errors: bool = False) -> dict[int, LineResult]:
    """The results in a file by line, without a last one that was cut short; lines that failed only with `errors`."""
    data = read_file(path)
    whole = data[: data.rfind(b"\n") + 1]
    ids = {number: _id_of(number, text) for number, text in requests.lines()}
    kept: dict[int, LineResult] = {}
    for text in whole.splitlines():
        try:
            result = LineResult.model_validate_json(text)
        except ValidationError:
            raise _foreign(path) from None
        if result.answer is not None and result.answer.id != ids.get(result.line):
            raise _foreign(path)
        if result.answer is not None or (errors and result.line in ids):
            kept[result.line] = result
    return kept


def _foreign(path: Path) -> ConflictError:
    return ConflictError(
        f"{path} does not hold results of this file as it is now; name another by --output, or replace it by --again."
    )


def _written(results: Iterable[LineResult]) -> Iterator[bytes]:
    return (_line_of(result) for result in results)


def _line_of(result: LineResult) -> bytes:
    return result.model_dump_json().encode() + b"\n"
