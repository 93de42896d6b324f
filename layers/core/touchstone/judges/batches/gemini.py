"""Gemini's batches: a file of requests for one model, and a file of responses, matched by our own keys.

The requests go in a file, not inline: replies to inlined requests come in another order, and without a key.
"""

import io
import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from touchstone.errors import JudgeError, OverloadedError, ResultsGoneError
from touchstone.judges.adapters import failures
from touchstone.judges.batches.base import (
    CALL_SECONDS,
    UPLOAD_SECONDS,
    BatchLimits,
    BatchLine,
    BatchLook,
    BatchReply,
    BatchState,
    FoundBatch,
    before_creation,
    decode_lines,
    encode_lines,
    results_gone,
    unfound,
)
from touchstone.judges.batches.client import ClientBatches
from touchstone.judges.gemini import NAME

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import BatchJob

_LONGEST = timedelta(hours=48)
"""A job that is pending or running for longer expires. Gemini aims at a day for a job, and the job itself does not say
when it expires."""
_STATES: dict[str, BatchState] = {
    "SUCCEEDED": "completed",
    "PARTIALLY_SUCCEEDED": "completed",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
    "EXPIRED": "expired",
}
"""The states of a job that has ended. In every other state the job is under way.

The SDK puts `JOB_STATE_` before a state, and passes on a state of the service that it does not know with
`BATCH_STATE_`.
"""
_HTTP = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 13: 500, 14: 503, 16: 401}
"""The HTTP status for the code of a `google.rpc.Status`, if that code is one of gRPC's."""
_NOT_FOUND = 404
_NO_LONGER = frozenset({403, _NOT_FOUND})
"""The HTTP statuses for a file that is gone. 403 is among them: the service may not say whether the file ever existed.
"""
_FIRST_HTTP = 100


class GeminiBatches(ClientBatches["Client"]):
    """Gemini's batches through the client of its single adapter."""

    provider = "gemini"
    longest = _LONGEST
    limits = BatchLimits(lines=50_000, bytes=2_000_000_000)
    """Gemini names no limit of lines. This one keeps a file at a size that can be written and read back."""

    async def submit(self, model: str, intent: str, lines: Sequence[BatchLine]) -> BatchLook:
        """Upload a file and create its batch. A failed upload has certainly created nothing."""
        data = encode_lines({"key": line.line_id, "request": line.body} for line in lines)

        async def upload(client: "Client") -> str:
            config: Any = {"mime_type": "application/jsonl", "display_name": intent}
            return (await client.aio.files.upload(file=io.BytesIO(data), config=config)).name or ""

        async def create(client: "Client") -> "BatchJob":
            return await client.aio.batches.create(model=model, src=uploaded, config={"display_name": intent})

        with before_creation():
            uploaded = await self._asked(upload, model=model, seconds=UPLOAD_SECONDS)
        return _look(await self._asked(create, model=model))

    async def look(self, batch_id: str) -> BatchLook:
        """The state of a batch."""
        return _look(await self._asked(lambda client: client.aio.batches.get(name=batch_id), batch_id=batch_id))

    async def collect(self, batch_id: str) -> tuple[BatchReply, ...]:
        """The replies in the batch's file; none if it has no file.

        Raises `ResultsGoneError` if the file does not exist any more.
        """
        job = await self._asked(lambda client: client.aio.batches.get(name=batch_id), batch_id=batch_id)
        file = None if job.dest is None else job.dest.file_name
        if file is None:
            return ()

        async def download(client: "Client") -> bytes:
            from google.genai.errors import APIError

            try:
                return await client.aio.files.download(file=file)
            except APIError as error:
                if error.code not in _NO_LONGER:
                    raise
            raise results_gone(NAME, batch_id)

        return tuple(_replies(await self._asked(download, seconds=UPLOAD_SECONDS)))

    async def cancel(self, batch_id: str) -> None:
        """Ask for a batch to end."""
        await self._asked(lambda client: client.aio.batches.cancel(name=batch_id))

    async def find(
        self,
        intent: str,
        *,
        since: datetime,  # noqa: ARG002 - the list has no order
        until: datetime,  # noqa: ARG002 - the name is enough
        known: Collection[str],  # noqa: ARG002 - the name is enough
    ) -> FoundBatch:
        """Look for the batch whose name is the intent.

        The order of the list is not documented, so all of it is searched.
        """

        async def search(client: "Client") -> str | None:
            async for job in await client.aio.batches.list(config={"page_size": 100}):
                if job.display_name == intent:
                    return job.name
            return None

        return FoundBatch(batch_id=await self._asked(search))

    async def _asked[R](
        self,
        do: Callable[["Client"], Awaitable[R]],
        *,
        model: str = "batches",
        seconds: float = CALL_SECONDS,
        batch_id: str | None = None,
    ) -> R:
        """The result of a call of the SDK. Raises a `JudgeError` for every failure.

        `model` and `batch_id` are as in `ClientBatches`.
        """
        client = self._adapter.client()
        from google.genai.errors import APIError

        from touchstone.judges.adapters import connections

        async def send() -> R | JudgeError:
            try:
                return await do(client)
            except APIError as error:
                if batch_id is not None and error.code == _NOT_FOUND:
                    return unfound(NAME, batch_id)
                if error.response is None:
                    return OverloadedError(f"{NAME} answered with something that the SDK cannot read.")
                return failures.gemini(model, connections.to_response(error.response))
            except KeyError:
                return failures.unreadable(NAME, model, "it names no place for the upload")
            except ResultsGoneError as error:
                return error

        return await connections.within_timeout(NAME, model, send, timeout=seconds)


def _look(job: "BatchJob") -> BatchLook:
    created = (job.create_time or datetime.now(UTC)).astimezone(UTC)
    state = "" if job.state is None else job.state.value.partition("_STATE_")[2]
    return BatchLook(batch_id=job.name or "", state=_STATES.get(state, "under_way"), ends_by=created + _LONGEST)


def _replies(content: bytes) -> Iterator[BatchReply]:
    for line in decode_lines(content):
        match line:
            case {"key": str(line_id), "response": dict(body)}:
                yield BatchReply(line_id=line_id, body=json.dumps(body))
            case {"key": str(line_id), "error": {"code": int(code)} as error}:
                status = code if code >= _FIRST_HTTP else _HTTP.get(code, 500)
                yield BatchReply(line_id=line_id, status=status, body=json.dumps({"error": error}))
            case {"key": str(line_id)}:
                yield BatchReply(line_id=line_id, missed="missing")
