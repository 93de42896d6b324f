"""Files of a batch on this machine: the requests, the results beside them, and the summary of the results.

Results of work in this process are appended as they come, and read back in a later run. The id of an answer follows
from the number and content of its line, so the results of another file are recognised. A line is decided if another try
would not change its result. A result that a passing fault left undecided stays in the file until its line has been
asked again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from touchstone.answers.ends import passing_reason, passing_reason_of_line
from touchstone.cli.terminal.places import FOLDER, read_file, state_folder
from touchstone.cli.terminal.waiting import Show
from touchstone.errors import NEEDS_A_PERSON, ConflictError, InputError, StoreError, TooLargeError
from touchstone.locking import try_lock
from touchstone.operations.batches.lines import LineResult, parse_line

SUFFIX = ".jsonl"
RESULTS_SUFFIX = ".results.jsonl"
MAX_FILE_BYTES = 64 * 1024 * 1024
"""What a deployment takes; the same here, so that a file that works locally works there."""
ID_DIGITS = 32
INSTEAD = "name another file by --output, or delete this one"
"""What to do where results are to be written to a file that holds something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """A file of requests with one JSON object on each line. `digest` identifies its content, wherever the file lies."""

    path: Path
    data: bytes
    digest: str

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, each with its number from 1. Only a line feed ends a line."""
        for number, text in enumerate(self.data.split(b"\n"), start=1):
            if text.strip():
                yield number, text


def read_requests(path: Path) -> Requests:
    """Read a file and check its first request, so that a wrong file is found before anything is sent.

    Raises `InputError` if the file cannot be read, is empty, or does not begin with a request. Raises `TooLargeError`.
    """
    data = read_file(path)
    if len(data) > MAX_FILE_BYTES:
        raise TooLargeError(f"{path} has {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are taken: split it.")
    found = Requests(path=path, data=data, digest=hashlib.sha256(data).hexdigest())
    first = next(found.lines(), None)
    if first is None:
        raise InputError(f"{path} holds no request; write one JSON object a line.")
    try:
        parse_line(first[1])
    except InputError as error:
        raise InputError(f"{path}, line {first[0]}: {error}") from None
    return found


def results_path(requests: Path, output: Path | None) -> Path:
    """The path of the results: `output`, or a file beside the requests.

    Raises `InputError` if that is the file of requests itself, no ordinary file, or in a folder that does not exist.
    """
    if requests.is_dir():
        raise InputError(f"{requests} is a folder; name a file of requests.", where="file")
    path = output or requests.with_name(requests.name.removesuffix(SUFFIX) + RESULTS_SUFFIX)
    if path.resolve() == requests.resolve():
        raise InputError(f"{path} is the file of requests; name another for the results.", where="output")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no ordinary file; name one for the results.", where="output")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for the results.", where="output")
    return path


def summary(path: Path) -> dict[str, Any]:
    """The summary of a file of results: the number of lines with each outcome, the lines with errors, the cost.

    `failed`: no answer could be produced; `unfinished`: it is still worked on; `undecided`: of all lines those that
    another try may still decide. `cautions` are the answers that are wrong, or may be, by their lines, with what was
    said against them (None: nothing); `left_open` are those that nobody decided and another try would not either, with
    the reason. `submissions` counts those by how they stand; of an open contest it is
    `gate_passed` whatever their scores are. `measurements` are `measured` whole, or `with_unscored` where something has
    no score, and `quizzes` are counted by their state.
    `saved_usd` is what providers' batches saved, None where no line went by one. `errors` are lines that were not done.
    Raises `InputError` for a file of results that cannot be read.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in _BECAME}
    errors: list[dict[str, Any]] = []
    said: dict[str, list[dict[str, Any]]] = {"caution": [], "unverified": []}
    cost, unpriced, undecided, saved = 0.0, 0, 0, 0.0
    for text in read_file(path).split(b"\n"):
        if not text.strip():
            continue
        result = result_in(path, text)
        passes = passing_reason_of_line(result) is not None
        undecided += passes
        kind = next((name for name in _BECAME if isinstance(result.get(name), dict)), None)
        if result.get("error") or kind is None:
            errors.append({"line": result.get("line"), "id": result.get("id"), **(result.get("error") or {})})
            continue
        work = result[kind]
        became = _BECAME[kind](work)
        counts[kind][became] += 1
        if became == "caution" or (became == "unverified" and not passes):
            why = {"answer": work.get("answer"), "why": work.get("verify_error")}
            said[became].append({"line": result["line"], "id": result.get("id"), **why})
        outlay = work.get("outlay") or {}
        told = outlay or work
        cost += told.get("cost_usd") or 0.0
        unpriced += told.get("unpriced_calls") or told.get("unpriced") or 0
        saved += sum(spend.get("saved_usd") or 0.0 for spend in work.get("spends") or [outlay])
    answers = counts["answer"]
    return {
        "results": str(path),
        "lines": sum(count.total() for count in counts.values()) + len(errors),
        **{name: answers[name] for name in ("verified", "caution", "unverified", "failed", "unfinished")},
        "undecided": undecided,
        "cautions": sorted(said["caution"], key=lambda one: one["line"]),
        "left_open": sorted(said["unverified"], key=lambda one: one["line"]),
        "submissions": dict(sorted(counts["submission"].items())),
        "measurements": dict(sorted(counts["measurement"].items())),
        "quizzes": dict(sorted(counts["quiz"].items())),
        "cost_usd": None if unpriced and not cost else cost,
        "unpriced_calls": unpriced,
        "saved_usd": saved or None,
        "errors": sorted(errors, key=lambda error: error["line"] or 0),
    }


