"""Gemini, through google-genai: single questions, and turns of a conversation with tools.

What the model thought is signed. The signature stands beside the call that the thought led to, and the service refuses
a conversation without it. So a turn is given back part by part, as it came.
"""

import base64
import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from touchstone.errors import JudgeError
from touchstone.judges.adapters import counts, failures, replies
from touchstone.judges.adapters.client import ClientAdapter, Received
from touchstone.judges.adapters.schemas import question_schema, tool_schema
from touchstone.judges.base import JudgeQuestion
from touchstone.judges.conversing import (
    UNNUMBERED,
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
    from google.genai import Client
    from google.genai.types import Content, GenerateContentConfig

    from touchstone.judges.adapters.connections import Outcome

NAME = "Gemini"
"""The provider, as failures name it."""
_DECLINED = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"}
)
"""Values of `finishReason` that are refusals."""
_SHORTEST_DEADLINE = 10.0
"""Seconds: the SDK sends its timeout as the server's deadline, and the service refuses a shorter one with HTTP 400."""


class Uncopied(dict[str, Any]):
    """A part of a body that nobody changes, so its deep copy is the part itself.

    The SDK deep-copies its configuration, and all that is in it, at every call.
    """

    def __deepcopy__(self, memo: object) -> Self:
        return self


class GeminiAdapter(ClientAdapter["Client"]):
    """The Gemini API. If `base_url` is None, the SDK's own address is used, or `GOOGLE_GEMINI_BASE_URL`.

    The request body is written as the API documents it and passed as the SDK's `extra_body`: converting the SDK's typed
    configuration costs four times as much as all the rest of a call. The SDK's aiohttp client is not used: it repeats a
    request after a lost connection, unasked, even if retries are off.
    """

    provider = "gemini"
    wire: Wire = "gemini"
    name = NAME
    model_field = "modelVersion"

    def _made(self) -> "Client":
        key = failures.usable_key(NAME, self._api_key)
        with failures.sdk_of(NAME):
            from google.genai import Client
            from google.genai.types import HttpOptions, HttpResponse

            from touchstone.judges.adapters import connections
        self._http = connections.Client()
        # Both clients and the certificates for websockets are given, so that the SDK loads no certificates of its own.
        options = HttpOptions(
            base_url=self._base_url,
            httpx_async_client=self._http,
            httpx_client=connections.unused_client(),
            async_client_args={"ssl": connections.certificates()},
        )
        # The SDK builds its models on first use, which takes some 0.1 s. Here, no caller's time is spent on it.
        _config_type()(http_options=options.model_copy())
        _no_contents()
        HttpResponse(headers={}, body="")
        return Client(api_key=key, vertexai=False, http_options=options)

    def body(self, model: str, asked: ModelRequest) -> dict[str, Any]:  # noqa: ARG002 - the address names the model
        """The body of a `generateContent` request."""
        return turn_body(asked) if isinstance(asked, TurnRequest) else request_body(asked)

    def failure(self, model: str, response: replies.Response) -> JudgeError:
        """The failure that a response of another status than 200 stands for."""
        return failures.gemini(model, response)

    async def _send(self, client: "Client", model: str, asked: ModelRequest, *, seconds: float) -> "Outcome":
        return await _send(client, model, self.body(model, asked), seconds=seconds)

    def _usage(self, asked: ModelRequest, body: dict[str, Any]) -> Usage:  # noqa: ARG002 - told alike for both
        return counts.of_content(body.get("usageMetadata"))

    def _text(self, received: Received) -> str:
        return "".join(str(part.get("text", "")) for part in _parts(received) if not part.get("thought"))

    def _turn(self, received: Received) -> Turn:
        return _turn(received.model, _parts(received))


async def _send(client: "Client", model: str, body: dict[str, Any], *, seconds: float) -> "Outcome":
    """One request through the SDK."""
    from google.genai.errors import APIError
    from google.genai.types import HttpOptions

    from touchstone.judges.adapters import connections

    deadline = math.ceil(max(seconds, _SHORTEST_DEADLINE) * 1000)
    config = _config_type()(
        should_return_http_response=True, http_options=HttpOptions(timeout=deadline, extra_body=body)
    )
    try:
        # The SDK insists on contents. The contents of the body replace these.
        result = await client.aio.models.generate_content(model=model, contents=_no_contents(), config=config)
    except APIError as error:
        return connections.to_response(error.response)
    raw = result.sdk_http_response
    return replies.Response(status=200, headers={}, body=raw.body if raw and raw.body else "")


@cache
def _config_type() -> "type[GenerateContentConfig]":
    """The SDK's configuration type, made quick to search and to copy.

    At every call, the SDK asks some sixty times whether a name is `in` the model, before it looks at the attribute.
    Pydantic answers by walking all fields, and the answer is always no, since it walks pairs. `__contains__` says no at
    once. The SDK also deep-copies the configuration twice, with all that the body holds. Nobody else has the
    configuration, so a shallow copy is enough.
    """
    from google.genai.types import GenerateContentConfig

    class QuickConfig(GenerateContentConfig):
        def __contains__(self, name: object) -> bool:
            return False

        def __deepcopy__(self, memo: object = None) -> "QuickConfig":
            return self.model_copy()

    return QuickConfig


@cache
def _no_contents() -> "Content":
    """Contents without a part: of all forms that the SDK takes, it processes this one fastest."""
    from google.genai.types import Content

    return Content(role="user")


def request_body(question: JudgeQuestion[Any]) -> dict[str, Any]:
    """The body of a `generateContent` request."""
    pictures = [
        {"inlineData": {"mimeType": image.media_type, "data": base64.b64encode(image.data).decode()}}
        for image in question.images
    ]
    config = {
        "responseMimeType": "application/json",
        "responseJsonSchema": Uncopied(question_schema(question)),
        "maxOutputTokens": question.max_output_tokens,
    }
    if question.temperature is not None:
        config["temperature"] = question.temperature
    body: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [*pictures, {"text": question.prompt.user}]}],
        "generationConfig": config,
    }
    if question.prompt.system:
        body["systemInstruction"] = {"parts": [{"text": question.prompt.system}]}
    return body


def _parts(received: Received) -> list[Any]:
    """The parts of the reply. Raises a `JudgeError` if the reply was refused, cut off or is unreadable."""
    match received.body:
        case {"promptFeedback": {"blockReason": reason}}:
            raise received.refused(failures.single_word(reason))
        case {"candidates": [{"finishReason": "MAX_TOKENS"}, *_]}:
            raise received.truncated()
        case {"candidates": [{"finishReason": str(reason)}, *_]} if reason in _DECLINED:
            raise received.refused(reason)
        case {"candidates": [{"finishReason": "STOP", "content": {"parts": [*parts]}}, *_]} if all(
            isinstance(part, dict) for part in parts
        ):
            return parts
        case {"candidates": [{"finishReason": reason}, *_]}:
            raise received.stopped(reason)
        case _:
            raise received.unreadable("it holds no candidate")


def turn_body(request: TurnRequest) -> dict[str, Any]:
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
                "parametersJsonSchema": Uncopied(tool_schema(tool, request.line_id)),
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
    # Older models give calls no ids and want none in results: they match results to calls by their order.
    if not result.call_id.startswith(UNNUMBERED):
        response["id"] = result.call_id
    return {"functionResponse": response}


def _turn(model: str, parts: list[Any]) -> Turn:
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
    return Turn(text=text or None, calls=calls, model=model, wire="gemini", opaque={"role": "model", "parts": kept})
