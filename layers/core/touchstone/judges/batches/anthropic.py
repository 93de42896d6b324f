"""Anthropic's Message Batches: the requests in one body, the results in a file that is kept for 29 days."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from touchstone.errors import ResultsGoneError
from touchstone.judges.anthropic import NAME
from touchstone.judges.batches.base import (
    UPLOAD_SECONDS,
    BatchLimits,
    BatchLine,
    BatchLook,
    BatchReply,
    FoundBatch,
    Missed,
    results_gone,
)
from touchstone.judges.batches.client import ClientBatches

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status that a single call would have had, by the type of the error. A result tells nothing but that type.
Any other type counts as 500."""
_MISSED: dict[str, Missed] = {"expired": "expired", "canceled": "cancelled"}
_NOT_FOUND = 404


class AnthropicBatches(ClientBatches["AsyncAnthropic"]):
    """Anthropic's batches through the client of its single adapter."""

    provider = sdk = "anthropic"
    limits = BatchLimits(lines=100_000, bytes=256_000_000)
    longest = timedelta(hours=24)

    async def submit(self, model: str, intent: str, lines: Sequence[BatchLine]) -> BatchLook:  # noqa: ARG002 - the ids of the lines begin with it
        """Create a batch."""
        requests: Any = [{"custom_id": line.line_id, "params": line.body} for line in lines]
        created = await self._asked(
            lambda client: client.messages.batches.create(requests=requests), model=model, seconds=UPLOAD_SECONDS
        )
        return _look(created)

    async def look(self, batch_id: str) -> BatchLook:
        """The state of a batch."""
        batch = await self._asked(lambda client: client.messages.batches.retrieve(batch_id), batch_id=batch_id)
        return _look(batch)

    async def collect(self, batch_id: str) -> tuple[BatchReply, ...]:
        """The results of a batch. Raises `ResultsGoneError` if they are not kept any more."""

        async def download(client: "AsyncAnthropic") -> tuple[BatchReply, ...]:
            return tuple([_reply(one) async for one in _results(client, batch_id)])

        return await self._asked(download, seconds=UPLOAD_SECONDS)

    async def cancel(self, batch_id: str) -> None:
        """Ask for a batch to end."""
        await self._asked(lambda client: client.messages.batches.cancel(batch_id))

    async def find(self, intent: str, *, since: datetime, until: datetime, known: Collection[str]) -> FoundBatch:
        """Look for the batch whose lines' ids begin with the intent. The provider lists the newest batches first.

        Batches have no name and no metadata, so the ids are known only once a batch has ended. A batch under way that
        was created between these moments may be anybody's: it is returned as `open`.
        """

        async def search(client: "AsyncAnthropic") -> FoundBatch:
            under_way: list[BatchLook] = []
            async for batch in client.messages.batches.list(limit=100):
                if batch.created_at < since:
                    break
                if batch.created_at > until or batch.id in known or batch.archived_at is not None:
                    continue
                if batch.processing_status != "ended":
                    under_way.append(_look(batch))
                    continue
                with suppress(ResultsGoneError):  # the batch is not ours, or its results are of no use any more
                    async for one in _results(client, batch.id):
                        if one.custom_id.startswith(intent):
                            return FoundBatch(batch_id=batch.id)
                        break
            return FoundBatch(open=tuple(under_way))

        return await self._asked(search, seconds=UPLOAD_SECONDS)


async def _results(client: "AsyncAnthropic", batch_id: str) -> AsyncIterator["MessageBatchIndividualResponse"]:
    """The results of a batch that has ended. Raises `ResultsGoneError` if they are not kept any more."""
    import anthropic

    try:
        decoder = await client.messages.batches.results(batch_id)
    except anthropic.APIStatusError as error:
        if error.status_code != _NOT_FOUND:
            raise
        decoder = None
    except anthropic.APIConnectionError:
        raise
    except anthropic.AnthropicError:  # the batch is archived: the SDK finds no address of its results
        decoder = None
    if decoder is None:
        raise results_gone(NAME, batch_id)
    async for one in decoder:
        yield one


def _look(batch: "MessageBatch") -> BatchLook:
    state = "completed" if batch.processing_status == "ended" else "under_way"
    return BatchLook(batch_id=batch.id, state=state, ends_by=batch.expires_at)  # type: ignore[arg-type]


def _reply(one: "MessageBatchIndividualResponse") -> BatchReply:
    match one.result.type:
        case "succeeded":
            return BatchReply(line_id=one.custom_id, body=one.result.message.to_json())
        case "errored":
            status = _STATUS.get(one.result.error.error.type, 500)
            return BatchReply(line_id=one.custom_id, status=status, body=one.result.error.to_json())
        case other:
            return BatchReply(line_id=one.custom_id, missed=_MISSED.get(other, "missing"))
