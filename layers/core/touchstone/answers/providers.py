"""Which provider solves a problem: pinned by hand, else the one that the data shows to be best."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.judges.registry import canonical_name
from touchstone.statistics.intervals import score_interval, wilson_interval, wilson_lower

MIN_SAMPLES = 500
"""Verdicts that a subject needs before the data decides on its provider."""
OWN_SAMPLES = 100
"""Verdicts of its own on a subject that a provider needs. With so few, its lower bound lies 10 points below its rate.
So it is chosen only if it is seen to be much better, and the next hundred verdicts show whether that was luck."""
OF_THE_WORSE = 0.25
"""The part of the exploration that is left if all others are seen to be worse than the chosen provider."""
MOST_SAMPLES = 10_000_000
"""The most verdicts that a forecast looks ahead. A lead that would show only after more will never show."""

type Why = Literal["pinned", "data", "default"]
"""Why a provider is chosen: by hand, by the data, or because neither decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often a provider's first answers on one subject were right, among those that verification decided.

    `by_difficulty` is the same for the problems of each difficulty, as (correct, decided); empty if it is not known.
    `corrected_lower` is the lower bound of the rate that people's labels correct; None if there are too few labels.
    """

    correct: int
    decided: int
    by_difficulty: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    corrected_lower: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """The provider that is asked first on a subject, and why."""

    provider: str
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCandidate:
    """The provider that the data would choose next.

    It lacks `lacks` more verdicts for that, if its rate (0–1) and the other providers' stay as they are.
    """

    provider: str
    decided: int
    rate: float
    lacks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What decides between providers that have a key.

    `pins` gives a subject's provider, set by hand. `rates` is by (provider, subject), from the data. `default` None
    means the first provider that has a key. `noted` is, by subject, the choice without pins that was last noted; see
    `changed`. `explore` is the share of first attempts that go to another provider than the chosen one, and `draw`
    gives numbers in [0, 1) for that.
    """

    pins: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[tuple[str, str], Rate] = field(default_factory=dict)
    default: str | None = None
    min_samples: int = MIN_SAMPLES
    noted: Mapping[str, ProviderChoice] = field(default_factory=dict)
    explore: float = 0.0
    draw: Callable[[], float] = random.random

    def explored(self, subject: str | None, chosen: str, *, available: Sequence[str]) -> str:
        """The provider that makes a first attempt: mostly the `chosen` one, and seldom another at random.

        Otherwise only the chosen provider would ever have first attempts to be judged by. A subject that is pinned, or
        not known, is left alone: nothing would follow from its samples. The other provider is one that may be better
        than the chosen one, by what is known. If none may be better, it is any other, so that a change is noticed, but
        only `OF_THE_WORSE` as often.
        """
        others = [provider for provider in available if provider != chosen]
        drawn = self.draw()
        if subject is None or subject in self.pins or not others or drawn >= self.explore:
            return chosen
        known = self.rates.get((chosen, subject))
        bar = 0.0 if known is None else wilson_lower(known.correct, known.decided)
        hopeful = [provider for provider in others if self._highest(provider, subject) >= bar]
        if not hopeful and drawn >= self.explore * OF_THE_WORSE:
            return chosen
        return (hopeful or others)[int(self.draw() * len(hopeful or others))]

    def _highest(self, provider: str, subject: str) -> float:
        """The upper bound of a provider's rate on a subject; 1 if it has no rate."""
        rate = self.rates.get((provider, subject))
        return 1.0 if rate is None else wilson_interval(rate.correct, rate.decided)[1]

    def changed(self, subject: str | None, *, available: Sequence[str]) -> ProviderChoice | None:
        """The choice without pins, if it differs from the noted one and deserves a note; else None.

        A default deserves a note only after another choice: a subject that nobody has data on needs no note.
        """
        if subject is None or not available:
            return None
        default = self.default or available[0]
        choice = first_choice(
            subject, available=available, pins={}, rates=self.rates, default=default, min_samples=self.min_samples
        )
        noted = self.noted.get(subject)
        return None if choice == noted or (noted is None and choice.why == "default") else choice


