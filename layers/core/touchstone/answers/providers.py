"""Which provider solves a problem: pinned by hand, else the one that the data shows to be best."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.errors import SettingsError
from touchstone.judges.registry import called
from touchstone.statistics.intervals import wilson_lower

MIN_SAMPLES = 500
"""Verdicts a provider needs on a subject before its rate counts: the 95 % bound then lies within 4.4 points of it."""
PINS_VARIABLE = "SUBJECT_PROVIDER_MAP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often a provider's answers on one subject were right, of those that verification decided."""

    correct: int
    decided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What decides between providers that have a key.

    `pins`: subject to provider, by hand. `rates`: by (provider, subject), from the data. `default` None: the first that
    has a key.
    """

    pins: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[tuple[str, str], Rate] = field(default_factory=dict)
    default: str | None = None
    min_samples: int = MIN_SAMPLES


def nobody_solves(remedy: str) -> str:
    """The sentence where no provider has a key; `remedy` is that of the judges that were to be asked."""
    return f"The problem cannot be solved without a model: {remedy}."


def best_provider_for(
    subject: str,
    rates: Mapping[tuple[str, str], Rate],
    *,
    default: str,
    min_samples: int = MIN_SAMPLES,
) -> str:
    """The provider with the best lower confidence bound (Wilson, 95 %) on correctness for a subject.

    `rates` by (provider, subject). Providers with fewer than `min_samples` decided answers do not count; where none has
    as many, `default`. Of equal bounds the default wins, then the name that sorts first.
    """
    bounds = {
        provider: wilson_lower(rate.correct, rate.decided)
        for (provider, of), rate in rates.items()
        if of == subject and rate.decided >= max(1, min_samples)
    }
    if not bounds:
        return default
    return min(bounds, key=lambda provider: (-bounds[provider], provider != default, provider))


def choose_provider(
    subject: str | None,
    *,
    tried: Sequence[str],
    available: Sequence[str],
    pins: Mapping[str, str],
    rates: Mapping[tuple[str, str], Rate],
    default: str,
    min_samples: int = MIN_SAMPLES,
) -> str:
    """The provider for the next attempt at a problem. `available`: those with a key, in order of preference.

    Pins and default may give a provider any of its names.

    In this order: the one pinned for the subject, the best by the data, the default, then `available` in its order;
    skipping those without a key, and those `tried` before. Where every available one was tried, the one whose try lies
    longest back answers again: a second attempt by the same provider is worth more than none.

    Raises `ValueError` without any available provider.
    """
    if not available:
        raise ValueError("no provider is available")
    default = called(default)
    preferred = [default]
    if subject is not None:
        preferred.insert(0, best_provider_for(subject, rates, default=default, min_samples=min_samples))
    if subject is not None and subject in pins:
        preferred.insert(0, called(pins[subject]))
    order = [provider for provider in (*preferred, *available) if provider in available]
    fresh = [provider for provider in order if provider not in tried]
    if fresh:
        return fresh[0]
    last_try = {provider: position for position, provider in enumerate(tried)}
    return min(order, key=lambda provider: last_try[provider])


def pins_from(text: str) -> dict[str, str]:
    """The providers pinned by hand, from the JSON of `SUBJECT_PROVIDER_MAP`; empty text pins none.

    Raises `SettingsError` for anything but an object of subject to provider.
    """
    if not text.strip():
        return {}
    try:
        pins = json.loads(text)
    except ValueError:
        pins = None
    if not isinstance(pins, dict) or not all(isinstance(provider, str) and provider for provider in pins.values()):
        raise SettingsError(
            f'{PINS_VARIABLE} must be a JSON object of subject to provider, such as {{"math": "openai"}}.'
        )
    return pins
