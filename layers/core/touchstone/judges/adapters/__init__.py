"""The interface of a provider's adapter, and what all adapters share."""

from abc import ABC, abstractmethod
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel

from touchstone.judges.base import Answered, JudgeQuestion
from touchstone.judges.conversing import Turn, TurnRequest, Wire

if TYPE_CHECKING:
    import httpx2


class Adapter(Protocol):
    """One provider's SDK behind the common face. One call in, one call out: adapters never retry."""

    provider: str
    wire: Wire

    def load(self) -> None:
        """Import the SDK and build the client, so that no reserved unit of quota waits for it. Idempotent."""
        ...

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ASYNC109 - handed to the SDK
        """Ask once, within `timeout` seconds in all. Raises a `JudgeError` for every failure."""
        ...

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ASYNC109 - handed to the SDK
        """The model's next turn, by one call within `timeout` seconds in all. Raises a `JudgeError` for every failure.

        All earlier turns of the conversation are of the adapter's own `wire`.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class ClientAdapter[C](ABC):
    """What the adapters have in common: a key, an address, and the SDK's client, which is made on first use.

    If `base_url` is None, the SDK's own address is used, or that of its variable in the environment.
    """

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

    @abstractmethod
    def _made(self) -> C:
        """A new client of the SDK that sends through `_http`, which is made here too."""

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()
        self._client = self._http = None
