"""The format that the providers' batches are written in and read from: JSON, one object a line, in UTF-8."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from touchstone.errors import JudgeError, ResultsGoneError, UnfoundBatchError
from touchstone.judges.batches.base import BatchLine
from touchstone.judges.conversing import ModelRequest

CALL_SECONDS = 60.0
"""The most seconds for a call about a batch."""
UPLOAD_SECONDS = 900.0
"""The most seconds for sending or fetching all lines of a batch: 200 MB at 2 Mbit a second."""

_WRITTEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def line_of(asked: ModelRequest, body: dict[str, Any], *, path: str = "") -> BatchLine:
    """The line of a batch for `asked`, whose request is `body`, sent to `path`.

    Raises ValueError if `asked` has no `line_id`.
    """
    if asked.line_id is None:
        raise ValueError("what is asked in a batch needs a line_id; see as_line")
    return BatchLine(line_id=asked.line_id, body=body, path=path)


def encode_lines(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """The content of a file with these lines."""
    return b"".join(_WRITTEN.encode(line).encode() + b"\n" for line in lines)


def size_of(line: BatchLine) -> int:
    """The bytes that a line takes in a file, or a few more."""
    return len(_WRITTEN.encode(line.body).encode()) + _AROUND


_AROUND = 256
"""The most bytes that a provider's file has around a body: an id, the method and the address."""


def decode_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file. A line that holds no object is left out, so that its request counts as missing."""
    for text in content.split(b"\n"):
        if b"{" not in text:  # often a blank line: failing to read it takes ten times as long as reading a full one
            continue
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def results_gone(provider: str, batch_id: str) -> ResultsGoneError:
    """The failure of a batch whose results are not found."""
    return ResultsGoneError(f"{provider} does not find the results of the batch {batch_id}.")


def unfound(provider: str, batch_id: str) -> UnfoundBatchError:
    """The failure of a batch that its provider answers 404 for."""
    return UnfoundBatchError(
        f"{provider} does not find the batch {batch_id}: it is late to show it, or the key is of another project."
    )


@contextmanager
def before_creation() -> Iterator[None]:
    """Mark failures in this block as raised before anything was sent, since no batch was created yet."""
    try:
        yield
    except JudgeError as error:
        error.sent = False
        raise
