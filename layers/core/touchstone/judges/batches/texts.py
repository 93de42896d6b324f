"""What the providers' batches are written in and read from: JSON, one object a line, in UTF-8."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel

from touchstone.errors import JudgeError, ResultsGoneError
from touchstone.judges.base import JudgeQuestion
from touchstone.judges.batches.base import BatchLine

CALL_SECONDS = 60.0
"""For a call about a batch."""
UPLOAD_SECONDS = 900.0
"""For sending or fetching all of its lines: 200 MB at 2 Mbit a second."""

_WRITTEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def line_of[T: BaseModel](question: JudgeQuestion[T], body: dict[str, Any]) -> BatchLine:
    """The line of a question with the body by which it is asked. Raises ValueError for one without a `line_id`."""
    if question.line_id is None:
        raise ValueError("a question of a batch needs a line_id; see as_line")
    return BatchLine(line_id=question.line_id, body=body)


def written(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """Lines as a file holds them."""
    return b"".join(_WRITTEN.encode(line).encode() + b"\n" for line in lines)


def size_of(line: BatchLine) -> int:
    """The bytes of a line in a file, or a little more."""
    return len(_WRITTEN.encode(line.body).encode()) + _AROUND


_AROUND = 256
"""What a provider's file has around a body: an id, the method and the address."""


def objects(content: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file; a line that is none is left out, so that its request counts as missing."""
    for text in content.split(b"\n"):
        if b"{" not in text:  # most of all a blank line: failing to read one takes ten times as long as reading another
            continue
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def gone(provider: str, batch_id: str) -> ResultsGoneError:
    """The failure of a batch whose results are not kept any more."""
    return ResultsGoneError(
        f"{provider} does not keep the results of the batch {batch_id} any more; its lines are lost."
    )


@contextmanager
def before_creation() -> Iterator[None]:
    """Says of failures that no batch was created yet, whatever was sent."""
    try:
        yield
    except JudgeError as error:
        error.sent = False
        raise
