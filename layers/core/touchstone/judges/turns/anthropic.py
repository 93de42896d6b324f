"""Turns in Anthropic's Messages API.

Blocks of what was thought are signed and must stand before the calls they led to, so a turn is given back block by
block as it came.
"""

import json
from typing import Any

from touchstone.judges.adapters import counts, failures, replies
from touchstone.judges.adapters.schemas import reply_schema
from touchstone.judges.anthropic import NAME
from touchstone.judges.base import Answered
from touchstone.judges.conversing import Message, ToolResult, ToolResults, Turn, TurnRequest, UserMessage, numbered
from touchstone.usage import Usage


def request_body(model: str, request: TurnRequest) -> dict[str, Any]:
    """The body of a message request."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "messages": [_message(message) for message in request.conversation.messages],
    }
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": reply_schema(tool.parameters)}
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
    """The turn in a body of status 200. Raises `RefusedError` or `UnreadableError`, with what was counted."""
    usage, answering = counts.of_message(body.get("usage")), replies.model_named(body.get("model"), model)
    with replies.counted(usage, answering):
        turn = _turn(_blocks(model, request.max_output_tokens, body), usage, answering)
        if not turn.calls and not turn.text:
            raise failures.unreadable(NAME, model, "it holds neither words nor a call")
    return Answered(value=turn, model=answering, usage=turn.usage)


def _blocks(model: str, limit: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of the reply. Raises the failure that it is instead."""
    match body:
        case {"stop_reason": "refusal"}:
            raise failures.refused(NAME, model, None)
        case {"stop_reason": "max_tokens" | "model_context_window_exceeded"}:
            raise replies.cut_off(NAME, model, limit)
        case {"stop_reason": "end_turn" | "stop_sequence" | "tool_use", "content": [*blocks]}:
            # A text block without text is one that the service gives and does not take.
            return [block for block in blocks if isinstance(block, dict) and block.get("text") != ""]
        case _:
            reason = failures.word(body.get("stop_reason"))
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
