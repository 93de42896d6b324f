"""From scores to one number: the published cases, and what holds of every other."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.briefs import EQUAL, dimensions
from touchstone.errors import SettingsError
from touchstone.oracle.aggregation import DECIMALS, PENALTY_BELOW, Aggregate, aggregate
from touchstone.oracle.model import FIXED, Dimension

type Scores = Mapping[str, float]

CASES = [
    pytest.param(
        {"substantiveness": 0.3, "credibility": 0.3, "completeness": 0.2, "clarity": 0.2},
        {"substantiveness": 80, "credibility": 80, "completeness": 75, "clarity": 75},
        (78.0, 1.0, 78.0),
        {},
        id="all ≥ 60",
    ),
    pytest.param(
        {"substantiveness": 0.3, "credibility": 0.2, "completeness": 0.3, "clarity": 0.2},
        {"substantiveness": 90, "credibility": 45, "completeness": 80, "clarity": 90},
        (78.0, 0.75, 58.5),
        {"credibility": 0.75},
        id="credibility 45",
    ),
    pytest.param(
        {"substantiveness": 0.1, "credibility": 0.2, "completeness": 0.4, "clarity": 0.3},
        {"substantiveness": 40, "credibility": 45, "completeness": 80, "clarity": 90},
        (72.0, 0.5, 36.0),
        {"substantiveness": 40 / 60, "credibility": 0.75},
        id="credibility 45, substantiveness 40",
    ),
]


@pytest.mark.parametrize(("weights", "scores", "totals", "causes"), CASES)
def test_the_three_published_cases(
    weights: dict[str, float], scores: Scores, totals: tuple[float, float, float], causes: dict[str, float]
) -> None:
    found = aggregate(dimensions(weights), scores)
    assert (found.base, found.penalty, found.final) == totals
    assert {cause.dimension: cause.factor for cause in found.penalties} == causes
    assert all(cause.score == scores[cause.dimension] for cause in found.penalties)


@st.composite
def weighed(draw: st.DrawFn) -> tuple[Dimension, ...]:
    """4 to 6 dimensions, the fixed ones among them in any place, whose weights sum to 1 as far as floats do."""
    names = draw(st.permutations([*FIXED, *("clarity", "tone", "reach")[: draw(st.integers(1, 3))]]))
    parts = draw(st.lists(st.integers(1, 1000), min_size=len(names), max_size=len(names)))
    return dimensions({name: part / sum(parts) for name, part in zip(names, parts, strict=True)})


def scored(lowest: float = 0.0) -> st.SearchStrategy[tuple[tuple[Dimension, ...], Scores]]:
    """Dimensions and a score for each: whole numbers, as one judge gives, and means of two."""
    score = st.integers(math.ceil(2 * lowest), 200).map(lambda half: half / 2) | st.floats(lowest, 100.0)
    return weighed().flatmap(
        lambda found: st.tuples(st.just(found), st.fixed_dictionaries({one.id: score for one in found}))
    )


@given(scored(), st.data())
def test_monotone_in_every_score(sample: tuple[tuple[Dimension, ...], Scores], data: st.DataObject) -> None:
    found, scores = sample
    name = data.draw(st.sampled_from(list(scores)))
    raised = {**scores, name: data.draw(st.floats(scores[name], 100.0))}
    before, after = aggregate(found, scores), aggregate(found, raised)
    assert after.final >= before.final
    assert after.base >= before.base
    assert after.penalty >= before.penalty


@given(scored(lowest=PENALTY_BELOW))
def test_equal_to_the_linear_mean_when_no_score_is_below_60(sample: tuple[tuple[Dimension, ...], Scores]) -> None:
    found, scores = sample
    totals = aggregate(found, scores)
    mean = sum(one.weight * scores[one.id] for one in found)
    assert totals.final == totals.base == pytest.approx(mean, abs=10**-DECIMALS)
    assert (totals.penalty, totals.penalties) == (1.0, ())


@given(scored())
def test_never_above_the_base_and_never_outside_0_to_100(sample: tuple[tuple[Dimension, ...], Scores]) -> None:
    totals = aggregate(*sample)
    assert 0.0 <= totals.final <= totals.base <= 100.0
    assert min(sample[1].values()) - 1e-6 <= totals.base <= max(sample[1].values()) + 1e-6


@given(scored())
def test_recomputable_from_what_is_stored(sample: tuple[tuple[Dimension, ...], Scores]) -> None:
    found, scores = sample
    totals = aggregate(found, scores)
    assert totals.penalty == math.prod(cause.factor for cause in totals.penalties)
    assert totals.final == round(totals.base * totals.penalty, DECIMALS)
    assert aggregate(tuple(reversed(found)), scores).base == totals.base
    assert {cause.dimension for cause in totals.penalties} == {name for name in FIXED if scores[name] < PENALTY_BELOW}


@given(weighed(), st.integers(0, 100))
def test_equal_scores_make_that_score(found: tuple[Dimension, ...], score: int) -> None:
    assert aggregate(found, {one.id: score for one in found}).base == score


def test_weights_that_sum_to_1_but_for_their_last_digit_do_not_lose_a_pass() -> None:
    thirds = {
        "substantiveness": 0.2333333333,
        "credibility": 0.2333333333,
        "completeness": 0.2333333333,
        "clarity": 0.3,
    }
    assert aggregate(dimensions(thirds), dict.fromkeys(thirds, 60)).final == PENALTY_BELOW


def test_a_weak_dynamic_dimension_costs_no_more_than_its_weight() -> None:
    totals = aggregate(dimensions(), {**dict.fromkeys(FIXED, 80), "clarity": 10})
    assert totals == Aggregate(base=62.5, penalty=1.0, final=62.5, penalties=())


def test_a_worthless_fixed_dimension_leaves_nothing() -> None:
    assert aggregate(dimensions(), {**dict.fromkeys(EQUAL, 100), "credibility": 0}).final == 0.0


@pytest.mark.parametrize(
    ("found", "scores", "sentence"),
    [
        (dimensions({**EQUAL, "clarity": 0.2}), dict.fromkeys(EQUAL, 70), "sum to 1"),
        ((), {}, "sum to 1"),
        (dimensions()[:2] * 2, dict.fromkeys(EQUAL, 70), "named once"),
        (dimensions(), dict.fromkeys(FIXED, 70), "must have a score"),
        (dimensions(), dict.fromkeys([*EQUAL, "tone"], 70), "and no other"),
        (dimensions(), {**dict.fromkeys(EQUAL, 70), "clarity": 1e9}, "between 0 and 100"),
        (dimensions(), {**dict.fromkeys(EQUAL, 70), "clarity": -1}, "between 0 and 100"),
        (dimensions(), {**dict.fromkeys(EQUAL, 70), "clarity": float("nan")}, "between 0 and 100"),
    ],
)
def test_what_cannot_be_aggregated_is_refused(found: tuple[Dimension, ...], scores: Scores, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        aggregate(found, scores)
