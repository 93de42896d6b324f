"""The results of a file that is done in this process: appended as they come, read back, and told from another file's.

A result is known by its answer's id, which follows from the line's number and content. It is done where another try
would not change it; one that a passing fault left undecided stays in the file until its line was asked again.
"""

import hashlib
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

from pydantic import ValidationError

from touchstone.answers.ends import passing_reason
from touchstone.cli.files.batch_files import Requests, foreign, result_in
from touchstone.cli.terminal.places import read_file
from touchstone.cli.terminal.progress import Show
from touchstone.errors import ConflictError, StoreError
from touchstone.operations.batches.lines import LineResult

ID_DIGITS = 32


class ResultsFile:
    """Appends results to an open file without a buffer, each whole and at once, and shows how many have their end.

    `done` of `total` lines are decided.
    """

    def __init__(self, file: FileIO, show: Show, *, done: int, total: int) -> None:
        self._file = file
        self._show = show
        self.done = done
        self.total = total
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
        if undecided_for(result) is None:
            self.done += 1
            self._show(self.done, self.total)


def undecided_for(result: LineResult) -> str | None:
    """For which passing reason a line's answer is not done; None: it is, or the line could not be taken."""
    return None if result.answer is None else passing_reason(result.answer.model_dump(mode="json"))


def answer_id(number: int, text: bytes) -> str:
    """The id of a line's answer."""
    return hashlib.sha256(b"%d\n" % number + text).hexdigest()[:ID_DIGITS]


def read_results(path: Path, requests: Requests) -> dict[int, LineResult]:
    """The latest result of each line, without a last one that was cut short.

    Raises `ConflictError` where the file holds those of another file.
    """
    data = read_file(path)
    ids = {number: answer_id(number, text) for number, text in requests.lines()}
    found: dict[int, LineResult] = {}
    for text in data.split(b"\n")[:-1]:
        try:
            result = LineResult.model_validate_json(text)
        except ValidationError:
            raise foreign(path, "results") from None
        if result.answer is not None and result.answer.id != ids.get(result.line):
            raise foreign(path, "results")
        if result.line in ids:
            found[result.line] = result
    return found


def check_replaceable(path: Path, requests: Requests) -> None:
    """Raise `ConflictError` where a file holds results of `--local`, `InputError` where it holds none."""
    ids = {number: answer_id(number, text) for number, text in requests.lines()}
    for text in filter(None, read_file(path).split(b"\n")):
        result = result_in(path, text)
        if isinstance(answer := result.get("answer"), dict) and answer.get("id") == ids.get(result["line"], ""):
            raise ConflictError(
                f"{path} holds the results that --local brought for this file; name another by --output, or replace it "
                "by --again."
            )


def written(results: Iterable[LineResult]) -> Iterator[bytes]:
    """Results as the file holds them."""
    return (_line_of(result) for result in results)


def _line_of(result: LineResult) -> bytes:
    return result.model_dump_json().encode() + b"\n"
