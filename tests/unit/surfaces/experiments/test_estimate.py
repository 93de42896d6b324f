"""Estimates: as many calls as are then made, where that follows from sizes, and else a range that holds them."""

from typing import Any

import pytest

from tests.support.experiments import experiment, judged
from touchstone.judges import load_registry
from touchstone.material import Deck, Flashcard, Pillar, Source, Summary
from touchstone.surfaces.experiments import Experiment, Item, Variant, estimate_of, run_experiment
from touchstone.surfaces.names import Surface

MODEL = load_registry({}).model("openai", "strong")


async def test_it_is_the_number_of_calls_that_are_made_where_all_sizes_are_known() -> None:
    judge, script = judged()
    expected = await estimate_of(experiment(), MODEL)
    conclusion = await run_experiment(experiment(), judge=judge)
    assert expected.calls == (len(script.asked), len(script.asked)) == (24, 24)
    assert expected.cost_usd is not None
    assert expected.cost_usd[0] < expected.cost_usd[1]
    assert conclusion.outlay.calls == 24


async def test_where_topics_must_be_found_first_it_is_a_range_that_holds_the_truth() -> None:
    asked = experiment(metrics=("quiz_coverage",))
    judge, script = judged()
    await run_experiment(asked, judge=judge)
    low, high = (await estimate_of(asked, MODEL)).calls
    assert low <= len(script.asked) <= high
    assert (low, high) == (6 * (1 + 2 + 2), 6 * (1 + 2 * 2 + 2))


async def test_without_a_price_the_calls_are_counted_and_no_cost_is_made_up() -> None:
    expected = await estimate_of(experiment(), None)
    assert (expected.calls, expected.cost_usd) == ((24, 24), None)


def of(surface: Surface, material: Any, metrics: Any = None, source: Source | None = None, **more: Any) -> Experiment:
    source = source or Source(id="s", pillars=(Pillar(concept="Osmosis", chunks=("Water moves.",)),))
    return Experiment(
        surface=surface,
        sources=(source,),
        variants=tuple(Variant(name=name, items=(Item(id="i", source="s", material=material),)) for name in ("A", "B")),
        metrics=metrics,
        **more,
    )


@pytest.mark.parametrize(
    ("asked", "calls"),
    [
        # claims 1, claims grounded 1 or more, topics 1, coherence 1, density 1; and both orders
        (of("summary", Summary(text="Water moves. Salt stays.")), (2 * 5 + 2, 2 * 5 + 2)),
        (of("summary", Summary(text="Water moves. " * 12), ("summary_faithfulness",)), (2 * 2 + 2, 2 * 5 + 2)),
        # correctness, atomicity, clarity, coverage
        (
            of("flashcards", Deck(cards=(Flashcard(id="c", front="What moves?", back="Water"),))),
            (2 * 4 + 2, 2 * 4 + 2),
        ),
        # both are generated first
        (of("quiz", None, ("quiz_clarity",), generation={"count": 25}), (2 * 1 + 2 * 3 + 2, 2 * 1 + 2 * 3 + 2)),
        (of("flashcards", None, ("flashcard_clarity",), generation={"count": 5}), (6, 6)),
        (of("summary", None, ("summary_coherence",), generation={"words": 60}), (6, 6)),
    ],
)
async def test_every_surface_is_counted_as_its_metrics_ask(asked: Experiment, calls: tuple[int, int]) -> None:
    assert (await estimate_of(asked, MODEL)).calls == calls


async def test_what_is_missing_costs_what_its_writer_takes() -> None:
    asked = of("quiz", None, ("quiz_clarity",), generation={"count": 10})
    alike = await estimate_of(asked, MODEL)
    dearer = MODEL.model_copy(update={"price_in": 1_000.0, "price_out": 1_000.0})
    assert await estimate_of(asked, MODEL, writer=MODEL) == alike
    assert alike.cost_usd is not None
    by_dearer = (await estimate_of(asked, MODEL, writer=dearer)).cost_usd
    assert by_dearer is not None
    assert by_dearer[0] > 10 * alike.cost_usd[0]
    assert (await estimate_of(asked, MODEL, writer=None)).cost_usd is None
    given = experiment()
    assert await estimate_of(given, MODEL, writer=None) == await estimate_of(given, MODEL)


async def test_of_many_pairs_a_sample_stands_for_all() -> None:
    expected = await estimate_of(experiment(sources=250, metrics=("quiz_clarity",)), MODEL)
    assert (expected.pairs, expected.calls) == (250, (1_000, 1_000))
