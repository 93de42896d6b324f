"""The interface of a provider's adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pydantic import BaseModel

    from touchstone.judges.base import Answered, JudgeQuestion
    from touchstone.judges.conversing import Turn, TurnRequest, Wire


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
