"""Which models there are, what they cost, how many calls they allow, and when they end: data, in `registry.json`.

A deployment changes it without code through `TOUCHSTONE_REGISTRY_OVERRIDES`, a JSON object of the same shape that is
merged over it, for example:

```json
{"gemini": {"models": {"gemini-3.8-flash": {"per_day": 10000, "per_minute": 1000}}},
 "ollama": {"base_url": "http://localhost:11434/v1", "key_variables": [], "models": {"qwen3": {}},
            "tiers": {"strong": "qwen3", "fast": "qwen3"}}}
```

If that object names a provider that is not listed, it is taken as an OpenAI-compatible one. For a single such endpoint
there is a shorter way: `TOUCHSTONE_COMPATIBLE_BASE_URL`, `TOUCHSTONE_COMPATIBLE_MODEL` and, if it wants a key,
`TOUCHSTONE_COMPATIBLE_API_KEY`. `TOUCHSTONE_COMPATIBLE_PRICE_IN` and `TOUCHSTONE_COMPATIBLE_PRICE_OUT` are its price in
US dollars per million tokens, 0 if it costs nothing. These variables override what the JSON object says of
`compatible`.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from touchstone.errors import SettingsError
from touchstone.judges.base import QuotaLimits, Tier
from touchstone.strict import fault_words

OVERRIDES_VARIABLE = "TOUCHSTONE_REGISTRY_OVERRIDES"
COMPATIBLE_URL_VARIABLE = "TOUCHSTONE_COMPATIBLE_BASE_URL"
COMPATIBLE_MODEL_VARIABLE = "TOUCHSTONE_COMPATIBLE_MODEL"
COMPATIBLE_KEY_VARIABLE = "TOUCHSTONE_COMPATIBLE_API_KEY"
COMPATIBLE_PRICES: Mapping[str, str] = {
    "TOUCHSTONE_COMPATIBLE_PRICE_IN": "price_in",
    "TOUCHSTONE_COMPATIBLE_PRICE_OUT": "price_out",
}
"""The variables of the compatible endpoint's price, each with the field of `Price` that it sets."""
UNPRICED_VARIABLE = "TOUCHSTONE_UNPRICED"
"""If this variable is `allow`, a ceiling lets calls of unknown price pass. They are counted, but are not in the
ceiling's sums."""

type ProviderKind = Literal["anthropic", "openai", "gemini", "compatible"]
"""Which adapter speaks to a provider."""

PROVIDER_ALIASES: Mapping[str, str] = {"anthropic": "claude"}
"""Other names that people give a provider, each with the listed name. Records, quotas and statistics use the listed
name."""

TIER_FALLBACKS: Mapping[Tier, Tier] = {"verify": "fast", "evaluate": "strong"}
"""The tier that serves instead if a provider names no model for `verify` or `evaluate`."""

PRICE_FIELDS = frozenset({"price_in", "price_out", "price_cached_in"})


