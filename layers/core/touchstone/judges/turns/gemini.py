"""Turns in Gemini's `generateContent`.

What the model thought is signed, and the signature stands beside the call it led to: without it the service refuses the
conversation. So a turn is given back part by part as it came.
"""

import json
from typing import Any

from touchstone.judges.adapters import counts, failures, replies
from touchstone.judges.adapters.schemas import reply_schema
from touchstone.judges.base import Answered
from touchstone.judges.conversing import (
    UNNUMBERED,
    Message,
    ToolResult,
    ToolResults,
    Turn,
    TurnRequest,
    UserMessage,
    numbered,
)
from touchstone.judges.gemini import NAME, Uncopied, candidate_parts
from touchstone.usage import Usage


def request_body(request: TurnRequest) -> dict[str, Any]:
    """The body of a `generateContent` request."""
    config: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
    if request.temperature is not None:
        config["temperature"] = request.temperature
    body: dict[str, Any] = {
        "contents": [Uncopied(_content(message)) for message in request.conversation.messages],
        "generationConfig": config,
    }
    if request.tools:
        declared = [
            {
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": Uncopied(reply_schema(tool.parameters)),
            }
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declared}]
    if request.conversation.system:
        body["systemInstruction"] = {"parts": [{"text": request.conversation.system}]}
    return body


def _content(message: Message) -> dict[str, Any]:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "parts": [{"text": text}]}
        case ToolResults(results=results):
            return {"role": "user", "parts": [_response(result) for result in results]}
        case Turn(opaque=dict(content)):
            return content
        case Turn():
            raise TypeError("A turn of Gemini's is a content object.")


def _response(result: ToolResult) -> dict[str, Any]:
    response: dict[str, Any] = {
        "name": result.name,
        "response": {"error" if result.failed else "result": result.text},
    }
    # Older models number no calls, and then no results either: those are matched by their order.
    if not result.call_id.startswith(UNNUMBERED):
        response["id"] = result.call_id
    return {"functionResponse": response}


def read_turn(model: str, request: TurnRequest, body: dict[str, Any]) -> Answered[Turn]:
    """The turn in a body of status 200. Raises `RefusedError` or `UnreadableError`, with what was counted."""
    usage = counts.of_content(body.get("usageMetadata"))
    answering = replies.model_named(body.get("modelVersion"), model)
    with replies.counted(usage, answering):
        parts = candidate_parts(model, request.max_output_tokens, body)
        turn = _turn(parts, usage, answering)
        if not turn.calls and not turn.text:
            raise failures.unreadable(NAME, model, "it holds neither words nor a call")
    return Answered(value=turn, model=answering, usage=turn.usage)


def _turn(parts: list[Any], usage: Usage, model: str) -> Turn:
    kept = [part for part in parts if isinstance(part, dict)]
    text = "".join(str(part.get("text", "")) for part in kept if not part.get("thought"))
    called = [part["functionCall"] for part in kept if isinstance(part.get("functionCall"), dict)]
    calls = numbered(
        [
            {
                "id": str(call.get("id") or ""),
                "name": str(call.get("name", "")),
                "arguments": json.dumps(call.get("args") or {}, ensure_ascii=False),
            }
            for call in called
        ]
    )
    return Turn(
        text=text or None, calls=calls, usage=usage, model=model, wire="gemini", opaque={"role": "model", "parts": kept}
    )
