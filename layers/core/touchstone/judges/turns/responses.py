"""Turns in OpenAI's Responses API.

OpenAI's reasoning models refuse functions in chat completions unless they are told not to think. So a conversation with
tools goes through the Responses API; questions do not. Nothing is stored at OpenAI: the model's reasoning comes
encrypted, and is sent back with the next request.
"""

from typing import Any

from touchstone.judges.adapters import counts, failures, replies
from touchstone.judges.adapters.schemas import tool_schema
from touchstone.judges.base import Answered
from touchstone.judges.conversing import Message, ToolResults, Turn, TurnRequest, UserMessage, numbered
from touchstone.usage import Usage

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


def read_turn(name: str, model: str, request: TurnRequest, response: replies.Response) -> Answered[Turn]:
    """The turn in a response of status 200. Raises a `JudgeError`, with the counted tokens, if there is none."""
    body = replies.json_object(name, model, response)
    usage, answering = counts.of_response(body.get("usage")), replies.answering_model(body.get("model"), model)
    with replies.with_usage(usage, answering):
        turn = _turn(_output(name, model, request.max_output_tokens, response, body), usage, answering)
        if not turn.calls and not turn.text:
            raise failures.unreadable(name, model, "it holds neither words nor a call")
        replies.check_line(name, model, request, turn)
    return Answered(value=turn, model=answering, usage=turn.usage)


def _output(
    name: str, model: str, limit: int, response: replies.Response, body: dict[str, Any]
) -> list[dict[str, Any]]:
    """The items of the output. Raises a `JudgeError` if the reply was refused or cut off, or failed otherwise."""
    match body:
        case {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}:
            raise replies.truncated_error(name, model, limit)
        case {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}:
            raise failures.refused(name, model, "content_filter")
        case {"status": "failed", "error": {"code": str(code)}}:
            status = _TOO_MANY if code == "rate_limit_exceeded" else _OVERLOADED
            failed = replies.Response(status=status, headers=response.headers, body=response.body)
            raise failures.openai(name, model, failed)
        case {"status": "completed", "output": [*output]}:
            items = [item for item in output if isinstance(item, dict)]
        case _:
            raise failures.unreadable(
                name, model, f"it is {failures.single_word(body.get('status')) or 'in no known state'}"
            )
    if any(part.get("type") == "refusal" for part in _content(items)):
        raise failures.refused(name, model, None)
    return items


def _content(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    contents = [item.get("content") for item in items if item.get("type") == "message"]
    return [part for parts in contents if isinstance(parts, list) for part in parts if isinstance(part, dict)]


def _turn(items: list[dict[str, Any]], usage: Usage, model: str) -> Turn:
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
    return Turn(text=text or None, calls=calls, usage=usage, model=model, wire="responses", opaque=list(items))
