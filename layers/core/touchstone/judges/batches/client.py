"""A provider's batch API through the client of its single adapter."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from importlib import import_module

from pydantic import BaseModel

from touchstone.errors import JudgeError
from touchstone.judges.adapters.client import ClientAdapter
from touchstone.judges.adapters.replies import Response
from touchstone.judges.base import Answered, JudgeQuestion
from touchstone.judges.batches.base import CALL_SECONDS, BatchLine, BatchReply, line_of, response_of, unfound
from touchstone.judges.conversing import ModelRequest, Turn, TurnRequest


class ClientBatches[C]:
    """What the batch APIs have in common: lines are written, and replies read, as the single adapter does it.

    `sdk` is the module of an SDK whose errors are those of OpenAI's and Anthropic's, which one generator makes. For any
    other SDK, `_asked` is overridden.
    """

    sdk: str

    def __init__(self, adapter: ClientAdapter[C]) -> None:
        self._adapter = adapter

    def line(self, model: str, asked: ModelRequest) -> BatchLine:
        """The line for a question, or a turn, that has a `line_id`."""
        return line_of(asked, self._adapter.body(model, asked))

    def read[T: BaseModel](self, model: str, question: JudgeQuestion[T], reply: BatchReply) -> Answered[T]:
        """The answer to a question with the reply's `line_id`. Raises a `JudgeError` if the reply holds no answer."""
        return self._read(lambda response: self._adapter.read(model, question, response), model, reply)

    def read_turn(self, model: str, request: TurnRequest, reply: BatchReply) -> Answered[Turn]:
        """The turn for a request with the reply's `line_id`. Raises a `JudgeError` if the reply holds no turn."""
        return self._read(lambda response: self._adapter.read_turn(model, request, response), model, reply)

    def _read[T: BaseModel](
        self, read: Callable[[Response], Answered[T]], model: str, reply: BatchReply
    ) -> Answered[T]:
        """What `read` finds in a line's response. The answer, or the failure, carries the line's id."""
        try:
            return replace(read(response_of(self._adapter.name, model, reply)), line_id=reply.line_id)
        except JudgeError as error:
            error.line_id = reply.line_id
            raise

    async def _asked[R](
        self,
        do: Callable[[C], Awaitable[R]],
        *,
        model: str = "batches",
        seconds: float = CALL_SECONDS,
        batch_id: str | None = None,
    ) -> R:
        """The result of a call of the SDK. Raises a `JudgeError` for every failure.

        `model` is what a failure names. `batch_id` is the batch that is asked for; None if a 404 would not be about a
        batch.
        """
        client, name, sdk = self._adapter.client(), self._adapter.name, import_module(self.sdk)
        from touchstone.judges.adapters.connections import call_sdk

        return await call_sdk(
            sdk,
            client,
            do,
            provider=name,
            failed=lambda response: (
                unfound(name, batch_id)
                if batch_id is not None and response.status == HTTPStatus.NOT_FOUND
                else self._adapter.failure(model, response)
            ),
            seconds=seconds,
        )
