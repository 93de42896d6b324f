"""OpenAI, and every server that speaks its chat completions: Ollama, vLLM, a gateway.

Questions go through chat completions, not the Responses API. Chat completions are the one wire format that compatible
servers share, so one reader serves OpenAI and them. OpenAI also keeps no copy of such a prompt unless asked to, while
Responses stores by default. Only turns of a conversation with tools go through OpenAI's Responses API, and ask not to
be stored.
"""

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from touchstone.judges import tracing
from touchstone.judges.adapters import ClientAdapter, counts, failures, replies
from touchstone.judges.adapters.schemas import question_schema, schema_name
from touchstone.judges.base import Answered, JudgeQuestion
from touchstone.judges.conversing import Turn, TurnRequest, Wire

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from touchstone.judges.adapters.sending import Outcome

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
        self._name = provider if compatible else "OpenAI"
        self._compatible = compatible

    def _made(self) -> "AsyncOpenAI":
        keyless = self._compatible and not self._api_key
        key = _KEYLESS if keyless else failures.usable_key(self._name, self._api_key)
        with failures.sdk_of(self._name):
            from openai import AsyncOpenAI

            from touchstone.judges.adapters import connections
        self._http = connections.client()
        return AsyncOpenAI(api_key=key, base_url=self._base_url, http_client=self._http, max_retries=0, timeout=None)

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ASYNC109 - handed on
        """Ask once, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        response = await self._response(
            model,
            CHAT,
            lambda: self.body(model, question),
            timeout=timeout,
        )
        return self.read(model, question, response)

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ASYNC109 - handed on
        """The model's next turn, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        path = CHAT if self._compatible else RESPONSES
        response = await self._response(model, path, lambda: self.turn_body(model, request), timeout=timeout)
        return self.read_turn(model, request, response)

    def turn_body(self, model: str, request: TurnRequest) -> dict[str, Any]:
        """The body of the request for a turn."""
        from touchstone.judges.turns import chat, responses

        return chat.request_body(model, request) if self._compatible else responses.request_body(model, request)

    def read_turn(self, model: str, request: TurnRequest, response: replies.Response) -> Answered[Turn]:
        """The turn in a response. Raises a `JudgeError`, with the counted tokens, if the response holds no turn."""
        from touchstone.judges.turns import chat, responses

        read = chat.read_turn if self._compatible else responses.read_turn
        return read(self._name, model, request, self._successful(model, response))

    def body[T: BaseModel](self, model: str, question: JudgeQuestion[T]) -> dict[str, Any]:
        """The body of the request for a question."""
        return request_body(model, question, compatible=self._compatible)

    async def _response(
        self,
        model: str,
        path: str,
        asked: Callable[[], dict[str, Any]],
        *,
        timeout: float,  # noqa: ASYNC109 - handed on
    ) -> replies.Response:
        """The response to one request. Raises a `JudgeError` if there is none, or its status is not 200."""
        client = self.client()
        import openai

        from touchstone.judges.adapters import sending

        async def send() -> "Outcome":
            return await sending.post_json(openai, client, path, asked(), provider=self._name, seconds=timeout)

        response = await sending.within_timeout(self._name, model, send, timeout=timeout)
        return self._successful(model, response)

    def _successful(self, model: str, response: replies.Response) -> replies.Response:
        """The response, if its status is 200. Raises the `JudgeError` that any other response stands for."""
        if response.status != 200:  # noqa: PLR2004 - HTTP's own
            raise failures.openai(self._name, model, response)
        return response

    def read[T: BaseModel](self, model: str, question: JudgeQuestion[T], response: replies.Response) -> Answered[T]:
        """The answer in a response. Raises a `JudgeError`, with the counted tokens, if the response holds no answer."""
        body = replies.json_object(self._name, model, self._successful(model, response))
        usage, answering = counts.of_completion(body.get("usage")), replies.answering_model(body.get("model"), model)
        with replies.with_usage(usage, answering):
            text = self._text(model, question.max_output_tokens, response, body)
            value = replies.parse_reply(self._name, model, question, text)
        return Answered(value=value, model=answering, usage=usage)

    def _text(self, model: str, limit: int, response: replies.Response, body: dict[str, Any]) -> str:
        """The text of the reply. Raises a `JudgeError` if the reply was refused or cut off, or holds no text."""
        match body:
            case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
                raise failures.refused(self._name, model, None)
            case {"choices": [{"finish_reason": "content_filter"}, *_]}:
                raise failures.refused(self._name, model, "content_filter")
            case {"choices": [{"finish_reason": "length"}, *_]}:
                raise replies.truncated_error(self._name, model, limit)
            case {"choices": [{"message": {"content": str(text)}}, *_]}:
                tracing.note_reply_text(text)
                return replies.embedded_object(text) if self._compatible else text
            case {"error": {"code": int(status)}}:
                # Gateways report the failure of the provider behind them in a response of status 200.
                failed = replies.Response(status=status, headers=response.headers, body=response.body)
                raise failures.openai(self._name, model, failed)
            case _:
                raise failures.unreadable(self._name, model, "it holds no message")


def request_body[T: BaseModel](model: str, question: JudgeQuestion[T], *, compatible: bool) -> dict[str, Any]:
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
