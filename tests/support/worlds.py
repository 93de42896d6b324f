"""Experiments whose truth is known: every score is drawn from a probability, so the true difference is exact.

A source makes all of its items easier or harder, an item is easier or harder than the others of its source, and the
effect of variant B differs from source to source. Both variants meet the same item, so that their scores hang together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from touchstone.statistics import ItemPair


@dataclass(frozen=True, kw_only=True)
class World:
    """Shares are 0-1; `effect` is the true difference of B, as a share of the full score of 100.

    A score is 100 × (successes of `steps`) / `steps`: 1 is right or wrong, 3 a depth of 0-3. `together` is the chance
    that what decides A's score decides B's. With `rare` below 1 that share of the sources carries the whole effect.
    """

    name: str
    base: float = 0.55
    effect: float = 0.0
    source_spread: float = 0.15
    item_spread: float = 0.1
    effect_spread: float = 0.1
    together: float = 0.5
    steps: int = 1
    rare: float = 1.0
    items: tuple[int, int] = (5, 20)

    def experiment(self, sources: int, generator: np.random.Generator) -> list[ItemPair]:
        """One experiment on that many sources, each with a number of items from `items`."""
        sizes = generator.integers(self.items[0], self.items[1] + 1, sources)
        source = np.repeat(np.arange(sources), sizes)
        count = len(source)
        effects = self.effect / self.rare * (generator.random(sources) < self.rare)
        effects = effects + self.effect_spread * generator.uniform(-1, 1, sources)
        chance = (
            self.base
            + self.source_spread * generator.uniform(-1, 1, sources)[source]
            + self.item_spread * generator.uniform(-1, 1, count)
        )
        lifted = chance + effects[source]
        assert min(chance.min(), lifted.min()) >= 0
        assert max(chance.max(), lifted.max()) <= 1
        for_a = generator.random((self.steps, count))
        for_b = np.where(generator.random(count) < self.together, for_a, generator.random((self.steps, count)))
        a = 100 * (for_a < chance).mean(axis=0)
        b = 100 * (for_b < lifted).mean(axis=0)
        return [
            ItemPair(source=f"source-{place:03}", a=float(one), b=float(other))
            for place, one, other in zip(source, a, b, strict=True)
        ]

    @property
    def truth(self) -> float:
        """The true difference in points of 100."""
        return 100 * self.effect


SCORES = st.none() | st.integers(0, 100).map(float)
PAIRS = st.lists(
    st.builds(ItemPair, source=st.sampled_from([f"source-{place}" for place in range(9)]), a=SCORES, b=SCORES),
    max_size=50,
)


def pairs_of(differences: Sequence[Sequence[float]]) -> list[ItemPair]:
    """Pairs with these differences, a source for each inner sequence."""
    return [
        ItemPair(source=f"source-{place}", a=10.0, b=10.0 + value)
        for place, values in enumerate(differences)
        for value in values
    ]
