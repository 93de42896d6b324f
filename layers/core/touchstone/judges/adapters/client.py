"""An adapter over an SDK's client: one call, from the request's body to the value in the response."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from touchstone.errors import JudgeError, RefusedError, UnreadableError
from touchstone.judges.adapters import failures, replies
from touchstone.judges.adapters.replies import Response
from touchstone.judges.base import Answered, JudgeQuestion
from touchstone.judges.conversing import ModelRequest, Turn, TurnRequest, Wire
from touchstone.usage import Usage

if TYPE_CHECKING:
    import httpx2

    from touchstone.judges.adapters.connections import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The JSON `body` of a `response` from the provider `name`.

    `model` was asked, for at most `limit` tokens of output.
    """

    name: str
    model: str
    limit: int
    response: Response
    body: dict[str, Any]

    def refused(self, word: str | None) -> RefusedError:
        """The failure of a reply that was refused. `word` is the provider's own for the reason; None: it tells none."""
        return failures.refused(self.name, self.model, word)

    def truncated(self) -> UnreadableError:
        """The failure of a reply that ended at a token limit: ours, or a smaller one that only the provider knows."""
        return UnreadableError(
            f"{self.name} {self.model} was cut off at its limit of output tokens, {self.limit} or a smaller one that "
            "its server sets; ask for less, or allow more there."
        )

    def stopped(self, reason: object) -> UnreadableError:
        """The failure of a reply that stopped for another reason, as the provider names it."""
        return self.unreadable(f"it stopped for {failures.single_word(reason) or 'no known reason'}")

    def unreadable(self, what: str) -> UnreadableError:
        """The failure of a reply with something wrong with it, which `what` names in a clause."""
        return failures.unreadable(self.name, self.model, what)


class ClientAdapter[C](ABC):
    """What the adapters have in common: a key, an address, the SDK's client, and the way of a call through it.

    The client is made on first use. If `base_url` is None, the SDK's own address is used, or that of its variable in
    the environment. `name` is the provider as failures name it. Responses of the batch API are read as those of calls.
    """

    provider: str
    wire: Wire
    name: str
    model_field = "model"
    """The field of a response's body that names the model that answered."""

    def __init__(self, *, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._loading = Lock()
        self._client: C | None = None
        self._http: httpx2.AsyncClient | None = None

    def load(self) -> None:
        """Import the SDK and build the client. Raises `MisconfiguredError` without a usable key."""
        with self._loading:  # judges and batches share an adapter, and may load it side by side
            self.client()

    def client(self) -> C:
        """The SDK's client, made on first use. Raises `MisconfiguredError` without a usable key."""
        if self._client is None:
            self._client = self._made()
        return self._client

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ASYNC109 - handed on
        """Ask once, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        return self.read(model, question, await self._response(model, question, timeout=timeout))

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ASYNC109 - handed on
        """The model's next turn, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        return self.read_turn(model, request, await self._response(model, request, timeout=timeout))

    def read[T: BaseModel](self, model: str, question: JudgeQuestion[T], response: replies.Response) -> Answered[T]:
        """The answer in a response. Raises a `JudgeError`, with the counted tokens, if the response holds no answer."""
        received = self._received(model, question, response)
        usage, answering = self._usage(question, received.body), self._answering(received)
        with replies.with_usage(usage, answering):
            value = replies.parse_reply(self.name, model, question, self._text(received))
        return Answered(value=value, model=answering, usage=usage)

    def read_turn(self, model: str, request: TurnRequest, response: replies.Response) -> Answered[Turn]:
        """The turn in a response. Raises a `JudgeError`, with the counted tokens, if the response holds no turn."""
        received = self._received(model, request, response)
        usage, answering = self._usage(request, received.body), self._answering(received)
        with replies.with_usage(usage, answering):
            turn = self._turn(received).model_copy(update={"usage": usage, "model": answering})
            if not turn.calls and not turn.text:
                raise received.unreadable("it holds neither words nor a call")
            replies.check_line(self.name, model, request, turn)
        return Answered(value=turn, model=answering, usage=usage)

    async def _response(self, model: str, asked: ModelRequest, *, timeout: float) -> replies.Response:  # noqa: ASYNC109 - handed on
        """The response to one request, of any status. Raises a `JudgeError` if there is none."""
        client = self.client()
        from touchstone.judges.adapters import connections

        return await connections.within_timeout(
            self.name, model, lambda: self._send(client, model, asked, seconds=timeout), timeout=timeout
        )

    def _received(self, model: str, asked: ModelRequest, response: replies.Response) -> Received:
        """The JSON body of a response of status 200. Raises the `JudgeError` that any other response stands for."""
        if response.status != HTTPStatus.OK:
            raise self.failure(model, response)
        body = replies.json_object(self.name, model, response)
        return Received(name=self.name, model=model, limit=asked.max_output_tokens, response=response, body=body)

    def _answering(self, received: Received) -> str:
        return replies.answering_model(received.body.get(self.model_field), received.model)

    @abstractmethod
    def body(self, model: str, asked: ModelRequest) -> dict[str, Any]:
        """The body of the request for a question or a turn."""

    @abstractmethod
    def failure(self, model: str, response: replies.Response) -> JudgeError:
        """The failure that a response of another status than 200 stands for."""

    @abstractmethod
    async def _send(self, client: C, model: str, asked: ModelRequest, *, seconds: float) -> "Outcome":
        """The outcome of one request through the SDK. `seconds` is only told to the service."""

    @abstractmethod
    def _usage(self, asked: ModelRequest, body: dict[str, Any]) -> Usage:
        """The usage that the body of a response tells."""

    @abstractmethod
    def _text(self, received: Received) -> str:
        """The text of the reply. Raises a `JudgeError` if the reply was refused or cut off, or holds no text."""

    @abstractmethod
    def _turn(self, received: Received) -> Turn:
        """The turn, still without usage. Raises a `JudgeError` if the reply was refused or cut off."""

    @abstractmethod
    def _made(self) -> C:
        """A new client of the SDK that sends through `_http`, which is made here too."""

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()
        self._client = self._http = None