def no_solver_sentence(remedy: str) -> str:
    """The sentence that is told if no provider has a key. `remedy` is that of the judges that were to be asked."""
    return f"The problem cannot be solved without a model: {remedy}."


def no_evaluator_sentence(remedy: str) -> str:
    """As `no_solver_sentence`, for an answer that is to be evaluated in depth."""
    return f"No answer can be evaluated without a model: {remedy}."


def best_provider_for(
    subject: str,
    rates: Mapping[tuple[str, str], Rate],
    *,
    default: str,
    min_samples: int = MIN_SAMPLES,
) -> str:
    """The provider with the best lower confidence bound (95 %) on correctness for a subject.

    `rates` is by (provider, subject). The `default` is returned as long as the subject has fewer than `min_samples`
    decided answers, of all providers together. From there on, providers with `OWN_SAMPLES` of their own count. If
    bounds are equal, the default wins, then the name that sorts first. If people's labels correct the rates of all
    providers that count, the corrected bounds are compared; else those of `adjusted_lower`. A default that has samples,
    but too few to count, stays as long as it may be as good as the best: only a bound above the highest rate that its
    samples allow takes its place.
    """
    counting = counting_rates(subject, rates, min_samples=min_samples)
    if not counting:
        return default
    corrected = {
        provider: rate.corrected_lower for provider, rate in counting.items() if rate.corrected_lower is not None
    }
    mix = difficulties(counting.values())
    bounds = corrected
    if len(corrected) < len(counting):
        bounds = {provider: adjusted_lower(rate, mix) for provider, rate in counting.items()}
    best = min(bounds, key=lambda provider: (-bounds[provider], provider != default, provider))
    few = rates.get((default, subject))
    if default in counting or few is None or not few.decided:
        return best
    mix = difficulties((counting[best], few))
    return default if adjusted_interval(few, mix)[1] >= adjusted_lower(counting[best], mix) else best


def counting_rates(
    subject: str, rates: Mapping[tuple[str, str], Rate], *, min_samples: int = MIN_SAMPLES
) -> dict[str, Rate]:
    """The rates on a subject that count, by provider. Empty if all of them together have too few samples."""
    of_subject = {provider: rate for (provider, of), rate in rates.items() if of == subject}
    if sum(rate.decided for rate in of_subject.values()) < min_samples:
        return {}
    return {provider: rate for provider, rate in of_subject.items() if rate.decided >= own_samples(min_samples)}


def own_samples(min_samples: int) -> int:
    """How many samples of its own a provider needs, if a subject needs `min_samples`."""
    return max(1, min(min_samples, OWN_SAMPLES))


def difficulties(rates: Iterable[Rate]) -> dict[str, float]:
    """The share of each difficulty in all verdicts of these rates.

    Empty if the difficulties of one rate are not all known.
    """
    counts: Counter[str] = Counter()
    for rate in rates:
        if sum(decided for _, decided in rate.by_difficulty.values()) != rate.decided:
            return {}
        counts.update({name: decided for name, (_, decided) in rate.by_difficulty.items()})
    total = counts.total()
    return {name: count / total for name, count in counts.items()} if total else {}


def adjusted_lower(rate: Rate, mix: Mapping[str, float]) -> float:
    """The lower bound of `adjusted_interval`."""
    return adjusted_interval(rate, mix)[0]


def adjusted_interval(rate: Rate, mix: Mapping[str, float]) -> tuple[float, float]:
    """The interval of a rate as it would be on problems of which each difficulty has its share in `mix`.

    Direct standardisation: Σ share × rate over the difficulties, with the variance Σ share² × rate (1 - rate) / n; the
    interval is Wilson's with as many trials as give that variance. Half a right and half a wrong answer are added to
    each difficulty, so that a difficulty of which a provider had no problem counts as not known. If `mix` is empty or
    has one difficulty, the interval is that of the rate as it is.
    """
    if len(mix) <= 1:
        return wilson_interval(rate.correct, rate.decided)
    share = variance = 0.0
    for name, weight in mix.items():
        correct, decided = rate.by_difficulty.get(name, (0, 0))
        right, trials = (correct + 0.5) / (decided + 1), decided + 1
        share += weight * right
        variance += weight**2 * right * (1 - right) / trials
    return score_interval(share, share * (1 - share) / variance)


