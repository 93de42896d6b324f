"""Turns in chat completions, as every server compatible with OpenAI takes them."""

import json
from dataclasses import replace
from typing import Any

from touchstone.judges.adapters import failures
from touchstone.judges.adapters.client import Received
from touchstone.judges.adapters.schemas import tool_schema
from touchstone.judges.conversing import Message, ToolCall, ToolResults, Turn, TurnRequest, UserMessage, numbered


def message_in(received: Received, *, in_words: bool) -> dict[str, Any]:
    """The model's message, whose `content` is text if it must be `in_words`.

    Raises a `JudgeError` if the reply was refused or cut off, or holds no such message.
    """
    match received.body:
        case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
            raise received.refused(None)
        case {"choices": [{"finish_reason": "content_filter"}, *_]}:
            raise received.refused("content_filter")
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise received.truncated()
        case {"choices": [{"message": dict(message)}, *_]} if not in_words or isinstance(message.get("content"), str):
            return message
        case {"error": {"code": int(status)}}:
            # Gateways report the failure of the provider behind them in a response of status 200.
            raise failures.openai(received.name, received.model, replace(received.response, status=status))
        case _:
            raise received.unreadable("it holds no message")


_GIVEN_BACK = ("content", "reasoning_content", "reasoning_details")
"""The parts of a server's message that are sent back to it. Some servers need the model's thoughts for it to go on."""


def request_body(model: str, request: TurnRequest) -> dict[str, Any]:
    """The body of a chat completion."""
    system = [{"role": "system", "content": request.conversation.system}] if request.conversation.system else []
    body: dict[str, Any] = {
        "model": model,
        "messages": [*system, *(each for message in request.conversation.messages for each in _messages(message))],
        "max_tokens": request.max_output_tokens,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool_schema(tool, request.line_id),
                },
            }
            for tool in request.tools
        ]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def _messages(message: Message) -> list[Any]:
    match message:
        case UserMessage(text=text):
            return [{"role": "user", "content": text}]
        case ToolResults(results=results):
            return [{"role": "tool", "tool_call_id": result.call_id, "content": result.text} for result in results]
        case Turn(opaque=own_form):
            return [own_form]


def turn_in(received: Received) -> Turn:
    """The turn in the body of a response, without usage. Raises a `JudgeError` if the reply was refused or cut off."""
    message = message_in(received, in_words=False)
    called = message.get("tool_calls")
    entries = [entry for entry in (called if isinstance(called, list) else []) if isinstance(entry, dict)]
    functions = [entry["function"] if isinstance(entry.get("function"), dict) else {} for entry in entries]
    calls = numbered(
        [
            {
                "id": str(entry.get("id") or ""),
                "name": str(function.get("name", "")),
                "arguments": _written(function.get("arguments")),
            }
            for entry, function in zip(entries, functions, strict=True)
        ]
    )
    opaque: dict[str, Any] = {"role": "assistant"} | {key: message[key] for key in _GIVEN_BACK if key in message}
    if calls:
        opaque["tool_calls"] = [
            entry | {"id": call.id, "type": "function", "function": function | {"arguments": _readable(call)}}
            for entry, function, call in zip(entries, functions, calls, strict=True)
        ]
    text = message.get("content")
    return Turn(
        text=text if isinstance(text, str) and text else None,
        calls=calls,
        model=received.model,
        wire="chat",
        opaque=opaque,
    )


def _written(arguments: Any) -> str:
    """Arguments as JSON text: some servers give the object itself."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _readable(call: ToolCall) -> str:
    """The arguments as they are sent back; "{}" if they are no JSON object, since servers read them again."""
    try:
        return call.arguments if isinstance(json.loads(call.arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"
