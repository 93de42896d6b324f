"""Conclusions against a truth that is known, hand-computed figures, and what has no score."""

import json
from collections import Counter

import pytest

from tests.support.simulated_experiments import (
    METRICS,
    QUIZ,
    drawn,
    experiment,
    pair,
    preference,
    result,
)
from touchstone.cli.screens.experiment_screen import suite_of
from touchstone.errors import InputError
from touchstone.judges.spends import Spend
from touchstone.surfaces.experiments import Conclusion, Experiment, Failure, Measured, conclude
from touchstone.surfaces.experiments.pairs import PairResult
from touchstone.surfaces.experiments.preference import Choice
from touchstone.surfaces.experiments.report import headline
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName

SEEDS = range(1_000, 1_200)
"""Over 2,000 seeds the interval covers the truth in 95.5 %, and a difference is declared where none is in 4.1 %."""
ONE = METRICS[3:4]


def scores(*of_sources: tuple[float | None, float | None]) -> tuple[Experiment, list[PairResult]]:
    """One item a source with these scores of one metric."""
    asked = experiment(sources=len(of_sources), a_source=1, metrics=ONE)
    found = [
        pair(one.number, one.item, one.source.id, a={"quiz_clarity": a}, b={"quiz_clarity": b})
        for one, (a, b) in zip(asked.pairs, of_sources, strict=True)
    ]
    return asked, found


def test_a_variant_built_worse_on_one_metric_is_found_worse_on_exactly_that() -> None:
    asked = experiment()
    conclusion = conclude(asked, drawn(asked, {"quiz_clarity": -9.0}, seed=1))
    assert {one.metric: one.verdict for one in conclusion.metrics} == {
        name: "a_better" if name == "quiz_clarity" else "no_difference_shown" for name in METRICS
    }
    assert (conclusion.verdict, conclusion.preference.verdict) == ("a_better", "no_difference_shown")
    clarity = next(one for one in conclusion.metrics if one.metric == "quiz_clarity")
    assert clarity.interval is not None
    assert clarity.difference == pytest.approx(-9.0, abs=3.0)
    assert clarity.interval[0] <= -9.0 <= clarity.interval[1] < 0
    assert (clarity.adjusted_p_value or 1.0) <= 0.05
    assert clarity.a_mean == pytest.approx((clarity.b_mean or 0.0) - (clarity.difference or 0.0))
    assert [one.difference for one in clarity.favouring_a] == sorted(one.difference for one in clarity.favouring_a)
    assert clarity.favouring_a[0].difference < -9.0
    assert clarity.favouring_a[0].a_labels[0].reason == f"It has {clarity.favouring_a[0].a:.2f}."


def test_the_interval_covers_the_true_difference_as_often_as_it_says() -> None:
    asked = experiment(metrics=ONE)
    covered: Counter[bool] = Counter()
    for seed in SEEDS:
        (clarity,) = conclude(asked, drawn(asked, {"quiz_clarity": -4.0}, seed=seed)).metrics
        assert clarity.interval is not None
        covered[clarity.interval[0] <= -4.0 <= clarity.interval[1]] += 1
    assert 0.93 <= covered[True] / covered.total() <= 0.97, covered


def test_where_there_is_no_difference_one_is_declared_in_at_most_seven_of_a_hundred() -> None:
    asked = experiment(metrics=METRICS[2:5])
    verdicts = Counter(conclude(asked, drawn(asked, {}, seed=seed)).verdict for seed in SEEDS)
    assert verdicts["no_difference_shown"] >= 0.93 * verdicts.total(), verdicts
    assert set(verdicts) <= {"no_difference_shown", "a_better", "b_better", "mixed"}


def test_a_difference_as_large_as_is_said_to_be_detectable_is_mostly_found() -> None:
    asked = experiment(metrics=ONE)
    none = [conclude(asked, drawn(asked, {}, seed=seed)).metrics[0].detectable or 0.0 for seed in range(40)]
    typical = sorted(none)[20]
    found = Counter(
        conclude(asked, drawn(asked, {"quiz_clarity": typical}, seed=seed)).metrics[0].verdict for seed in range(60)
    )
    assert found["b_better"] >= 0.7 * 60, found
    assert not found["a_better"]