def first_choice(
    subject: str,
    *,
    available: Sequence[str],
    pins: Mapping[str, str],
    rates: Mapping[tuple[str, str], Rate],
    default: str,
    min_samples: int = MIN_SAMPLES,
) -> ProviderChoice:
    """The provider that `choose_provider` chooses before anything was tried, and why.

    Raises `ValueError` as it does.
    """
    provider = choose_provider(
        subject, tried=(), available=available, pins=pins, rates=rates, default=default, min_samples=min_samples
    )
    if subject in pins and canonical_name(pins[subject]) == provider:
        return ProviderChoice(provider=provider, why="pinned")
    best = best_provider_for(subject, rates, default=canonical_name(default), min_samples=min_samples)
    by_data = provider == best and provider in counting_rates(subject, rates, min_samples=min_samples)
    return ProviderChoice(provider=provider, why="data" if by_data else "default")


def next_candidate(
    subject: str,
    choice: ProviderChoice,
    *,
    available: Sequence[str],
    rates: Mapping[tuple[str, str], Rate],
    min_samples: int = MIN_SAMPLES,
) -> ProviderCandidate | None:
    """The provider in `available` that would take over from a choice without pins after the fewest more verdicts.

    None if none would: no other has a verdict, or none is right often enough to pass the bar. The bar is the best lower
    bound of the others that count once the subject has enough verdicts, even that of a provider without a key. If the
    choice is a default with too few verdicts to count, the bar is at least the highest rate that these verdicts allow.
    """
    enough, of_subject = own_samples(min_samples), {name: rate for (name, of), rate in rates.items() if of == subject}
    lowest = {
        name: wilson_lower(rate.correct, rate.decided) for name, rate in of_subject.items() if rate.decided >= enough
    }
    own = of_subject.get(choice.provider)
    if own is not None and 0 < own.decided < enough:
        lowest[choice.provider] = wilson_interval(own.correct, own.decided)[1]
    lacking = min_samples - sum(rate.decided for rate in of_subject.values())
    found: list[ProviderCandidate] = []
    for provider in available:
        rate = of_subject.get(provider)
        if provider == choice.provider or rate is None or not rate.decided:
            continue
        share = rate.correct / rate.decided
        bar = max((bound for name, bound in lowest.items() if name != provider), default=None)
        needed = _needed(share, bar, at_least=max(enough, rate.decided + max(0, lacking)))
        if needed is not None:
            found.append(
                ProviderCandidate(provider=provider, decided=rate.decided, rate=share, lacks=needed - rate.decided)
            )
    return min(found, key=lambda candidate: (candidate.lacks, candidate.provider), default=None)


def _needed(share: float, bar: float | None, *, at_least: int) -> int | None:
    """The fewest verdicts after which the lower bound of a share passes `bar`. None if it never does.

    If `bar` is None, any provider with `at_least` verdicts takes over. The bound rises with the number of verdicts, so
    the number is found by halving.
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
    """The provider for the next attempt at a problem.

    `available` are the providers with a key, in order of preference. Pins and default may give a provider any of its
    names.

    The order is: the provider pinned for the subject, the best by the data, the default, then `available` in its order.
    Providers without a key are skipped, and so are those `tried` before. If every available provider was tried, the one
    whose try is longest ago answers again: a second attempt by the same provider is worth more than none.

    Raises `ValueError` if no provider is available.
    """
    if not available:
        raise ValueError("no provider is available")
    default = canonical_name(default)
    preferred = [default]
    if subject is not None:
        preferred.insert(0, best_provider_for(subject, rates, default=default, min_samples=min_samples))
    if subject is not None and subject in pins:
        preferred.insert(0, canonical_name(pins[subject]))
    order = [provider for provider in (*preferred, *available) if provider in available]
    fresh = [provider for provider in order if provider not in tried]
    if fresh:
        return fresh[0]
    last_try = {provider: position for position, provider in enumerate(tried)}
    return min(order, key=lambda provider: last_try[provider])
