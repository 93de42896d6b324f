"""Anthropic's Claude, through the Messages API."""

import base64
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from touchstone.judges.adapters import counts, failures, replies
from touchstone.judges.adapters.schemas import question_schema
from touchstone.judges.base import Answered, JudgeQuestion
from touchstone.judges.conversing import Turn, TurnRequest, Wire

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

    from touchstone.judges.adapters.sending import Outcome

NAME = "Anthropic"
"""The provider, as failures name it."""


class AnthropicAdapter:
    """The Anthropic API. `base_url` None: the SDK's own, or `ANTHROPIC_BASE_URL`."""

    provider = "anthropic"
    wire: Wire = "anthropic"

    def __init__(self, *, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._loading = Lock()
        self._base_url = base_url
        self._client: AsyncAnthropic | None = None
        self._http: httpx2.AsyncClient | None = None

    def load(self) -> None:
        """Import the SDK and build the client. Raises `MisconfiguredError` without a usable key."""
        with self._loading:  # judges and batches share an adapter, and may load it side by side
            self.client()

    def client(self) -> "AsyncAnthropic":
        """The SDK's client, made on first use. Raises `MisconfiguredError` without a usable key."""
        if self._client is not None:
            return self._client
        key = failures.usable_key(NAME, self._api_key)
        with failures.sdk_of(NAME):
            from anthropic import AsyncAnthropic

            from touchstone.judges.adapters import connections
        self._http = connections.client()
        self._client = AsyncAnthropic(
            api_key=key, base_url=self._base_url, http_client=self._http, max_retries=0, timeout=None
        )
        return self._client

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ASYNC109 - handed on
        """Ask once, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        body = await self._body(model, lambda: request_body(model, question), timeout=timeout)
        return read_reply(model, question, body)

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ASYNC109 - handed on
        """The model's next turn, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        from touchstone.judges.turns import anthropic as turns

        body = await self._body(model, lambda: turns.request_body(model, request), timeout=timeout)
        return turns.read_turn(model, request, body)

    async def _body(self, model: str, asked: Callable[[], dict[str, Any]], *, timeout: float) -> dict[str, Any]:  # noqa: ASYNC109 - handed on
        """The body of the response to one request. Raises a `JudgeError` where there is none."""
        client = self.client()
        import anthropic

        from touchstone.judges.adapters import sending

        async def send() -> "Outcome":
            return await sending.posted(anthropic, client, "/v1/messages", asked(), provider=NAME, seconds=timeout)

        return _body_in(model, await sending.delivered(NAME, model, send, timeout=timeout))

    def read[T: BaseModel](self, model: str, question: JudgeQuestion[T], response: replies.Response) -> Answered[T]:
        """The answer in a response. Raises the `JudgeError` that it is instead, with what was counted."""
        return read_reply(model, question, _body_in(model, response))

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()
        self._client = self._http = None


def _body_in(model: str, response: replies.Response) -> dict[str, Any]:
    """The body of a response of status 200. Raises the `JudgeError` that it is instead."""
    if response.status != 200:  # noqa: PLR2004 - HTTP's own
        raise failures.anthropic(model, response)
    return replies.json_object(NAME, model, response)


def request_body[T: BaseModel](model: str, question: JudgeQuestion[T]) -> dict[str, Any]:
    """The body of a message request."""
    content: str | list[dict[str, Any]] = question.prompt.user
    if question.images:
        pictures = [
            {
                "type": "image",
                "source": {
                    "type": "base64",
                    "media_type": image.media_type,
                    "data": base64.b64encode(image.data).decode(),
                },
            }
            for image in question.images
        ]
        content = [*pictures, {"type": "text", "text": question.prompt.user}]
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": question.max_output_tokens,
        "messages": [{"role": "user", "content": content}],
        "output_config": {"format": {"type": "json_schema", "schema": question_schema(question)}},
    }
    if question.prompt.system:
        body["system"] = question.prompt.system
    if question.temperature is not None:
        body["temperature"] = question.temperature
    return body


def read_reply[T: BaseModel](model: str, question: JudgeQuestion[T], body: dict[str, Any]) -> Answered[T]:
    """The answer in a body of status 200. Raises `RefusedError` or `UnreadableError`, with what was counted."""
    usage, answering = counts.of_message(body.get("usage")), replies.model_named(body.get("model"), model)
    with replies.counted(usage, answering):
        value = replies.parsed(NAME, model, question, _text(model, question.max_output_tokens, body))
    return Answered(value=value, model=answering, usage=usage)


def _text(model: str, limit: int, body: dict[str, Any]) -> str:
    """The model's own words. Raises the failure that the reply is instead."""
    match body:
        case {"stop_reason": "refusal"}:
            raise failures.refused(NAME, model, None)
        case {"stop_reason": "max_tokens" | "model_context_window_exceeded"}:
            raise replies.cut_off(NAME, model, limit)
        case {"stop_reason": "end_turn" | "stop_sequence", "content": [_, *_] as blocks}:
            return "".join(str(block["text"]) for block in blocks if block.get("type") == "text")
        case {"stop_reason": "end_turn" | "stop_sequence"}:
            raise failures.unreadable(NAME, model, "it holds no text")
        case _:
            reason = failures.word(body.get("stop_reason"))
            raise failures.unreadable(NAME, model, f"it stopped for {reason or 'no known reason'}")
