"""What the providers' batch APIs have in common, also their format: JSON, one object a line, in UTF-8."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from touchstone.errors import JudgeError, OverloadedError, ResultsGoneError, UnfinishedError, UnfoundBatchError
from touchstone.judges.base import JudgeQuestion

if TYPE_CHECKING:
    from touchstone.judges.adapters.replies import Response
    from touchstone.judges.base import Answered
    from touchstone.judges.conversing import ModelRequest, Turn, TurnRequest

LINE_ID_TOKENS = 64
"""Room in the output for the line's id and the name of its field. 32 hexadecimal digits are at most as many tokens."""
LINE_CALLS = 8
"""The number of calls of a turn that there is such room for: each call repeats the id."""

type BatchState = Literal["under_way", "completed", "expired", "cancelled", "failed"]
type Missed = Literal["expired", "cancelled", "failed", "missing"]
"""Why a line has no response: its batch ended before the line was answered, or the batch was completed without a reply
to it (`missing`)."""

_MISSED: dict[Missed, str] = {
    "expired": "expired before this line was answered",
    "cancelled": "was cancelled before this line was answered",
    "failed": "failed before this line was answered",
    "missing": "ended without a reply to this line",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """How many lines a provider takes in one batch, and how many bytes all lines may have together."""

    lines: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """One question, or request for a turn, in a batch. `as_line` has given it the line's id.

    `body` is what the single adapter sends. `path` is where it is sent, for providers whose lines say so; "" if there
    is only one address. All lines of a batch have the same path.
    """

    line_id: str
    body: dict[str, Any]
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLook:
    """The state of a batch, as its provider tells it.

    `ends_by` is when it will have ended at the latest (UTC); None if the provider does not say. `failure` is why a
    batch failed, in a sentence without anything of the prompts. `cancelled_at` is when it was first cancelled for being
    late; None if it never was.
    """

    batch_id: str
    state: BatchState
    ends_by: datetime | None = None
    failure: str = ""
    cancelled_at: datetime | None = None


class BatchReply(BaseModel):
    """What a batch brought for a line: the response that a single call would have had, or why there is none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    line_id: str
    status: int = 200
    body: str = ""
    missed: Missed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBatch:
    """The result of a search for the batch of an intent. `batch_id` is None if the batch was not found.

    `open` are batches that may be it, but do not tell before they have ended. While there are such, no batch may be
    created anew.
    """

    batch_id: str | None = None
    open: tuple[BatchLook, ...] = ()


class ProviderBatches(Protocol):
    """One provider's batch API. Every method is one attempt, and raises a `JudgeError` if it fails.

    An intent is an id of letters and digits, which the caller has written down before it submits. The ids of the
    batch's lines begin with it.
    """

    provider: str
    limits: BatchLimits
    longest: timedelta
    """The longest time that a batch takes, by its provider's word."""

    def line(self, model: str, asked: ModelRequest) -> BatchLine:
        """The line for a question, or a turn, that has a `line_id`."""
        ...

    async def submit(self, model: str, intent: str, lines: Sequence[BatchLine]) -> BatchLook:
        """Create a batch for lines within the limits.

        If a failure's `sent` is True, the batch may have been created.
        """
        ...

    async def look(self, batch_id: str) -> BatchLook:
        """The state of a batch."""
        ...

    async def collect(self, batch_id: str) -> tuple[BatchReply, ...]:
        """The replies of a batch that has ended, as the provider tells them: in any order, some twice, some not at all.

        Raises `ResultsGoneError` if the provider does not find them.
        """
        ...

    async def cancel(self, batch_id: str) -> None:
        """Ask for a batch to end. What it has done by then is paid for, and can be collected."""
        ...

    async def find(self, intent: str, *, since: datetime, until: datetime, known: Collection[str]) -> FoundBatch:
        """Look for the batch of an intent, created between these moments. `known` are the batches of other intents."""
        ...

    def read[T: BaseModel](self, model: str, question: JudgeQuestion[T], reply: BatchReply) -> Answered[T]:
        """The answer to a question with the reply's `line_id`. Raises a `JudgeError` if the reply holds no answer."""
        ...

    def read_turn(self, model: str, request: TurnRequest, reply: BatchReply) -> Answered[Turn]:
        """The turn for a request with the reply's `line_id`. Raises a `JudgeError` if the reply holds no turn."""
        ...


def as_line[A: JudgeQuestion[Any] | TurnRequest](asked: A, line_id: str) -> A:
    """A question, or a request for a turn, as a line of a batch asks it: with the line's id, and tokens for it."""
    room = LINE_ID_TOKENS * (1 if isinstance(asked, JudgeQuestion) else LINE_CALLS)
    return replace(asked, line_id=line_id, max_output_tokens=asked.max_output_tokens + room)


def response_of(provider: str, model: str, reply: BatchReply) -> Response:
    """The response to a line of a batch.

    Raises `OverloadedError` if the batch ended without a reply to the line, since another batch may bring one. Raises
    `UnfinishedError` if the batch ended before the line was answered.
    """
    from touchstone.judges.adapters.replies import Response

    if reply.missed is None:
        return Response(status=reply.status, headers={}, body=reply.body)
    sentence = f"{provider}'s batch for {model} {_MISSED[reply.missed]}."
    raise OverloadedError(sentence) if reply.missed == "missing" else UnfinishedError(sentence)


def by_line(replies: Sequence[BatchReply], line_ids: Collection[str], *, state: BatchState) -> dict[str, BatchReply]:
    """The reply of each line by its id: the first reply if there are several. Replies to other lines are dropped.

    A line without a reply gets the reason that follows from the state in which the batch ended.
    """
    missed: Missed = "missing" if state == "completed" or state == "under_way" else state  # noqa: PLR1714 - mypy narrows by these
    found = {line_id: BatchReply(line_id=line_id, missed=missed) for line_id in line_ids}
    return found | {reply.line_id: reply for reply in reversed(replies) if reply.line_id in found}


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