class Price(BaseModel):
    """US dollars per million tokens; None if unknown.

    If `price_cached_in` is None, cached input costs like the rest.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    price_cached_in: float | None = Field(default=None, ge=0)


class LaterPrice(Price):
    """A price announced for a later day, from its first moment in UTC."""

    since: date


class LongPromptPrice(Price):
    """The price of a whole call whose input is longer than `above_tokens`."""

    above_tokens: int = Field(gt=0)


class Model(Price):
    """One model: its price, its quota, its end.

    `per_day` and `per_minute` are the requests that the provider allows one account for this model, whatever they are
    asked for; None if no limit is known. `thinking_tokens` is the room that thinking gets beside the answer: providers
    count thinking against the limit of the output, and a model that has used it all up gives no answer. 0 means that
    the model does not think unasked. `batch_factor` is the share of the price that a call by the provider's batch API
    costs; None means the share of its provider. `retires` is the day on which the model stops answering; None if no end
    was announced. `source` says where the figures were read.
    """

    provider: str
    name: str
    later_prices: tuple[LaterPrice, ...] = ()
    long_prompt: LongPromptPrice | None = None
    per_day: int | None = Field(default=None, ge=0)
    per_minute: int | None = Field(default=None, ge=0)
    thinking_tokens: int = Field(default=0, ge=0)
    batch_factor: float | None = Field(default=None, gt=0, le=1)
    retires: date | None = None
    successor: str | None = None
    source: str = ""

    @property
    def priced(self) -> bool:
        """Whether its price is known."""
        return self.price_in is not None and self.price_out is not None

    @cached_property
    def limits(self) -> QuotaLimits:
        """The quota in the form that admission takes."""
        return QuotaLimits(per_day=self.per_day, per_minute=self.per_minute)

    def price(self, *, on: date, input_tokens: int) -> Price:
        """The price of a call made on a day (UTC) with an input of this many tokens."""
        if self.long_prompt is not None and input_tokens > self.long_prompt.above_tokens:
            return self.long_prompt
        begun = [later for later in self.later_prices if later.since <= on]
        return max(begun, key=lambda later: later.since) if begun else self


class Provider(BaseModel):
    """One provider: how it is reached, and which of its models serve which tier.

    `key_variables` are the environment variables that may hold its key, in the order in which they are read; empty if
    the provider wants no key. `account` labels the account of the quota; None means that it is derived from the key.
    Set it if several keys share one quota (the keys of one Google project), or if a key is renewed. If `base_url` is
    None, the value of `base_url_variable` is used, or the SDK's own address. `batch_factor` is the share of the price
    that a call by the batch API costs; None if the provider has no such API.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")
    kind: ProviderKind = "compatible"
    base_url: str | None = None
    base_url_variable: str | None = None
    key_variables: tuple[str, ...] = ()
    key_required: bool = True
    account: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{1,64}$")
    batch_factor: float | None = Field(default=None, gt=0, le=1)
    tiers: dict[Tier, str]
    models: dict[str, Model]

    @model_validator(mode="after")
    def _complete(self) -> "Provider":
        if self.kind == "compatible" and self.base_url is None:
            raise ValueError("an OpenAI-compatible provider needs a base_url")
        if missing := [tier for tier in ("strong", "fast") if tier not in self.tiers]:
            raise ValueError(f"no model is named for tier {' and '.join(missing)}")
        for tier, name in self.tiers.items():
            if name not in self.models:
                raise ValueError(f"tier {tier} names {name}, which is not among its models")
        return self

    def batch_factor_of(self, model: str) -> float | None:
        """The share of the price that a call of a model by the batch API costs. None if there is no such API."""
        listed = self.models.get(model)
        return self.batch_factor if listed is None or listed.batch_factor is None else listed.batch_factor

    @property
    def needs_key(self) -> bool:
        """Whether the provider cannot be asked without a key."""
        return self.key_required and bool(self.key_variables)


@dataclass(frozen=True, slots=True)
class Default:
    """The model that serves a tier."""

    provider: str
    tier: Tier
    model: Model


def canonical_name(name: str) -> str:
    """The listed name of a provider that people may call otherwise. Any other name is returned unchanged."""
    return PROVIDER_ALIASES.get(name, name)


class Registry:
    """The providers and their models, in the order in which they are preferred."""

    def __init__(self, providers: Mapping[str, Provider]) -> None:
        self.providers: Mapping[str, Provider] = MappingProxyType(dict(providers))

    def provider(self, name: str) -> Provider:
        """One provider, by any of its names. Raises `SettingsError` for a name that is not listed."""
        try:
            return self.providers[canonical_name(name)]
        except KeyError:
            known = ", ".join(self.providers)
            sentence = f"There is no provider {name} in the registry; it has {known}."
            if owner := next((one.name for one in self.providers.values() if name in one.models), None):
                sentence += f" {name} is a model of {owner}: write {owner}/{name} where a model is named."
            raise SettingsError(sentence) from None

    def model(self, provider: str, tier: Tier) -> Model:
        """The model that serves a tier. If the provider names none for it, `fast` verifies and `strong` evaluates."""
        listed = self.provider(provider)
        name = listed.tiers.get(tier) or listed.tiers[TIER_FALLBACKS[tier]]
        return listed.models[name]

    def find(self, provider: str, name: str) -> Model:
        """One model by name. Raises `SettingsError` for a model that is not listed."""
        listed = self.provider(provider)
        try:
            return listed.models[name]
        except KeyError:
            raise SettingsError(
                f"There is no model {name} of {provider} in the registry; add it with {OVERRIDES_VARIABLE}."
            ) from None

    def listed(self, provider: str, name: str) -> Model | None:
        """One model by name; None if it is not listed, so that its price is not known."""
        try:
            return self.find(provider, name)
        except SettingsError:
            return None

    def serving(self, provider: str, tier: Tier, *, name: str | None = None, base_url: str | None = None) -> "Registry":
        """This registry with another model on a provider's tier, or another address for the provider.

        `name` or `base_url` None leaves that part unchanged. A model that is not listed has no known price and no known
        quota. It gets the room for thinking of the model that it replaces. Raises `SettingsError` for a provider that
        is not listed.
        """
        listed = self.provider(provider)
        changes: dict[str, Any] = {}
        if name is not None:
            room = self.model(provider, tier).thinking_tokens
            model = listed.models.get(name) or Model(provider=listed.name, name=name, thinking_tokens=room)
            changes |= {"tiers": {**listed.tiers, tier: name}, "models": {**listed.models, name: model}}
        if base_url is not None:
            changes["base_url"] = base_url
        return Registry({**self.providers, listed.name: listed.model_copy(update=changes)})

    def by_batch(self) -> "Registry":
        """This registry at the prices of the batch APIs.

        A price that is not known stays unknown, and a provider without a batch API keeps its prices. No model has a
        quota in the result, since batches have limits of their own.
        """
        return Registry({name: _by_batch(provider) for name, provider in self.providers.items()})

    def models(self) -> Iterator[Model]:
        """Every listed model."""
        for provider in self.providers.values():
            yield from provider.models.values()

    def defaults(self) -> Iterator[Default]:
        """Every tier for which a provider names a model, with that model."""
        for provider in self.providers.values():
            for tier, name in provider.tiers.items():
                yield Default(provider.name, tier, provider.models[name])