def test_means_and_the_difference_are_those_of_the_items_that_both_have() -> None:
    asked, found = scores((50.0, 60.0), (70.0, 90.0), (None, 100.0), (10.0, None), (80.0, 80.0), (90.0, 95.0))
    (clarity,) = conclude(asked, found).metrics
    assert (clarity.a_mean, clarity.b_mean, clarity.difference) == (72.5, 81.25, 8.75)
    assert (clarity.compared, clarity.sources, clarity.a.items, clarity.b.items) == (4, 4, 5, 5)
    assert (clarity.a.unscored_items, clarity.b.unscored_items) == (1, 1)
    assert [(one.item, one.reason) for one in clarity.a.missing] == [("s2-0", "nothing_to_judge")]
    assert [one.item for one in clarity.favouring_b] == ["s1-0", "s0-0", "s5-0"]
    assert clarity.favouring_a == ()


def test_what_nobody_could_judge_is_shown_before_all_that_there_was_nothing_to_judge_in() -> None:
    asked, found = scores(*[(None, None)] * 25)
    lost = UnscoredItem(item="q1", reason="timed_out", details=("No judge answered in time.",))
    for number, side in ((23, "a"), (24, "b")):
        measured: Measured = getattr(found[number], side)
        results = {"quiz_clarity": measured.results["quiz_clarity"].model_copy(update={"unscored": (lost,)})}
        found[number] = found[number].model_copy(update={side: measured.model_copy(update={"results": results})})
    conclusion = conclude(asked, found)
    (clarity,) = conclusion.metrics
    for denominator, item in ((clarity.a, "s23-0"), (clarity.b, "s24-0")):
        assert [(one.item, one.reason) for one in denominator.missing[:2]] == [
            (item, "timed_out"),
            ("s0-0", "nothing_to_judge"),
        ]
    outcomes = {case.name: case.outcome for case in suite_of(conclusion, fail_if_worse=True).cases}
    assert outcomes["quiz_clarity"] == "unscored", "a judge that failed is no pass"


def test_with_few_sources_the_difference_is_told_and_nothing_is_declared() -> None:
    (clarity,) = conclude(*scores((10.0, 90.0), (10.0, 91.0), (10.0, 92.0), (10.0, 93.0))).metrics
    assert (clarity.difference, clarity.interval, clarity.p_value, clarity.verdict) == (
        81.5,
        None,
        None,
        "not_compared",
    )


def test_where_too_few_sources_are_why_nothing_is_shown_it_is_said_how_many_more_would_do() -> None:
    asked = experiment(sources=6, a_source=2)
    found = [
        pair(one.number, one.item, one.source.id, a=dict.fromkeys(METRICS, 100.0), b=dict.fromkeys(METRICS, 50.0))
        for one in asked.pairs
    ]
    conclusion = conclude(asked, found)
    assert {one.verdict for one in conclusion.metrics} == {"no_difference_shown"}
    (needed,) = {one.sources_needed for one in conclusion.metrics}
    assert needed is not None
    assert 6 < needed <= 9
    more = experiment(sources=needed, a_source=2)
    again = [
        pair(one.number, one.item, one.source.id, a=dict.fromkeys(METRICS, 100.0), b=dict.fromkeys(METRICS, 50.0))
        for one in more.pairs
    ]
    shown = conclude(more, again)
    assert {(one.verdict, one.sources_needed) for one in shown.metrics} == {("a_better", None)}
    assert f"With {needed - 6} more source" in headline(conclusion)


def test_an_interval_ends_where_the_scale_does() -> None:
    (clarity,) = conclude(*scores(*[(0.0, 100.0)] * 5, (100.0, 90.0))).metrics
    assert clarity.interval is not None
    assert clarity.interval[1] == 100.0
    assert clarity.interval[0] >= -100.0