def asked_again(reasons: Set[str], *, advice: str = "") -> str:
    """A sentence that says when lines undecided for these reasons are asked again.

    `advice` is added if at least one reason may pass by itself, without a person who mends it.
    """
    if reasons <= NEEDS_A_PERSON:
        return "Once that is mended, the same command asks exactly these again."
    return f"The same command, later, asks exactly these again{advice}."


def result_in(path: Path, text: bytes, *, instead: str = INSTEAD) -> dict[str, Any]:
    """The result in a line of a file. Raises `InputError`, which says `instead` what to do."""
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, dict) or not isinstance(result.get("line"), int):
        raise InputError(f"{path} holds a line that is no result; {instead}.")
    return result


def other_file_error(path: Path, what: str) -> ConflictError:
    """The error for a file whose results or batches (`what`) belong to another file of requests."""
    return ConflictError(
        f"{path} does not hold {what} of this file as it is now; name another by --output, or replace it by --again."
    )


def _standing(answer: Mapping[str, Any]) -> str:
    if answer.get("stage") == "failed":
        return "failed"
    return answer.get("verification_status") or "unfinished"


def _measured(measurement: Mapping[str, Any]) -> str:
    if measurement.get("state") != "done":
        return str(measurement.get("state"))
    return "with_unscored" if any(one.get("unscored") for one in measurement.get("metrics") or ()) else "measured"


_BECAME: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "answer": _standing,
    "submission": lambda submission: str(submission.get("standing")),
    "measurement": _measured,
    "quiz": lambda quiz: str(quiz.get("state")),
}
"""The function that names the outcome of a line, for each field of a result that can hold one."""


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


@contextmanager
def exclusively(name: str) -> Iterator[None]:
    """Hold the lock on a piece of work, so that no other process does it for the length of the `with`.

    The system releases the lock when the process ends, however it ends. Raises `ConflictError` if another process holds
    the lock, and `StoreError` if the file of the lock cannot be written.
    """
    folder = state_folder() / "locks"
    path = folder / hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from None
    with file:
        if not try_lock(file):
            raise ConflictError(f"Another {FOLDER} command is working on this; wait for it to end.")
        yield