def load_registry(environ: Mapping[str, str] | None = None) -> Registry:
    """The registry of this deployment: the shipped one with its overrides and base URLs.

    `environ` None means `os.environ`. Raises `SettingsError` if the overrides or the other variables are not valid. The
    sentence names the provider, model or field at fault, and what was probably meant.
    """
    environ = os.environ if environ is None else environ
    unpriced_allowed(environ)
    data = _merged(_shipped(), _overrides(environ.get(OVERRIDES_VARIABLE, "")))
    if url := environ.get(COMPATIBLE_URL_VARIABLE, "").strip():
        compatible = _compatible(url, environ.get(COMPATIBLE_MODEL_VARIABLE, "").strip(), _prices(environ))
        data["compatible"] = _merged(data.get("compatible", {}), compatible)
    return Registry({name: _provider(name, entry, environ) for name, entry in data.items()})


def unpriced_allowed(environ: Mapping[str, str] | None = None) -> bool:
    """Whether a ceiling lets calls of unknown price pass.

    `environ` None means `os.environ`. Raises `SettingsError` if the variable is neither `allow` nor `refuse`.
    """
    setting = (os.environ if environ is None else environ).get(UNPRICED_VARIABLE, "").strip()
    if setting not in {"", "allow", "refuse"}:
        raise SettingsError(f"{UNPRICED_VARIABLE} may be allow or refuse (the default), not {setting[:40]!r}.")
    return setting == "allow"


def _by_batch(provider: Provider) -> Provider:
    models: dict[str, Model] = {}
    for name, model in provider.models.items():
        factor = provider.batch_factor_of(name) or 1.0
        later = tuple(_times(price, factor) for price in model.later_prices)
        long = None if model.long_prompt is None else _times(model.long_prompt, factor)
        changes = {"later_prices": later, "long_prompt": long, "per_day": None, "per_minute": None}
        models[name] = _times(model, factor).model_copy(update=changes)
    return provider.model_copy(update={"models": models})


def _times[P: Price](price: P, factor: float) -> P:
    """The price, or the model with its price, multiplied by `factor`. Unknown prices stay unknown."""
    known = {name: getattr(price, name) for name in PRICE_FIELDS}
    return price.model_copy(
        update={name: None if dollars is None else dollars * factor for name, dollars in known.items()}
    )


@lru_cache(maxsize=1)
def _shipped_text() -> str:
    return files("touchstone.judges").joinpath("registry.json").read_text(encoding="utf-8")


def _shipped() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_shipped_text())
    return data