@pytest.mark.parametrize("given", [[], [(None, None), (None, 5.0), (5.0, None)]])
def test_where_nothing_could_be_compared_every_figure_is_null_and_none_is_zero(
    given: list[tuple[float | None, float | None]],
) -> None:
    asked = experiment(sources=3, a_source=1, metrics=ONE)
    found = scores(*given)[1] if given else []
    conclusion = conclude(asked, found)
    (clarity,) = conclusion.metrics
    figures = (clarity.a_mean, clarity.b_mean, clarity.difference, clarity.interval, clarity.p_value)
    assert figures == (None,) * 5
    assert (clarity.adjusted_p_value, clarity.detectable, clarity.verdict) == (None, None, "not_compared")
    assert (conclusion.pairs, conclusion.measured, conclusion.verdict) == (3, len(given), "not_compared")
    if not given:
        assert (conclusion.preference.flip_rate, conclusion.preference.difference) == (None, None)


def test_the_preference_counts_wins_ties_flips_and_what_nobody_answered() -> None:
    asked = experiment(sources=6, a_source=1, metrics=ONE)
    same: dict[MetricName, float | None] = {"quiz_clarity": 50.0}
    said: list[tuple[Choice | None, Choice]] = [
        ("a", "a"),
        ("b", "b"),
        ("b", "b"),
        ("a", "b"),
        ("tie", "tie"),
        (None, "b"),
    ]
    found = [
        pair(one.number, one.item, one.source.id, a=same, b=same, preferred=preference(*orders))
        for one, orders in zip(asked.pairs, said, strict=True)
    ]
    in_parts = [
        one.model_copy(update={"preference": one.preference.model_copy(update={"excerpts": True})}) for one in found
    ]
    assert (conclude(asked, found).preference.excerpts, conclude(asked, in_parts).preference.excerpts) == (0, 5)
    preferred = conclude(asked, found).preference
    assert (preferred.wins_a, preferred.wins_b, preferred.ties, preferred.flipped) == (1, 2, 2, 1)
    assert (preferred.unscored, preferred.compared, preferred.flip_rate) == (1, 5, 0.2)
    assert (preferred.a_mean, preferred.b_mean, preferred.difference) == (40.0, 60.0, 20.0)
    assert [(one.verdict, one.flipped) for one in preferred.examples] == [
        ("a", False), ("b", False), ("b", False), ("tie", False), ("tie", True),
    ]  # fmt: skip


def test_one_variant_better_here_and_the_other_there_is_mixed() -> None:
    asked = experiment(metrics=("quiz_clarity", "quiz_coverage"))
    conclusion = conclude(asked, drawn(asked, {"quiz_clarity": 20.0, "quiz_coverage": -20.0}, seed=3))
    assert {one.metric: one.verdict for one in conclusion.metrics} == {
        "quiz_coverage": "a_better",
        "quiz_clarity": "b_better",
    }
    assert conclusion.verdict == "mixed"


def test_a_metric_that_differs_by_chance_alone_is_corrected_for_all_that_is_compared() -> None:
    asked = experiment()
    conclusion = conclude(asked, drawn(asked, {}, seed=11))
    for one in (*conclusion.metrics, conclusion.preference):
        assert one.p_value is not None
        assert one.adjusted_p_value is not None
        assert one.adjusted_p_value >= one.p_value


def test_a_part_with_several_flaws_is_one_part_and_one_without_weight_is_none() -> None:
    asked, found = scores(*[(50.0, 60.0)] * 5)
    labels = [("q1", "A", 0.5), ("q1", "B", 0.5), ("q2", "CLEAR", 1.0), ("q3", "TRIVIAL", 0.0)]
    items = [
        ItemLabel(item=item, label=label, value=0.0, reason="So.", weight=weight) for item, label, weight in labels
    ]
    flawed = Measured(
        material=QUIZ, results={"quiz_clarity": MetricResult(metric="quiz_clarity", score=60.0, items=tuple(items))}
    )
    (clarity,) = conclude(asked, [found[0].model_copy(update={"b": flawed}), *found[1:]]).metrics
    assert clarity.b.parts == clarity.a.parts - 1 + 2


