"""What the providers' batch APIs have in common."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from touchstone.errors import JudgeError, OverloadedError, UnfinishedError
from touchstone.judges.adapters.replies import Response
from touchstone.judges.base import Answered, JudgeQuestion

LINE_ID_TOKENS = 64
"""Room in the output for the line's id and the name of its field: 32 hexadecimal digits are at most as many tokens."""

type BatchState = Literal["under_way", "completed", "expired", "cancelled", "failed"]
type Missed = Literal["expired", "cancelled", "failed", "missing"]
"""Why a line has no response: its batch ended before it was come to, or, of one that was completed, it is not there."""

_MISSED: dict[Missed, str] = {
    "expired": "expired before this line was answered",
    "cancelled": "was cancelled before this line was answered",
    "failed": "failed before this line was answered",
    "missing": "ended without a reply to this line",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """How many lines, and bytes of all of them, a provider takes in one batch."""

    lines: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """One question of a batch under an id of its own, made by `as_line`. `body` is what the single adapter sends."""

    line_id: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLook:
    """A batch as its provider tells of it. `ends_by` is when it will have ended at the latest (UTC), None: not told.

    `failure` is why a batch failed, in a sentence without anything of the prompts.
    """

    batch_id: str
    state: BatchState
    ends_by: datetime | None = None
    failure: str = ""


class BatchReply(BaseModel):
    """What a batch brought for a line: the response that a single call would have had, or why there is none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    line_id: str
    status: int = 200
    body: str = ""
    missed: Missed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBatch:
    """What a search for the batch of an intent found. `batch_id` None: it is not there.

    `open` are batches that may be it and do not tell before they have ended; then nothing may be created anew.
    """

    batch_id: str | None = None
    open: tuple[BatchLook, ...] = ()


class ProviderBatches(Protocol):
    """One provider's batch API. Every method is one attempt, and raises a `JudgeError` where it fails.

    An intent is an id that whoever submits has written down before, of letters and digits. It begins the ids of its
    batch's lines.
    """

    provider: str
    limits: BatchLimits
    longest: timedelta
    """What a batch takes at the longest, by its provider's word."""

    def line[T: BaseModel](self, model: str, question: JudgeQuestion[T]) -> BatchLine:
        """The line for a question that has a `line_id`."""
        ...

    async def submit(self, model: str, intent: str, lines: Sequence[BatchLine]) -> BatchLook:
        """Create a batch for lines within the limits. A failure whose `sent` is True may have created it."""
        ...

    async def look(self, batch_id: str) -> BatchLook:
        """How far a batch is."""
        ...

    async def collect(self, batch_id: str) -> tuple[BatchReply, ...]:
        """What a batch that has ended brought, as the provider tells it: in any order, some twice, some not.

        Raises `ResultsGoneError` where the provider does not keep it any more.
        """
        ...

    async def cancel(self, batch_id: str) -> None:
        """Ask for a batch to end; what it had done by then is paid for, and can be collected."""
        ...

    async def find(self, intent: str, *, since: datetime, until: datetime, known: Collection[str]) -> FoundBatch:
        """Look for the batch of an intent, created between these moments; `known` are batches of other intents."""
        ...

    def read[T: BaseModel](self, model: str, question: JudgeQuestion[T], reply: BatchReply) -> Answered[T]:
        """The answer to a question with the reply's `line_id`. Raises the `JudgeError` that the reply is instead."""
        ...


def as_line[T: BaseModel](question: JudgeQuestion[T], line_id: str) -> JudgeQuestion[T]:
    """A question as it is asked in a line of a batch."""
    return replace(question, line_id=line_id, max_output_tokens=question.max_output_tokens + LINE_ID_TOKENS)


def response_of(provider: str, model: str, reply: BatchReply) -> Response:
    """The response to a line. Raises `UnfinishedError` or, where another batch may bring one, `OverloadedError`."""
    if reply.missed is None:
        return Response(status=reply.status, headers={}, body=reply.body)
    sentence = f"{provider}'s batch for {model} {_MISSED[reply.missed]}."
    raise OverloadedError(sentence) if reply.missed == "missing" else UnfinishedError(sentence)


def read_by[T: BaseModel](
    read: Callable[[str, JudgeQuestion[T], Response], Answered[T]],
    provider: str,
    model: str,
    question: JudgeQuestion[T],
    reply: BatchReply,
) -> Answered[T]:
    """The answer that the single adapter reads in a line's response; it or the failure has the line's id."""
    try:
        return replace(read(model, question, response_of(provider, model, reply)), line_id=reply.line_id)
    except JudgeError as error:
        error.line_id = reply.line_id
        raise


def by_line(replies: Sequence[BatchReply], line_ids: Collection[str], *, state: BatchState) -> dict[str, BatchReply]:
    """The reply of each line by its id: the first of several, and none of lines that were not asked.

    A line without a reply has missed it by the state in which the batch ended.
    """
    missed: Missed = "missing" if state == "completed" or state == "under_way" else state  # noqa: PLR1714 - mypy narrows by these
    found = {line_id: BatchReply(line_id=line_id, missed=missed) for line_id in line_ids}
    return found | {reply.line_id: reply for reply in reversed(replies) if reply.line_id in found}
