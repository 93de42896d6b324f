"""Judges that are asked through batches: a question is answered by a brought reply, or is noted as wanted.

A line is replayed again and again from the beginning, each time with the replies that its batches have brought by then.
When it has no open question, its record is the same as if each judge had answered at once, at the price of a batch.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from pydantic import BaseModel

from touchstone.errors import LimitError, MisconfiguredError
from touchstone.judges.adapters import Adapter
from touchstone.judges.base import Answered, Judge, JudgeQuestion, Purpose, ReplyCache, Tier, judge_for_work
from touchstone.judges.batches import BatchReply, ProviderBatches, as_line
from touchstone.judges.conversing import ModelRequest, Turn, TurnRequest, Wire
from touchstone.judges.keys import Keys, Place, missing_key
from touchstone.judges.opening import Connect, Judges, batches_of, connect
from touchstone.judges.questions import address_of, address_of_turn
from touchstone.judges.registry import Provider, Registry
from touchstone.judges.spends import Spend

SAMPLE_ID = "0" * 26
"""A stand-in for the id of a line in a batch, as long as one."""
NO_KEY = "none"
"""A stand-in for a key where nothing is sent."""


class AwaitedError(LimitError):
    """The question has to be answered by a batch first; nothing was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingQuestion:
    """A question, or a conversation's first turn, that no batch has answered yet.

    `question` includes the room for thinking with which it is sent.
    """

    provider: str
    model: str
    address: str
    question: ModelRequest

    @property
    def shared(self) -> bool:
        """Whether the reply to an equal question may answer it. A turn of a conversation never shares a reply."""
        return isinstance(self.question, JudgeQuestion) and self.question.use_cache

    @property
    def sample_line(self) -> ModelRequest:
        """The question as a line of a batch asks it, to see its size and its cost before there is a batch."""
        return as_line(self.question, SAMPLE_ID)


@dataclass(slots=True)
class CheapLine:
    """The replies that batches brought for one line, by the addresses of its questions, and its open questions.

    `used` counts the replies already given, by address.
    """

    replies: Mapping[str, Sequence[BatchReply]]
    wanted: list[WaitingQuestion] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)


class BatchApis:
    """The batch APIs of the providers that have a key, each opened once. An instance belongs to one event loop."""

    def __init__(self, registry: Registry, keys: Keys, *, connect: Connect = connect) -> None:
        self.registry = registry
        self.keys = keys
        self._connect = connect
        self._adapters: dict[str, Adapter] = {}
        self._batches: dict[str, ProviderBatches | None] = {}

    @cached_property
    def prices(self) -> Registry:
        """The registry with the prices of batches, for the accounting of batch replies.

        The dates on which models retire are left out: the code that asks at once has warned of them.
        """
        halved = self.registry.by_batch()
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

    def batches(self, name: str) -> ProviderBatches | None:
        """The batch API of a provider. None if it has none. Raises `MisconfiguredError` if its key is missing."""
        provider = self.registry.provider(name)
        if provider.needs_key and self.keys.get(name) is None:
            raise missing_key(provider, self.keys.place)
        return self.reading(name)

    def reading(self, name: str) -> ProviderBatches | None:
        """As `batches`, for reading replies: that needs no key."""
        if name not in self._batches:
            provider = self.registry.provider(name)
            adapter = self._connect(provider, self.keys.get(name))
            self._adapters[name] = adapter
            self._batches[name] = batches_of(provider, adapter)
        return self._batches[name]

    async def load(self, name: str) -> None:
        """Load a provider's SDK in another thread, so that the event loop is not blocked."""
        self.batches(name)
        await asyncio.to_thread(self._adapters[name].load)

    async def aclose(self) -> None:
        """Close the connections."""
        for adapter in self._adapters.values():
            await adapter.aclose()


@dataclass(frozen=True, slots=True)
class _ReadingKeys:
    """The keys, with a stand-in for one provider if it has no key any more: its replies are read without a key."""

    keys: Keys
    provider: str

    @property
    def place(self) -> Place:
        return self.keys.place

    def get(self, provider: str) -> str | None:
        key = self.keys.get(provider)
        return NO_KEY if key is None and provider == self.provider else key


class ReplayJudges(Judges):
    """The judges of one line. They answer with the replies that batches brought for it.

    Judges of the provider `brought_by`, if given, need no key: replies that were paid for can be read when the key is
    gone. `began` is when the work began whose line it is (see `WorkJudge`); None if its replies know no rules but their
    schemas.
    """

    def __init__(
        self,
        apis: BatchApis,
        work: CheapLine,
        *,
        prices: Registry,
        cache: ReplyCache | None,
        brought_by: str | None = None,
        began: datetime | None = None,
    ) -> None:
        self._began = began
        super().__init__(
            prices,
            apis.keys if brought_by is None else _ReadingKeys(apis.keys, brought_by),
            cache=None if cache is None else _OthersReplies(cache, work),
            connect=lambda provider, _key: _Replay(apis, provider, work),
            sleep=_at_once,
        )

    def get(self, provider: str, tier: Tier, *, purpose: Purpose = "fresh") -> Judge:
        """The judge for a tier of a provider, asked for the work of this line."""
        return judge_for_work(super().get(provider, tier, purpose=purpose), self._began)

    def named(self, provider: str, model: str) -> Judge:
        """The judge for one model of a provider, asked for the work of this line."""
        return judge_for_work(super().named(provider, model), self._began)


