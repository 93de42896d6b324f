"""OpenAI, and every server that speaks its chat completions: Ollama, vLLM, a gateway.

Questions go through chat completions, not the Responses API. Chat completions are the one wire format that compatible
servers share, so one reader serves OpenAI and them. OpenAI also keeps no copy of such a prompt unless asked to, while
Responses stores by default. Only turns of a conversation with tools go through OpenAI's Responses API, and ask not to
be stored.
"""

import base64
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from touchstone.errors import JudgeError
from touchstone.judges import tracing
from touchstone.judges.adapters import counts, failures, replies
from touchstone.judges.adapters.client import ClientAdapter, Received
from touchstone.judges.adapters.schemas import question_schema, schema_name
from touchstone.judges.base import JudgeQuestion
from touchstone.judges.conversing import ModelRequest, Turn, TurnRequest, Wire
from touchstone.judges.turns.chat import message_in
from touchstone.usage import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from touchstone.judges.adapters.connections import Outcome

_KEYLESS = "none"
"""The key that is sent to a compatible server that needs none: the SDK insists on a key."""
CHAT, RESPONSES = "/chat/completions", "/responses"
"""The path for questions, and the path for OpenAI's turns."""


class OpenAIAdapter(ClientAdapter["AsyncOpenAI"]):
    """OpenAI's API or, if `compatible` is set, any server that speaks it, which is then known as `provider`.

    If `base_url` is None, the SDK's own address is used, or `OPENAI_BASE_URL`. A compatible server needs no key, and
    takes `max_tokens`, which OpenAI's own newer models refuse. It may know no JSON schema, so its reply is searched for
    the JSON object in it.
    """

    def __init__(
        self, *, api_key: str, base_url: str | None = None, provider: str = "openai", compatible: bool = False
    ) -> None:
        super().__init__(api_key=api_key, base_url=base_url)
        self.provider = provider
        self.wire: Wire = "chat" if compatible else "responses"
        self.name = provider if compatible else "OpenAI"
        self._compatible = compatible

    def _made(self) -> "AsyncOpenAI":
        keyless = self._compatible and not self._api_key
        key = _KEYLESS if keyless else failures.usable_key(self.name, self._api_key)
        with failures.sdk_of(self.name):
            from openai import AsyncOpenAI

            from touchstone.judges.adapters import connections
        self._http = connections.Client()
        return AsyncOpenAI(api_key=key, base_url=self._base_url, http_client=self._http, max_retries=0, timeout=None)

    def body(self, model: str, asked: ModelRequest) -> dict[str, Any]:
        """The body of the request for a question or a turn."""
        if not isinstance(asked, TurnRequest):
            return request_body(model, asked, compatible=self._compatible)
        from touchstone.judges.turns import chat, responses

        return chat.request_body(model, asked) if self._compatible else responses.request_body(model, asked)

    def path(self, asked: ModelRequest) -> str:
        """The path that a request is sent to."""
        return RESPONSES if isinstance(asked, TurnRequest) and not self._compatible else CHAT

    def failure(self, model: str, response: replies.Response) -> JudgeError:
        """The failure that a response of another status than 200 stands for."""
        return failures.openai(self.name, model, response)

    async def _send(self, client: "AsyncOpenAI", model: str, asked: ModelRequest, *, seconds: float) -> "Outcome":
        import openai

        from touchstone.judges.adapters import connections

        body = self.body(model, asked)
        return await connections.post_json(openai, client, self.path(asked), body, provider=self.name, seconds=seconds)

    def _usage(self, asked: ModelRequest, body: dict[str, Any]) -> Usage:
        count = counts.of_response if self.path(asked) == RESPONSES else counts.of_completion
        return count(body.get("usage"))

    def _text(self, received: Received) -> str:
        text = str(message_in(received, in_words=True)["content"])
        tracing.note_reply_text(text)
        return replies.embedded_object(text) if self._compatible else text

    def _turn(self, received: Received) -> Turn:
        from touchstone.judges.turns import chat, responses

        return chat.turn_in(received) if self._compatible else responses.turn_in(received)


def request_body(model: str, question: JudgeQuestion[BaseModel], *, compatible: bool) -> dict[str, Any]:
    """The body of a chat completion."""
    content: str | list[dict[str, Any]] = question.prompt.user
    if question.images:
        pictures = [
            {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{_base64(image.data)}"}}
            for image in question.images
        ]
        content = [{"type": "text", "text": question.prompt.user}, *pictures]
    system = [{"role": "system", "content": question.prompt.system}] if question.prompt.system else []
    body: dict[str, Any] = {
        "model": model,
        "messages": [*system, {"role": "user", "content": content}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": schema_name(question.reply_type),
                "strict": True,
                "schema": question_schema(question),
            },
        },
        "max_tokens" if compatible else "max_completion_tokens": question.max_output_tokens,
    }
    if question.temperature is not None:
        body["temperature"] = question.temperature
    return body


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