def _overrides(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        data = json.loads(text)
    except ValueError as error:
        raise SettingsError(f"{OVERRIDES_VARIABLE} is not valid JSON: {error}.") from None
    if not isinstance(data, dict) or not all(isinstance(entry, dict) for entry in data.values()):
        raise SettingsError(f"{OVERRIDES_VARIABLE} must be a JSON object with one object for each provider.")
    listed: dict[str, Any] = {}
    for name, entry in data.items():
        listed[canonical_name(name)] = _merged(listed.get(canonical_name(name), {}), entry)
    return listed


def _compatible(url: str, model: str, prices: Mapping[str, float]) -> dict[str, Any]:
    if not model:
        raise SettingsError(f"{COMPATIBLE_URL_VARIABLE} is set, but no model: name one in {COMPATIBLE_MODEL_VARIABLE}.")
    return {
        "base_url": _address(COMPATIBLE_URL_VARIABLE, url),
        "key_variables": [COMPATIBLE_KEY_VARIABLE],
        "key_required": False,
        "tiers": {"strong": model, "fast": model},
        "models": {model: {"source": COMPATIBLE_MODEL_VARIABLE, **prices}},
    }


def _address(variable: str, url: str) -> str:
    """The http(s) address, unchanged; "" if none is given. Raises `SettingsError` for any other address."""
    if url and not url.lower().startswith(("http://", "https://")):
        raise SettingsError(f"{variable} is no http(s) address: begin it with http:// or https://.")
    return url


def _prices(environ: Mapping[str, str]) -> dict[str, float]:
    """The price of the compatible endpoint's model, by field; empty if none is given.

    Raises `SettingsError` if it is wrong.
    """
    texts = {name: text for name in COMPATIBLE_PRICES if (text := environ.get(name, "").strip())}
    price: dict[str, float] = {}
    for name, text in texts.items():
        try:
            price[COMPATIBLE_PRICES[name]] = float(text)
            Price.model_validate({"price_in": 0.0, "price_out": 0.0, **price})
        except ValueError:
            raise SettingsError(
                f"{name} must be US dollars per million tokens, a number from 0 up, like 0.25."
            ) from None
    if missing := [name for name in COMPATIBLE_PRICES if texts and name not in texts]:
        raise SettingsError(f"{missing[0]} is not set, and the price of a call needs both: 0 where it costs nothing.")
    return price


def _merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` merged over `base`, object by object.

    If `over` has a price, the announced prices and the long-prompt price of `base` are dropped.
    """
    merged = dict(base)
    if PRICE_FIELDS & over.keys():
        merged = {name: value for name, value in merged.items() if name not in {"later_prices", "long_prompt"}}
    for name, value in over.items():
        old = merged.get(name)
        merged[name] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _provider(name: str, entry: Mapping[str, Any], environ: Mapping[str, str]) -> Provider:
    models = entry.get("models")
    if isinstance(models, dict):
        entry = {**entry, "models": {key: _named(name, key, value) for key, value in models.items()}}
    variable = entry.get("base_url_variable")
    if isinstance(variable, str) and not entry.get("base_url"):
        entry = {**entry, "base_url": _address(variable, environ.get(variable, "")) or None}
    try:
        return Provider.model_validate({**entry, "name": name})
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
        where = ".".join(str(part) for part in (name, *first["loc"]))
        fault = f"{fault_words(first)}{_nearest(name, first['loc'])}"
        if first["type"] == "extra_forbidden":
            fault = f"there is no such field{_nearest(name, first['loc'])}"
        raise SettingsError(f"The model registry is wrong at {where}: {fault} (see {OVERRIDES_VARIABLE}).") from None


def _nearest(provider: str, place: tuple[int | str, ...]) -> str:
    """What was probably meant by the wrong name at a place in a provider's entry, as the end of a sentence.

    It is empty if that is unknown. If the entry lacks a field that it would have under a listed provider's name, the
    entry's own name is at fault.
    """
    known: Iterable[str]
    match place:
        case ("tiers", said, "[key]"):
            known = Tier.__value__.__args__
        case ("models", _, "long_prompt", said):
            known = LongPromptPrice.model_fields
        case ("models", _, "later_prices", _, said):
            known = LaterPrice.model_fields
        case ("models", _, said):
            known = Model.model_fields.keys() - {"provider", "name"}
        case (said,) if said in Provider.model_fields:
            said, known = provider, () if provider in _shipped() else _shipped()
        case (said,):
            known = Provider.model_fields.keys() - {"name"}
        case _:
            return ""
    found = get_close_matches(str(said), known, n=1)
    return f"; the nearest name is {found[0]}" if found and found[0] != said else ""


def _named(provider: str, name: str, entry: object) -> object:
    return {**entry, "provider": provider, "name": name} if isinstance(entry, dict) else entry
