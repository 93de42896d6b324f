"""Providers of a known quality that solve problems, and the routing that learns which of them is best."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from touchstone.answers.providers import Preferences, Rate, choose_provider

SUBJECT = "math"
MIX = {"easy": 0.4, "medium": 0.4, "hard": 0.2}
"""How difficult the problems are."""
QUALITY: Mapping[str, Mapping[str, float]] = {
    "claude": {"easy": 0.95, "medium": 0.85, "hard": 0.55},
    "openai": {"easy": 0.97, "medium": 0.90, "hard": 0.70},
    "gemini": {"easy": 0.92, "medium": 0.80, "hard": 0.50},
}
"""How often each provider is right. The first is the default, the second the best."""
BEST = "openai"


def quality(provider: str) -> float:
    """How often a provider is right over all problems."""
    return sum(share * QUALITY[provider][name] for name, share in MIX.items())


@dataclass(slots=True, kw_only=True)
class Learned:
    """What came of so many solves. `found_after`: from which solve on the best was chosen to the end; None: never."""

    right: int = 0
    explored: int = 0
    found_after: int | None = None
    solved_by: Counter[str] = field(default_factory=Counter)


CHOSEN_EVERY = 25
"""After how many solves the choice is made anew, which is what takes the time."""


def learn(solves: int, *, explore: float, min_samples: int, seed: int) -> Learned:
    """Solve so many problems, each by whom the rates so far choose; a retry counts for nobody."""
    draw = random.Random(seed)  # noqa: S311 - a simulation that can be repeated
    rates: dict[tuple[str, str], Rate] = {}
    found, chosen = Learned(), "claude"
    for number in range(1, solves + 1):
        difficulty = draw.choices(list(MIX), list(MIX.values()))[0]
        if number % CHOSEN_EVERY == 1:
            chosen = choose_provider(
                SUBJECT,
                tried=(),
                available=list(QUALITY),
                pins={},
                rates=rates,
                default="claude",
                min_samples=min_samples,
            )
        solver = Preferences(rates=rates, explore=explore, draw=draw.random).explored(
            SUBJECT, chosen, available=list(QUALITY)
        )
        if chosen != BEST:
            found.found_after = None
        elif found.found_after is None:
            found.found_after = number
        right = draw.random() < QUALITY[solver][difficulty]
        found.right += right
        found.explored += solver != chosen
        found.solved_by[solver] += 1
        rates[solver, SUBJECT] = _with(rates.get((solver, SUBJECT), Rate(correct=0, decided=0)), difficulty, right)
    return found


def _with(rate: Rate, difficulty: str, right: bool) -> Rate:
    correct, decided = rate.by_difficulty.get(difficulty, (0, 0))
    return Rate(
        correct=rate.correct + right,
        decided=rate.decided + 1,
        by_difficulty={**rate.by_difficulty, difficulty: (correct + right, decided + 1)},
    )
