"""OpenAI's Batch API: a file of requests for one endpoint and one model; results in an output and an error file.

OpenAI deletes the uploaded file two days after its creation, and the results 30 days after theirs.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from touchstone.judges.adapters import failures
from touchstone.judges.batches.base import (
    UPLOAD_SECONDS,
    BatchLimits,
    BatchLine,
    BatchLook,
    BatchReply,
    BatchState,
    FoundBatch,
    Missed,
    before_creation,
    decode_lines,
    encode_lines,
    line_of,
    results_gone,
)
from touchstone.judges.batches.client import ClientBatches
from touchstone.judges.conversing import ModelRequest
from touchstone.judges.openai import OpenAIAdapter

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

_NAME = "OpenAI"
_V1: Final = "/v1"
"""Stands before the paths of single calls where a batch names its endpoint."""
_INTENT = "touchstone_intent"
_INPUT_SECONDS = 2 * 24 * 3600
"""Seconds for which an uploaded file is kept. It must outlive its batch, which has a day."""
_OUTPUT_SECONDS = 30 * 24 * 3600
"""Seconds for which results are kept: the longest that can be asked for."""
_STATES: dict[str, BatchState] = {
    "failed": "failed",
    "completed": "completed",
    "expired": "expired",
    "cancelled": "cancelled",
}
"""The statuses of a batch that has ended. In every other status the batch is under way."""
_MISSED: dict[Any, Missed] = {"batch_expired": "expired", "batch_cancelled": "cancelled"}
_NOT_FOUND = 404


class OpenAIBatches(ClientBatches["AsyncOpenAI"]):
    """OpenAI's batches through the client of its single adapter."""

    provider = sdk = "openai"
    limits = BatchLimits(lines=50_000, bytes=200_000_000)
    longest = timedelta(hours=24)

    def __init__(self, adapter: OpenAIAdapter) -> None:
        super().__init__(adapter)
        self._path = adapter.path

    def line(self, model: str, asked: ModelRequest) -> BatchLine:
        """The line for a question, or a turn, that has a `line_id`."""
        return line_of(asked, self._adapter.body(model, asked), path=_V1 + self._path(asked))

    async def submit(self, model: str, intent: str, lines: Sequence[BatchLine]) -> BatchLook:
        """Upload a file and create its batch. A failed upload has certainly created nothing."""
        data = encode_lines(
            {"custom_id": line.line_id, "method": "POST", "url": line.path, "body": line.body} for line in lines
        )

        endpoint: Any = lines[0].path  # one of the addresses that the SDK lists

        async def upload(client: "AsyncOpenAI") -> str:
            file = (f"{intent}.jsonl", data, "application/jsonl")
            expires = {"anchor": "created_at", "seconds": _INPUT_SECONDS}
            return (await client.files.create(file=file, purpose="batch", expires_after=expires)).id  # type: ignore[arg-type]

        async def create(client: "AsyncOpenAI") -> "Batch":
            return await client.batches.create(
                input_file_id=uploaded,
                endpoint=endpoint,
                completion_window="24h",
                metadata={_INTENT: intent},
                output_expires_after={"anchor": "created_at", "seconds": _OUTPUT_SECONDS},
            )

        with before_creation():
            uploaded = await self._asked(upload, model=model, seconds=UPLOAD_SECONDS)
        return _look(await self._asked(create, model=model))

    async def look(self, batch_id: str) -> BatchLook:
        """The state of a batch."""
        return _look(await self._asked(lambda client: client.batches.retrieve(batch_id), batch_id=batch_id))

    async def collect(self, batch_id: str) -> tuple[BatchReply, ...]:
        """The replies in the output and the error file.

        Raises `ResultsGoneError` if one of them does not exist any more.
        """
        batch = await self._asked(lambda client: client.batches.retrieve(batch_id), batch_id=batch_id)
        files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
        contents = [await self._asked(_downloaded(batch_id, file), seconds=UPLOAD_SECONDS) for file in files]
        return tuple(reply for content in contents for reply in _replies(content))

    async def cancel(self, batch_id: str) -> None:
        """Ask for a batch to end."""
        await self._asked(lambda client: client.batches.cancel(batch_id))

    async def find(
        self,
        intent: str,
        *,
        since: datetime,
        until: datetime,  # noqa: ARG002 - the metadata is enough
        known: Collection[str],  # noqa: ARG002 - the metadata is enough
    ) -> FoundBatch:
        """Look for the batch whose metadata names the intent. The list begins with the newest batch."""

        async def search(client: "AsyncOpenAI") -> str | None:
            async for batch in client.batches.list(limit=100):
                if batch.created_at < since.timestamp():
                    return None
                if (batch.metadata or {}).get(_INTENT) == intent:
                    return batch.id
            return None

        return FoundBatch(batch_id=await self._asked(search))


def _downloaded(batch_id: str, file: str) -> Callable[["AsyncOpenAI"], Awaitable[bytes]]:
    async def download(client: "AsyncOpenAI") -> bytes:
        import openai

        try:
            return (await client.files.content(file)).content
        except openai.APIStatusError as error:
            if error.status_code != _NOT_FOUND:
                raise
        raise results_gone(_NAME, batch_id)

    return download


def _look(batch: "Batch") -> BatchLook:
    ends_by = None if batch.expires_at is None else datetime.fromtimestamp(batch.expires_at, UTC)
    codes = [failures.single_word(error.code) for error in (batch.errors and batch.errors.data) or ()]
    failure = next((code for code in codes if code), "")
    return BatchLook(batch_id=batch.id, state=_STATES.get(batch.status, "under_way"), ends_by=ends_by, failure=failure)


def _replies(content: bytes) -> Iterator[BatchReply]:
    for line in decode_lines(content):
        match line:
            case {"custom_id": str(line_id), "response": {"status_code": int(status), "body": body}}:
                yield BatchReply(line_id=line_id, status=status, body=json.dumps(body))
            case {"custom_id": str(line_id), "error": {"code": code}} if code in _MISSED:
                yield BatchReply(line_id=line_id, missed=_MISSED[code])
            case {"custom_id": str(line_id)}:
                yield BatchReply(line_id=line_id, missed="missing")