@asynccontextmanager
async def replayed_line(
    apis: BatchApis,
    brought: Mapping[str, Sequence[BatchReply]],
    *,
    cache: ReplyCache | None,
    brought_by: str | None = None,
    began: datetime | None = None,
) -> AsyncIterator[tuple[ReplayJudges, CheapLine]]:
    """A line with the replies that batches `brought` for it, and its judges, at the prices of batches.

    `began`: when the work began that asks (UTC); see `JudgeQuestion`. The judges are closed at the end.
    """
    work = CheapLine(brought)
    replayed = ReplayJudges(apis, work, prices=apis.prices, cache=cache, brought_by=brought_by, began=began)
    async with aclosing(replayed) as judges:
        yield judges, work


def with_savings(spends: Sequence[Spend], registry: Registry) -> tuple[Spend, ...]:
    """The spends; those of batches have their saving added."""
    return tuple(spend if spend.line_id is None else _with_saving(spend, registry) for spend in spends)


def _with_saving(spend: Spend, registry: Registry) -> Spend:
    factor = registry.provider(spend.provider).batch_factor_of(spend.model)
    if spend.cost_usd is None or factor is None or spend.saved_usd is not None:
        return spend
    return spend.model_copy(update={"saved_usd": spend.cost_usd / factor - spend.cost_usd})


class _Replay:
    """An adapter that sends nothing and reads brought replies."""

    wire: Wire = "chat"

    def __init__(self, apis: BatchApis, listed: Provider, work: CheapLine) -> None:
        self.provider = listed.name
        self._apis = apis
        self._endpoint = listed.base_url or ""
        self._work = work

    def load(self) -> None:
        """Do nothing: reading replies needs no SDK."""

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    async def ask[T: BaseModel](self, model: str, question: JudgeQuestion[T], *, timeout: float) -> Answered[T]:  # noqa: ARG002, ASYNC109 - the adapters' face
        """The next reply that batches brought for this question. Raises `AwaitedError` if there is none left."""
        as_asked = replace(question, max_output_tokens=question.max_output_tokens - self._thinking(model))
        address = address_of(as_asked, recipient=(self.provider, self._endpoint, model))
        batches, reply = self._next(model, question, address)
        return batches.read(model, as_line(question, reply.line_id), reply)

    async def converse(self, model: str, request: TurnRequest, *, timeout: float) -> Answered[Turn]:  # noqa: ARG002, ASYNC109 - the adapters' face
        """The first turn of a conversation, as `ask` gives a reply. Later turns do not go by batches."""
        if request.conversation.wire is not None:
            raise MisconfiguredError(f"{self.provider}'s {model} goes on with no conversation in a batch.", sent=False)
        as_asked = replace(request, max_output_tokens=request.max_output_tokens - self._thinking(model))
        address = address_of_turn(as_asked, recipient=(self.provider, self._endpoint, model))
        batches, reply = self._next(model, request, address)
        return batches.read_turn(model, as_line(request, reply.line_id), reply)

    def _thinking(self, model: str) -> int:
        return self._apis.registry.find(self.provider, model).thinking_tokens

    def _next(self, model: str, asked: ModelRequest, address: str) -> tuple[ProviderBatches, BatchReply]:
        """The batch API that reads the next reply, and the reply. Raises `AwaitedError` if there is none left."""
        brought = self._work.replies.get(address, ())
        number = self._work.used[address]
        batches = self._apis.reading(self.provider)
        if number < len(brought) and batches is not None:
            self._work.used[address] += 1
            return batches, brought[number]
        self._work.wanted.append(WaitingQuestion(provider=self.provider, model=model, address=address, question=asked))
        raise AwaitedError(f"{self.provider}'s {model} answers this in a batch.", until=None)


@dataclass(frozen=True, slots=True)
class _OthersReplies:
    """The cache without the replies of this line's own batches: the line pays for those, and its record must say so."""

    cache: ReplyCache
    work: CheapLine

    async def get(self, key: str) -> str | None:
        return None if key in self.work.replies else await self.cache.get(key)

    async def put(self, key: str, reply_json: str) -> None:
        await self.cache.put(key, reply_json)


async def _at_once(_seconds: float) -> None:
    """Do not wait: the replies are there already."""
