"""Anthropic's Claude, through the Messages API: single questions, and turns of a conversation with tools.

Blocks of thinking are signed and must stand before the calls that they led to. So a turn is given back to the API block
by block, as it came.
"""

import base64
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from touchstone.judges.adapters import ClientAdapter, counts, failures, replies
from touchstone.judges.adapters.schemas import question_schema, tool_schema
from touchstone.judges.base import Answered, JudgeQuestion
from touchstone.judges.conversing import (
    Message,
    ToolResult,
    ToolResults,
    Turn,
    TurnRequest,
    UserMessage,
    Wire,
    numbered,
)
from touchstone.usage import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from touchstone.judges.adapters.sending import Outcome

NAME = "Anthropic"
"""The provider, as failures name it."""


class AnthropicAdapter(ClientAdapter["AsyncAnthropic"]):
    """The Anthropic API. If `base_url` is None, the SDK's own address is used, or `ANTHROPIC_BASE_URL`."""

    provider = "anthropic"
    wire: Wire = "anthropic"

    def _made(self) -> "AsyncAnthropic":
        key = failures.usable_key(NAME, self._api_key)
        with failures.sdk_of(NAME):
            from anthropic import AsyncAnthropic

            from touchstone.judges.adapters import connections
        self._http = connections.client()
        return AsyncAnthropic(api_key=key, base_url=self._base_url, http_client=self._http, max_retries=0, timeout=None)

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ASYNC109 - handed on
        """Ask once, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        body = await self._body(model, lambda: request_body(model, question), timeout=timeout)
        return read_reply(model, question, body)

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ASYNC109 - handed on
        """The model's next turn, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        body = await self._body(model, lambda: turn_body(model, request), timeout=timeout)
        return read_turn(model, request, body)

    async def _body(self, model: str, asked: Callable[[], dict[str, Any]], *, timeout: float) -> dict[str, Any]:  # noqa: ASYNC109 - handed on
        """The body of the response to one request. Raises a `JudgeError` if there is none."""
        client = self.client()
        import anthropic

        from touchstone.judges.adapters import sending

        async def send() -> "Outcome":
            return await sending.post_json(anthropic, client, "/v1/messages", asked(), provider=NAME, seconds=timeout)

        return _body_in(model, await sending.within_timeout(NAME, model, send, timeout=timeout))

    def read[T: BaseModel](self, model: str, question: JudgeQuestion[T], response: replies.Response) -> Answered[T]:
        """The answer in a response. Raises a `JudgeError`, with the counted tokens, if the response holds no answer."""
        return read_reply(model, question, _body_in(model, response))

    def read_turn(self, model: str, request: TurnRequest, response: replies.Response) -> Answered[Turn]:
        """The turn in a response. Raises a `JudgeError`, with the counted tokens, if the response holds no turn."""
        return read_turn(model, request, _body_in(model, response))


def _body_in(model: str, response: replies.Response) -> dict[str, Any]:
    """The JSON body of a response of status 200. Raises the `JudgeError` that any other response stands for."""
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
    """The answer in the body of a response of status 200.

    Raises `RefusedError` or `UnreadableError`, with the counted tokens, if the body holds no answer.
    """
    usage, answering = counts.of_message(body.get("usage")), replies.answering_model(body.get("model"), model)
    with replies.with_usage(usage, answering):
        value = replies.parse_reply(NAME, model, question, _text(model, question.max_output_tokens, body))
    return Answered(value=value, model=answering, usage=usage)


def _text(model: str, limit: int, body: dict[str, Any]) -> str:
    """The text of the reply. Raises a `JudgeError` if the reply was refused or cut off, or holds no text."""
    match body:
        case {"stop_reason": "refusal"}:
            raise failures.refused(NAME, model, None)
        case {"stop_reason": "max_tokens" | "model_context_window_exceeded"}:
            raise replies.truncated_error(NAME, model, limit)
        case {"stop_reason": "end_turn" | "stop_sequence", "content": [_, *_] as blocks}:
            return "".join(str(block["text"]) for block in blocks if block.get("type") == "text")
        case {"stop_reason": "end_turn" | "stop_sequence"}:
            raise failures.unreadable(NAME, model, "it holds no text")
        case _:
            reason = failures.single_word(body.get("stop_reason"))
            raise failures.unreadable(NAME, model, f"it stopped for {reason or 'no known reason'}")


def turn_body(model: str, request: TurnRequest) -> dict[str, Any]:
    """The body of a message request."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "messages": [_message(message) for message in request.conversation.messages],
    }
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool_schema(tool, request.line_id)}
            for tool in request.tools
        ]
    if request.conversation.system:
        body["system"] = request.conversation.system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def _message(message: Message) -> dict[str, Any]:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "content": text}
        case ToolResults(results=results):
            return {"role": "user", "content": [_result(result) for result in results]}
        case Turn(opaque=content):
            return {"role": "assistant", "content": content}


def _result(result: ToolResult) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
    return block | {"is_error": True} if result.failed else block


def read_turn(model: str, request: TurnRequest, body: dict[str, Any]) -> Answered[Turn]:
    """The turn in the body of a response of status 200.

    Raises `RefusedError` or `UnreadableError`, with the counted tokens, if the body holds no turn.
    """
    usage, answering = counts.of_message(body.get("usage")), replies.answering_model(body.get("model"), model)
    with replies.with_usage(usage, answering):
        turn = _turn(_blocks(model, request.max_output_tokens, body), usage, answering)
        if not turn.calls and not turn.text:
            raise failures.unreadable(NAME, model, "it holds neither words nor a call")
        replies.check_line(NAME, model, request, turn)
    return Answered(value=turn, model=answering, usage=turn.usage)


def _blocks(model: str, limit: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of the reply. Raises a `JudgeError` if the reply was refused, cut off or stopped otherwise."""
    match body:
        case {"stop_reason": "refusal"}:
            raise failures.refused(NAME, model, None)
        case {"stop_reason": "max_tokens" | "model_context_window_exceeded"}:
            raise replies.truncated_error(NAME, model, limit)
        case {"stop_reason": "end_turn" | "stop_sequence" | "tool_use", "content": [*blocks]}:
            # The service returns text blocks without text, and refuses them when they are sent back.
            return [block for block in blocks if isinstance(block, dict) and block.get("text") != ""]
        case _:
            reason = failures.single_word(body.get("stop_reason"))
            raise failures.unreadable(NAME, model, f"it stopped for {reason or 'no known reason'}")


def _turn(blocks: list[dict[str, Any]], usage: Usage, model: str) -> Turn:
    text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    calls = numbered(
        [
            {
                "id": str(block.get("id", "")),
                "name": str(block.get("name", "")),
                "arguments": json.dumps(block.get("input"), ensure_ascii=False),
            }
            for block in blocks
            if block.get("type") == "tool_use"
        ]
    )
    return Turn(text=text or None, calls=calls, usage=usage, model=model, wire="anthropic", opaque=list(blocks))
