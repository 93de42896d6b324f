"""Turns in OpenAI's Responses API.

OpenAI's reasoning models refuse functions in chat completions unless they are told not to think. So a conversation with
tools goes through the Responses API; questions do not. Nothing is stored at OpenAI: the model's reasoning comes
encrypted, and is sent back with the next request.
"""

from dataclasses import replace
from typing import Any

from touchstone.judges.adapters import failures
from touchstone.judges.adapters.client import Received
from touchstone.judges.adapters.schemas import tool_schema
from touchstone.judges.conversing import Message, ToolResults, Turn, TurnRequest, UserMessage, numbered

_OVERLOADED, _TOO_MANY = 503, 429


def request_body(model: str, request: TurnRequest) -> dict[str, Any]:
    """The body of a request for a response."""
    body: dict[str, Any] = {
        "model": model,
        "input": [item for message in request.conversation.messages for item in _items(message)],
        "max_output_tokens": request.max_output_tokens,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool_schema(tool, request.line_id),
                "strict": True,
            }
            for tool in request.tools
        ]
    if request.conversation.system:
        body["instructions"] = request.conversation.system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def _items(message: Message) -> list[Any]:
    match message:
        case UserMessage(text=text):
            return [{"role": "user", "content": text}]
        case ToolResults(results=results):
            return [
                {"type": "function_call_output", "call_id": result.call_id, "output": result.text} for result in results
            ]
        case Turn(opaque=[*items]):
            return items
        case Turn():
            raise TypeError("A turn of OpenAI's is a list of items.")


def turn_in(received: Received) -> Turn:
    """The turn in the body of a response, without usage. Raises a `JudgeError` if the reply was refused or cut off."""
    items = _output(received)
    text = "".join(str(part.get("text", "")) for part in _content(items) if part.get("type") == "output_text")
    calls = numbered(
        [
            {
                "id": str(item.get("call_id", "")),
                "name": str(item.get("name", "")),
                "arguments": str(item.get("arguments", "")),
            }
            for item in items
            if item.get("type") == "function_call"
        ]
    )
    return Turn(text=text or None, calls=calls, model=received.model, wire="responses", opaque=list(items))


def _output(received: Received) -> list[dict[str, Any]]:
    """The items of the output. Raises a `JudgeError` if the reply was refused or cut off, or failed otherwise."""
    match received.body:
        case {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}:
            raise received.truncated()
        case {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}:
            raise received.refused("content_filter")
        case {"status": "failed", "error": {"code": str(code)}}:
            status = _TOO_MANY if code == "rate_limit_exceeded" else _OVERLOADED
            raise failures.openai(received.name, received.model, replace(received.response, status=status))
        case {"status": "completed", "output": [*output]}:
            items = [item for item in output if isinstance(item, dict)]
        case _:
            state = failures.single_word(received.body.get("status"))
            raise received.unreadable(f"it is {state or 'in no known state'}")
    if any(part.get("type") == "refusal" for part in _content(items)):
        raise received.refused(None)
    return items


def _content(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    contents = [item.get("content") for item in items if item.get("type") == "message"]
    return [part for parts in contents if isinstance(parts, list) for part in parts if isinstance(part, dict)]
