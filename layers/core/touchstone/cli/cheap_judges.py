"""Judges that are asked through batches: a question is answered by what a batch brought, or is noted as wanted.

A line is done again and again from the beginning, each time with what its batches have brought by then. Where it asks
for nothing more, its record is the same as if each judge had answered at once, at the price of a batch.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from touchstone.errors import LimitError, MisconfiguredError
from touchstone.judges.base import Adapter, Answered, Question, ReplyCache
from touchstone.judges.batches import Batches, BatchReply, as_line
from touchstone.judges.batches.opening import batches_of
from touchstone.judges.conversing import Turn, TurnRequest, Wire
from touchstone.judges.keys import Keys
from touchstone.judges.opening import Judges, connect
from touchstone.judges.questions import address_of
from touchstone.judges.registry import Provider, Registry
from touchstone.judges.spends import Spend


class AwaitedError(LimitError):
    """The question has to be answered by a batch first; nothing was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A question that no batch has answered yet. `question` has the room for thinking that it is sent with."""

    provider: str
    model: str
    address: str
    question: Question[Any]


@dataclass(slots=True)
class LineWork:
    """What one line has of batches, by the addresses of its questions, and what it wants beyond that."""

    replies: Mapping[str, Sequence[BatchReply]]
    wanted: list[Wanted] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)


class Desks:
    """The batch APIs of the providers that have a key, each opened once. Belongs to one event loop."""

    def __init__(self, registry: Registry, keys: Keys) -> None:
        self.registry = registry
        self.keys = keys
        self._adapters: dict[str, Adapter] = {}
        self._batches: dict[str, Batches | None] = {}

    def batches(self, name: str) -> Batches | None:
        """The batch API of a provider; None where it has none."""
        if name not in self._batches:
            provider = self.registry.provider(name)
            adapter = connect(provider, self.keys.get(name))
            self._adapters[name] = adapter
            self._batches[name] = batches_of(provider, adapter)
        return self._batches[name]

    async def load(self, name: str) -> None:
        """Load a provider's SDK, off the event loop."""
        self.batches(name)
        await asyncio.to_thread(self._adapters[name].load)

    async def aclose(self) -> None:
        """Close the connections."""
        for adapter in self._adapters.values():
            await adapter.aclose()


class ReplayJudges(Judges):
    """The judges of one line, who answer with what batches brought for it."""

    def __init__(self, desks: Desks, work: LineWork, *, prices: Registry, cache: ReplyCache | None) -> None:
        super().__init__(
            prices,
            desks.keys,
            cache=None if cache is None else _OthersReplies(cache, work),
            connect=lambda provider, _key: _Replay(desks, provider, work),
            sleep=_at_once,
        )


def prices_of_batches(registry: Registry) -> Registry:
    """The registry by which replies of batches are accounted for.

    The ends of models are left out: whoever asks at once has warned of them.
    """
    halved = registry.by_batch()
    return Registry(
        {
            name: provider.model_copy(
                update={
                    "models": {
                        each: model.model_copy(update={"retires": None}) for each, model in provider.models.items()
                    }
                }
            )
            for name, provider in halved.providers.items()
        }
    )


def with_savings(spends: Sequence[Spend], registry: Registry) -> tuple[Spend, ...]:
    """The spends, those of batches with what that saved."""
    return tuple(spend if spend.line_id is None else _with_saving(spend, registry) for spend in spends)


def _with_saving(spend: Spend, registry: Registry) -> Spend:
    factor = registry.provider(spend.provider).batch_factor_of(spend.model)
    if spend.cost_usd is None or factor is None or spend.saved_usd is not None:
        return spend
    return spend.model_copy(update={"saved_usd": spend.cost_usd / factor - spend.cost_usd})


class _Replay:
    """An adapter that sends nothing."""

    wire: Wire = "chat"

    def __init__(self, desks: Desks, listed: Provider, work: LineWork) -> None:
        self.provider = listed.name
        self._desks = desks
        self._endpoint = listed.base_url or ""
        self._work = work

    def load(self) -> None:
        """Nothing is needed to read replies."""

    async def aclose(self) -> None:
        """Nothing is open."""

    async def ask[T: BaseModel](self, model: str, question: Question[T], *, timeout: float) -> Answered[T]:  # noqa: ARG002, ASYNC109 - the adapters' face
        """The next reply that batches brought for this question. Raises `AwaitedError` where there is none left."""
        thinking = self._desks.registry.find(self.provider, model).thinking_tokens
        as_asked = replace(question, max_output_tokens=question.max_output_tokens - thinking)
        address = address_of(as_asked, asked=(self.provider, self._endpoint, model))
        brought = self._work.replies.get(address, ())
        number = self._work.used[address]
        batches = self._desks.batches(self.provider)
        if number < len(brought) and batches is not None:
            self._work.used[address] += 1
            return batches.read(model, as_line(question, brought[number].line_id), brought[number])
        self._work.wanted.append(Wanted(provider=self.provider, model=model, address=address, question=question))
        raise AwaitedError(f"{self.provider}'s {model} answers this in a batch.", until=None)

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ARG002, ASYNC109 - the adapters' face
        """Conversations do not go by batches."""
        raise MisconfiguredError(f"{self.provider}'s {model} holds no conversation in a batch.", sent=False)


@dataclass(frozen=True, slots=True)
class _OthersReplies:
    """The cache without what this line's own batches brought: that is paid for by the line, and told in its record."""

    cache: ReplyCache
    work: LineWork

    async def get(self, key: str) -> str | None:
        return None if key in self.work.replies else await self.cache.get(key)

    async def put(self, key: str, reply_json: str) -> None:
        await self.cache.put(key, reply_json)


async def _at_once(_seconds: float) -> None:
    """A reply that is there already is not waited for."""
