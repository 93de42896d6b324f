"""Opening judges: which providers have a key, and the model that serves a tier."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from touchstone.clock import Clock, system_clock
from touchstone.errors import MisconfiguredError, SettingsError
from touchstone.judges import retirement
from touchstone.judges.adapters import Adapter
from touchstone.judges.base import Admission, Judge, Purpose, ReplyCache, Tier
from touchstone.judges.batches.base import ProviderBatches
from touchstone.judges.caller import JudgeContext, ProviderConnection
from touchstone.judges.keys import Keys, account_of, missing_key, remedy
from touchstone.judges.model_judge import ModelJudge
from touchstone.judges.registry import Model, Provider, Registry

if TYPE_CHECKING:
    from touchstone.judges.conversing import Conversing

PREFERRED_PROVIDERS: dict[Tier, str] = {"verify": "gemini", "evaluate": "gemini"}
"""The provider that is asked first for a tier, if it has a key. For other tiers the registry's order decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierModel:
    """The model that serves a tier, and the account whose quota its calls use."""

    tier: Tier
    account: str
    model: Model


type Connect = Callable[[Provider, str | None], Adapter]
"""Makes the adapter of a provider with its key (None if the provider wants none)."""


def connect(provider: Provider, key: str | None) -> Adapter:
    """The adapter for a provider. Imports its module, not the SDK behind it."""
    match provider.kind:
        case "gemini":
            from touchstone.judges.gemini import GeminiAdapter

            return GeminiAdapter(api_key=key or "", base_url=provider.base_url)
        case "anthropic":
            from touchstone.judges.anthropic import AnthropicAdapter

            return AnthropicAdapter(api_key=key or "", base_url=provider.base_url)
        case "openai" | "compatible" as kind:
            from touchstone.judges.openai import OpenAIAdapter

            return OpenAIAdapter(
                api_key=key or "", base_url=provider.base_url, provider=provider.name, compatible=kind == "compatible"
            )


@dataclass(frozen=True, slots=True)
class _Opened:
    """A connection, and the key that it was made with. No representation shows the key."""

    key: str | None = field(repr=False)
    connection: ProviderConnection