def test_parts_that_a_judge_failed_on_lower_the_denominator_and_not_the_score() -> None:
    asked, found = scores(*[(50.0, 60.0)] * 5)
    lossy = Measured(material=QUIZ, results={"quiz_clarity": result("quiz_clarity", 60.0, unscored=3)})
    (clarity,) = conclude(asked, [found[0].model_copy(update={"b": lossy}), *found[1:]]).metrics
    assert (clarity.b_mean, clarity.b.items, clarity.b.unscored_items) == (60.0, 5, 0)
    assert (clarity.b.parts, clarity.b.unscored_parts, clarity.a.unscored_parts) == (5, 3, 0)
    assert [(one.item, one.part, one.reason) for one in clarity.b.missing] == [
        ("s0-0", f"lost{number}", "overloaded") for number in range(3)
    ]


def test_an_item_that_could_not_be_generated_is_named_with_its_variant_and_lowers_the_denominator() -> None:
    asked, found = scores(*[(50.0, 60.0)] * 5)
    lost = Measured(material=None, results={}, failure=Failure(reason="refused", details=("It declined.",)))
    conclusion = conclude(asked, [found[0].model_copy(update={"b": lost}), *found[1:]])
    (clarity,) = conclusion.metrics
    assert (clarity.compared, clarity.a.items, clarity.b.items, clarity.b.unscored_items) == (4, 5, 4, 1)
    (failed,) = conclusion.failed
    assert (failed.variant, failed.item, failed.reason) == ("docling_chunks", "s0-0", "refused")
    assert (clarity.b.missing[0].reason, clarity.b.missing[0].details) == ("refused", ("It declined.",))


def spend(cost: float | None, *, cached: bool = False, model: str = "m") -> Spend:
    return Spend(
        purpose="quiz_clarity", provider="openai", model=model, prompt_version="v1", input_tokens=100,
        output_tokens=10, cost_usd=cost, cached=cached,
    )  # fmt: skip


def test_the_outlay_tells_calls_tokens_cost_models_and_prompt_versions() -> None:
    asked, found = scores(*[(50.0, 60.0)] * 5)
    paid = (spend(0.5), spend(None, model="n"), spend(0.0, cached=True))
    results = [found[0].model_copy(update={"spends": paid}), *found[1:]]
    outlay = conclude(asked, results).outlay
    assert (outlay.calls, outlay.cached, outlay.input_tokens, outlay.output_tokens) == (2, 1, 200, 20)
    assert (outlay.cost_usd, outlay.unpriced, outlay.models) == (0.5, 1, ("openai/m", "openai/n"))
    assert [(one.purpose, one.version) for one in outlay.prompts] == [("quiz_clarity", "v1")]
    known = conclude(asked, results, paid=[spend(0.25)] * 3).outlay
    assert (known.calls, known.cost_usd, known.cached) == (3, 0.75, 1)


def test_results_of_another_experiment_or_twice_of_one_pair_are_refused() -> None:
    asked, found = scores(*[(50.0, 60.0)] * 5)
    with pytest.raises(InputError, match="none of this experiment"):
        conclude(experiment(sources=3, a_source=1, metrics=ONE), found)
    with pytest.raises(InputError, match="two results"):
        conclude(asked, [*found, found[0]])


def test_the_order_of_the_results_changes_nothing_and_a_conclusion_survives_json() -> None:
    asked = experiment(sources=6)
    found = drawn(asked, {"quiz_clarity": -9.0}, seed=5)
    conclusion = conclude(asked, found)
    assert conclude(asked, found[::-1]) == conclusion
    assert Conclusion.model_validate_json(conclusion.model_dump_json()) == conclusion
    assert "NaN" not in json.dumps(conclusion.model_dump(mode="json"))
