"""Anthropic's Claude, through the Messages API: single questions, and turns of a conversation with tools.

Blocks of thinking are signed and must stand before the calls that they led to. So a turn is given back to the API block
by block, as it came.
"""

import base64
import json
import logging
from typing import TYPE_CHECKING, Any

from touchstone.errors import JudgeError
from touchstone.judges.adapters import counts, failures, replies
from touchstone.judges.adapters.client import ClientAdapter, Received
from touchstone.judges.adapters.schemas import question_schema, tool_schema
from touchstone.judges.base import JudgeQuestion
from touchstone.judges.conversing import (
    Message,
    ModelRequest,
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

    from touchstone.judges.adapters.connections import Outcome

NAME = "Anthropic"
"""The provider, as failures name it."""


class AnthropicAdapter(ClientAdapter["AsyncAnthropic"]):
    """The Anthropic API. If `base_url` is None, the SDK's own address is used, or `ANTHROPIC_BASE_URL`."""

    provider = "anthropic"
    wire: Wire = "anthropic"
    name = NAME

    def _made(self) -> "AsyncAnthropic":
        key = failures.usable_key(NAME, self._api_key)
        with failures.sdk_of(NAME):
            from anthropic import AsyncAnthropic

            from touchstone.judges.adapters import connections
        # The debug records of the SDK hold the whole request.
        logging.getLogger("anthropic._base_client").addFilter(lambda record: record.levelno > logging.DEBUG)
        self._http = connections.Client()
        return AsyncAnthropic(api_key=key, base_url=self._base_url, http_client=self._http, max_retries=0, timeout=None)

    def body(self, model: str, asked: ModelRequest) -> dict[str, Any]:
        """The body of a message request."""
        return turn_body(model, asked) if isinstance(asked, TurnRequest) else request_body(model, asked)

    def failure(self, model: str, response: replies.Response) -> JudgeError:
        """The failure that a response of another status than 200 stands for."""
        return failures.anthropic(model, response)

    async def _send(self, client: "AsyncAnthropic", model: str, asked: ModelRequest, *, seconds: float) -> "Outcome":
        import anthropic

        from touchstone.judges.adapters import connections

        body = self.body(model, asked)
        return await connections.post_json(anthropic, client, "/v1/messages", body, provider=NAME, seconds=seconds)

    def _usage(self, asked: ModelRequest, body: dict[str, Any]) -> Usage:  # noqa: ARG002 - told alike for both
        return counts.of_message(body.get("usage"))

    def _text(self, received: Received) -> str:
        match received.body:
            case {"stop_reason": "end_turn" | "stop_sequence", "content": [_, *_] as blocks} if _are_blocks(blocks):
                return "".join(block["text"] for block in blocks if block.get("type") == "text")
            case {"stop_reason": "end_turn" | "stop_sequence"}:
                raise received.unreadable("it holds no text")
            case _:
                raise _stopped(received)

    def _turn(self, received: Received) -> Turn:
        match received.body:
            case {"stop_reason": "end_turn" | "stop_sequence" | "tool_use", "content": [*blocks]}:
                # The service returns text blocks without text, and refuses them when they are sent back.
                kept = [block for block in blocks if isinstance(block, dict) and block.get("text") != ""]
                return _turn(received.model, kept)
            case _:
                raise _stopped(received)


def _are_blocks(blocks: list[Any]) -> bool:
    """Whether all parts of a content are blocks, and those of text hold text."""
    return all(
        isinstance(block, dict) and (block.get("type") != "text" or isinstance(block.get("text"), str))
        for block in blocks
    )


def _stopped(received: Received) -> JudgeError:
    """The failure of a reply that did not end by itself."""
    match reason := received.body.get("stop_reason"):
        case "refusal":
            return received.refused(None)
        case "max_tokens" | "model_context_window_exceeded":
            return received.truncated()
        case _:
            return received.stopped(reason)


def request_body(model: str, question: JudgeQuestion[Any]) -> dict[str, Any]:
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


def _turn(model: str, blocks: list[dict[str, Any]]) -> Turn:
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
    return Turn(text=text or None, calls=calls, model=model, wire="anthropic", opaque=list(blocks))
