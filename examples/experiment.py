"""Which of two ways to write flashcards is better? Both are measured on the same sources, and compared with intervals.

uv run python examples/experiment.py
"""

import asyncio
import os
from collections.abc import Callable

from touchstone import Deck, Flashcard, Source
from touchstone.judges import load_registry
from touchstone.surfaces.experiments import Experiment, Item, Variant, run_experiment
from touchstone.surfaces.experiments.report import headline

FACTS = {
    "copper": ("Which metal do most wires consist of?", "Copper, since it conducts well and bends."),
    "cork": ("Why does cork float?", "Its cells hold air, so it is lighter than water."),
    "ivy": ("How does ivy hold on to walls?", "By small roots along its stem that stick to the stone."),
    "granite": ("How does granite form?", "Magma cools slowly deep below the ground."),
    "owl": ("Why does an owl fly without a sound?", "The fringed edges of its feathers break up the air."),
    "yeast": ("What makes dough rise?", "Yeast turns sugar into carbon dioxide."),
}


def terse(name: str) -> Deck:
    """A card as it should be: one question, one fact."""
    front, back = FACTS[name]
    return Deck(cards=(Flashcard(id=name, front=front, back=back),))


def leaking(name: str) -> Deck:
    """A card whose front gives the answer away."""
    front, back = FACTS[name]
    return Deck(cards=(Flashcard(id=name, front=f"{back} {front}", back=back),))


def variant(name: str, write: Callable[[str], Deck]) -> Variant:
    """A deck for each source, written one way."""
    return Variant(name=name, items=tuple(Item(id=each, source=each, material=write(each)) for each in FACTS))


judged = any(os.environ.get(name) for each in load_registry().providers.values() for name in each.key_variables)
experiment = Experiment(
    surface="flashcards",
    sources=tuple(Source(id=name, markdown=f"# {name}\n\n{fact}") for name, (_, fact) in FACTS.items()),
    variants=(variant("leaking", leaking), variant("terse", terse)),
    metrics=None if judged else ("flashcard_answer_leakage", "flashcard_duplication"),  # those that need no key
)
conclusion = asyncio.run(run_experiment(experiment, max_cost_usd=5.0))
print(headline(conclusion))
for metric in conclusion.metrics:
    print(f"{metric.metric:<28} {metric.difference} points, 95 % interval {metric.interval}")
