"""Which provider solves a problem: pinned by hand, else the one that the data shows to be best."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.errors import SettingsError
from touchstone.judges.registry import called
from touchstone.statistics.intervals import score_interval, wilson_lower

MIN_SAMPLES = 500
"""Verdicts a provider needs on a subject before its rate counts: the 95 % bound then lies within 4.4 points of it."""
PINS_VARIABLE = "SUBJECT_PROVIDER_MAP"
MOST_SAMPLES = 10_000_000
"""A lead that would show only after more verdicts than this will never show."""

type Why = Literal["pinned", "data", "default"]
"""Why a provider is chosen: by hand, by the data, or since neither says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often a provider's answers on one subject were right, of those that verification decided."""

    correct: int
    decided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The provider that is asked first on a subject, and why."""

    provider: str
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Who would be chosen by the data next: `lacks` more verdicts, if its rate (0–1) stays and the others stay."""

    provider: str
    decided: int
    rate: float
    lacks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What decides between providers that have a key.

    `pins`: subject to provider, by hand. `rates`: by (provider, subject), from the data. `default` None: the first that
    has a key. `noted`: by subject, the choice without pins that was last noted; see `changed`.
    """

    pins: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[tuple[str, str], Rate] = field(default_factory=dict)
    default: str | None = None
    min_samples: int = MIN_SAMPLES
    noted: Mapping[str, Choice] = field(default_factory=dict)

    def changed(self, subject: str | None, *, available: Sequence[str]) -> Choice | None:
        """The choice without pins, where it is another one than was noted and worth a note; else None.

        A default is worth one only after something else: a subject that nobody has data on needs no note.
        """
        if subject is None or not available:
            return None
        default = self.default or available[0]
        choice = first_choice(
            subject, available=available, pins={}, rates=self.rates, default=default, min_samples=self.min_samples
        )
        noted = self.noted.get(subject)
        return None if choice == noted or (noted is None and choice.why == "default") else choice


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


def first_choice(
    subject: str,
    *,
    available: Sequence[str],
    pins: Mapping[str, str],
    rates: Mapping[tuple[str, str], Rate],
    default: str,
    min_samples: int = MIN_SAMPLES,
) -> Choice:
    """What `choose_provider` chooses before anything was tried, and why. Raises `ValueError` as it does."""
    provider = choose_provider(
        subject, tried=(), available=available, pins=pins, rates=rates, default=default, min_samples=min_samples
    )
    if subject in pins and called(pins[subject]) == provider:
        return Choice(provider=provider, why="pinned")
    counted = rates.get((provider, subject))
    best = best_provider_for(subject, rates, default=called(default), min_samples=min_samples)
    by_data = provider == best and counted is not None and counted.decided >= max(1, min_samples)
    return Choice(provider=provider, why="data" if by_data else "default")


def next_candidate(
    subject: str,
    choice: Choice,
    *,
    available: Sequence[str],
    rates: Mapping[tuple[str, str], Rate],
    min_samples: int = MIN_SAMPLES,
) -> Candidate | None:
    """Which of the `available` would take over from a choice without pins after the fewest more verdicts.

    None where nobody would: no other has a verdict, or none is right often enough to pass the best bound that counts,
    be it that of a provider without a key.
    """
    best = rates.get((best_provider_for(subject, rates, default=choice.provider, min_samples=min_samples), subject))
    counts = best is not None and best.decided >= max(1, min_samples)
    bar = wilson_lower(best.correct, best.decided) if best is not None and counts else None
    found: list[Candidate] = []
    for provider in available:
        rate = rates.get((provider, subject))
        if provider == choice.provider or rate is None or not rate.decided:
            continue
        share = rate.correct / rate.decided
        needed = _needed(share, bar, at_least=max(1, min_samples, rate.decided))
        if needed is not None:
            found.append(Candidate(provider=provider, decided=rate.decided, rate=share, lacks=needed - rate.decided))
    return min(found, key=lambda candidate: (candidate.lacks, candidate.provider), default=None)


def _needed(share: float, bar: float | None, *, at_least: int) -> int | None:
    """The fewest verdicts after which the lower bound of a share passes `bar`; None: it never does.

    `bar` None: whoever has enough verdicts takes over. The bound rises with the number, so that halving finds it.
    """
    if bar is None or score_interval(share, at_least)[0] > bar:
        return at_least
    if score_interval(share, MOST_SAMPLES)[0] <= bar:
        return None
    low, high = at_least, MOST_SAMPLES
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if score_interval(share, middle)[0] > bar else (middle, high)
    return high


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