class Judges:
    """The judges of a deployment or a notebook, for one tenant.

    ```python
    registry = load_registry()
    judges = Judges(registry, EnvironmentKeys(registry), cache=MemoryCache())
    judge = judges.default("verify")  # None without any key
    reply = await judge.ask(question, deadline=Deadline.after(5.0))
    ```

    If `admission` is None, no quota is kept. If `cache` is None, every question is asked. `connect`, `sleep` and `draw`
    (numbers in [0, 1) for the jitter of retries) are parameters for tests. The object belongs to one event loop; call
    `aclose` at the end.
    """

    def __init__(
        self,
        registry: Registry,
        keys: Keys,
        *,
        admission: Admission | None = None,
        cache: ReplyCache | None = None,
        tenant: str = "local",
        clock: Clock = system_clock,
        connect: Connect = connect,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._registry = registry
        self._keys = keys
        self._connect = connect
        self._context = JudgeContext(
            tenant=tenant,
            clock=clock,
            admission=admission,
            cache=cache,
            sleep=sleep,
            draw=draw,
            secrets=lambda: filter(None, map(keys.get, registry.providers)),
        )
        self._connections: dict[str, _Opened] = {}
        self._outdated: list[ProviderConnection] = []
        self._judges: dict[tuple[str, str, Purpose], ModelJudge] = {}
        self._warned: set[str] = set()

    @property
    def remedy(self) -> str:
        """What to do if no provider has a key, as the end of a sentence: which variable to set, and where."""
        return remedy(self._keys.place)

    def available(self) -> tuple[str, ...]:
        """The providers that have a key, or want none, in the registry's order."""
        providers = self._registry.providers.items()
        return tuple(name for name, one in providers if not one.needs_key or self._keys.get(name) is not None)

    def get(self, provider: str, tier: Tier, *, purpose: Purpose = "fresh") -> Judge:
        """The judge for a tier of a provider.

        Raises `SettingsError` for a provider that is not listed, `MisconfiguredError` for a provider without a key.
        Warns with `RetirementWarning`, once for each model, if the model has ended or ends within a month.
        """
        return self._model_judge(provider, tier, purpose)

    def named(self, provider: str, model: str) -> Judge:
        """The judge for one model of a provider, whatever tier the model serves.

        Raises and warns as `get` does. Raises `SettingsError` also for a model that is not listed.
        """
        connection = self._connection(self._registry.provider(provider).name)
        return self._judge_of(self._registry.find(provider, model), connection, "fresh")

    def conversing(self, tier: Tier, *, provider: str | None = None) -> Conversing | None:
        """The model to converse with for a tier: that of the named provider, or the one that `default` would choose.

        None if no provider is named and none has a key. Raises and warns as `get` does for the named provider.
        """
        name = self._first(tier) if provider is None else provider
        return None if name is None else self._model_judge(name, tier, "fresh")

    def _model_judge(self, provider: str, tier: Tier, purpose: Purpose) -> ModelJudge:
        provider = self._registry.provider(provider).name
        connection = self._connection(provider)
        return self._judge_of(self._registry.model(provider, tier), connection, purpose)

    def _judge_of(self, model: Model, connection: ProviderConnection, purpose: Purpose) -> ModelJudge:
        seat = (model.provider, model.name, purpose)
        if (known := self._judges.get(seat)) is not None:
            return known
        judge = ModelJudge(model, connection, self._context, purpose=purpose)
        self._judges[seat] = judge
        if model.name not in self._warned:
            self._warned.add(model.name)
            retirement.warn(model, on=self._context.clock().date())
        return judge

    def default(self, tier: Tier, *, purpose: Purpose = "fresh") -> Judge | None:
        """The default judge for a tier: Gemini verifies and evaluates, else the first provider that can be asked.

        None if no provider can be asked.
        """
        provider = self._first(tier)
        return None if provider is None else self.get(provider, tier, purpose=purpose)

    def another(self, tier: Tier, *, than: str) -> Judge | None:
        """The judge for a tier of the first provider other than `than` that can be asked. None if there is no other."""
        provider = next((name for name in self.available() if name != than), None)
        return None if provider is None else self.get(provider, tier)

    def distinct(self, tier: Tier, most: int) -> tuple[Judge, ...]:
        """Different judges, `most` of them or as many as there are: the default judge, then those of other providers.

        If fewer providers than `most` can be asked, their strong models follow.
        """
        first = self._first(tier)
        names = sorted(self.available(), key=lambda name: name != first)
        tiers: tuple[Tier, ...] = (tier, "strong")
        found: dict[tuple[str, str], Tier] = {}
        for each in tiers:
            for name in names:
                found.setdefault((name, self._registry.model(name, each).name), each)
        seats = list(found.items())[:most]
        return tuple(self.get(name, each) for (name, _), each in seats)

    async def load(self, tier: Tier) -> None:
        """Load the SDK that `default` needs for a tier, so that no question waits for it later.

        Does nothing if no provider has a key.
        """
        if (name := self._first(tier)) is not None:
            await self._connection(name).load()

    def tier_model(self, tier: Tier) -> TierModel | None:
        """The model that `default` would choose for a tier, and the account whose quota it uses.

        None if no provider has a key.
        """
        if (name := self._first(tier)) is None:
            return None
        account = account_of(self._registry.provider(name), self._keys.get(name))
        return TierModel(tier=tier, account=account, model=self._registry.model(name, tier))

    async def aclose(self) -> None:
        """Wait until all calls are settled, then close the connections."""
        while self._context.unfinished:
            await asyncio.wait(set(self._context.unfinished))
        connections = [*self._outdated, *(opened.connection for opened in self._connections.values())]
        self._outdated, self._connections = [], {}
        self._judges.clear()
        for connection in connections:
            if connection.loaded:
                await connection.adapter.aclose()

    def _first(self, tier: Tier) -> str | None:
        available = self.available()
        first = PREFERRED_PROVIDERS.get(tier)
        return first if first in available else next(iter(available), None)

    def _connection(self, name: str) -> ProviderConnection:
        """The connection with the provider's present key.

        After a rotation of the key, judges that are made anew get a new connection. Questions that are being asked keep
        the old one, which is closed at the end. Raises `MisconfiguredError` if the provider needs a key and has none.
        """
        provider = self._registry.provider(name)
        key = self._keys.get(name)
        if (known := self._connections.get(name)) is not None:
            if known.key == key:
                return known.connection
            self._outdated.append(self._connections.pop(name).connection)
            self._judges = {seat: judge for seat, judge in self._judges.items() if seat[0] != name}
        if key is None and provider.needs_key:
            raise missing_key(provider, self._keys.place)
        connection = ProviderConnection(
            self._connect(provider, key), account_of(provider, key), provider.base_url or "", key
        )
        self._connections[name] = _Opened(key, connection)
        return connection


def judge_chosen(judges: Judges, provider: str | None, tier: Tier, *, without_a_key: str) -> Judge:
    """The judge for a tier of the provider that the user chose. If `provider` is None, `Judges.default` chooses.

    Raises `SettingsError`, naming the variable to set, if no judge can be asked. `without_a_key` begins its sentence if
    no provider has a key: it says what cannot be done then.
    """
    if provider is not None:
        try:
            return judges.get(provider, tier)
        except MisconfiguredError as error:
            raise SettingsError(str(error)) from error
    judge = judges.default(tier)
    if judge is None:
        raise SettingsError(f"{without_a_key} without a key: {judges.remedy}.")
    return judge


def batches_of(provider: Provider, adapter: Adapter) -> ProviderBatches | None:
    """The batch API of a provider, reached by this adapter. None if the provider has no batch API, or none is known."""
    if provider.batch_factor is None:
        return None
    match provider.kind:
        case "openai":
            from touchstone.judges.batches.openai import OpenAIBatches
            from touchstone.judges.openai import OpenAIAdapter

            return OpenAIBatches(adapter) if isinstance(adapter, OpenAIAdapter) else None
        case "anthropic":
            from touchstone.judges.anthropic import AnthropicAdapter
            from touchstone.judges.batches.anthropic import AnthropicBatches

            return AnthropicBatches(adapter) if isinstance(adapter, AnthropicAdapter) else None
        case "gemini":
            from touchstone.judges.batches.gemini import GeminiBatches
            from touchstone.judges.gemini import GeminiAdapter

            return GeminiBatches(adapter) if isinstance(adapter, GeminiAdapter) else None
        case "compatible":
            return None
