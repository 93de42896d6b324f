"""The results of a file that is done in this process: they are appended as they come, and read back in a later run.

The id of an answer follows from the number and content of its line, so the results of another file are recognised. A
line is decided if another try would not change its result. A result that a passing fault left undecided stays in the
file until its line has been asked again.
"""

import hashlib
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

from pydantic import ValidationError

from touchstone.answers.ends import passing_reason
from touchstone.cli.files.batch_files import Requests, other_file_error, result_in
from touchstone.cli.terminal.places import read_file
from touchstone.cli.terminal.waiting import Show
from touchstone.errors import ConflictError, StoreError
from touchstone.operations.batches.lines import LineResult

ID_DIGITS = 32


class ResultsFile:
    """Appends each result at once and whole to an open file without a buffer, and shows the number of decided lines.

    `done` of `total` lines are decided at the beginning.
    """

    def __init__(self, file: FileIO, show: Show, *, done: int, total: int) -> None:
        self._file = file
        self._show = show
        self.done = done
        self.total = total
        show(done, total)

    def append(self, result: LineResult) -> None:
        """Write a result to the file, so that it survives this process. Raises `StoreError`."""
        line = _line_of(result)
        try:
            written = self._file.write(line)
        except OSError as error:
            raise StoreError(f"{self._file.name} cannot be written: {error.strerror}.") from None
        if written < len(line):
            raise StoreError(f"{self._file.name} took only part of a result: is the disk full?")
        if undecided_reason(result) is None:
            self.done += 1
            self._show(self.done, self.total)


def undecided_reason(result: LineResult) -> str | None:
    """The passing reason why a line's answer is undecided; None if it is decided, or if the line has no answer."""
    return None if result.answer is None else passing_reason(result.answer.model_dump(mode="json"))


def is_done(result: LineResult) -> bool:
    """Whether a line is not asked again: it has an answer that no passing reason left undecided."""
    return result.answer is not None and undecided_reason(result) is None


def answer_id(number: int, text: bytes) -> str:
    """The id of the answer to a line, made from the line's number and content."""
    return hashlib.sha256(b"%d\n" % number + text).hexdigest()[:ID_DIGITS]


def read_results(path: Path, requests: Requests) -> dict[int, LineResult]:
    """The latest result of each line, by its number. An incomplete last line of the file is ignored.

    Raises `ConflictError` if the file holds the results of another file of requests.
    """
    data = read_file(path)
    ids = {number: answer_id(number, text) for number, text in requests.lines()}
    found: dict[int, LineResult] = {}
    for text in data.split(b"\n")[:-1]:
        try:
            result = LineResult.model_validate_json(text)
        except ValidationError:
            raise other_file_error(path, "results") from None
        if result.answer is not None and result.answer.id != ids.get(result.line):
            raise other_file_error(path, "results")
        if result.line in ids:
            found[result.line] = result
    return found


def check_replaceable(path: Path, requests: Requests) -> None:
    """Raise `ConflictError` if a file holds results of `--local`, and `InputError` if a line of it is no result."""
    ids = {number: answer_id(number, text) for number, text in requests.lines()}
    for text in filter(None, read_file(path).split(b"\n")):
        result = result_in(path, text)
        if isinstance(answer := result.get("answer"), dict) and answer.get("id") == ids.get(result["line"], ""):
            raise ConflictError(
                f"{path} holds the results that --local brought for this file; name another by --output, or replace it "
                "by --again."
            )


def reported_lines(results: Iterable[LineResult]) -> Iterator[str]:
    """The ids of the batch lines whose calls are in these results."""
    for result in results:
        for spend in result.answer.spends if result.answer else ():
            if spend.line_id is not None:
                yield spend.line_id


def written(results: Iterable[LineResult]) -> Iterator[bytes]:
    """The lines of a file of results, one for each result."""
    return (_line_of(result) for result in results)


def _line_of(result: LineResult) -> bytes:
    return result.model_dump_json().encode() + b"\n"
