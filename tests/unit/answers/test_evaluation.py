"""Deep evaluation: five scores that a judge gives, one mean that we compute."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import replies
from tests.support.judges import MOMENT, Line, Script
from touchstone.answers.evaluation import DIMENSIONS, EQUAL_WEIGHTS, MAX_SUGGESTIONS, Dimension, evaluate, overall
from touchstone.answers.model import DeepEvaluation, Solution
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, SettingsError, UnreadableError

SOLUTION = Solution(answer="Canberra", steps="It is Canberra.", provider="claude", model="m")
SCORES: dict[Dimension, float] = {
    "correctness": 1.0,
    "completeness": 0.8,
    "clarity": 0.9,
    "pedagogy": 0.5,
    "format": 0.3,
}


async def _evaluate(*lines: Line, weights: dict[Any, float] | None = None) -> DeepEvaluation:
    judge = Script({"evaluate": lines}).judges().default("evaluate")
    assert judge is not None
    evaluated = await evaluate(
        "Name the capital of Australia.",
        SOLUTION,
        judge=judge,
        deadline=Deadline.after(5.0),
        weights=weights or EQUAL_WEIGHTS,
        clock=lambda: MOMENT,
    )
    assert [spend.purpose for spend in evaluated.spends] == ["evaluate"]
    return evaluated.evaluation


async def test_the_mean_is_computed_here_and_the_rest_is_kept() -> None:
    found = await _evaluate(replies.evaluate(better_approach=" Use a map. "))
    assert {name: getattr(found, name) for name in DIMENSIONS} == SCORES
    assert found.overall == pytest.approx(0.7)
    assert found.improvement_suggestions == ("Number the steps.",)
    assert found.better_approach == "Use a map."
    assert (found.provider, found.model) == ("gemini", "gemini-3.8-flash-answered")
    assert found.evaluated_at == MOMENT


async def test_weights_change_the_mean_and_nothing_else() -> None:
    weights: dict[Any, float] = {**dict.fromkeys(DIMENSIONS, 0.0), "correctness": 3.0, "format": 1.0}
    assert (await _evaluate(replies.evaluate(), weights=weights)).overall == pytest.approx((3 * 1.0 + 0.3) / 4)


async def test_no_better_approach_is_none_and_suggestions_are_few() -> None:
    found = await _evaluate(replies.evaluate(better_approach="", improvement_suggestions=list("abcdefgh")))
    assert found.better_approach is None
    assert len(found.improvement_suggestions) == MAX_SUGGESTIONS


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("score", [1e9, -1, 1.01, "0.9", None, True, "B", [0.9]])
async def test_a5_a_score_outside_0_to_1_is_unreadable_and_never_an_evaluation(dimension: str, score: object) -> None:
    with pytest.raises(UnreadableError):
        await _evaluate(replies.evaluate(**{dimension: score}))


@pytest.mark.parametrize("extra", [{"overall": 1.0}, {"humour": 0.5}])
async def test_a5_a_judge_does_not_compute_totals_or_add_dimensions(extra: dict[str, float]) -> None:
    with pytest.raises(UnreadableError):
        await _evaluate(replies.evaluate(**extra))


async def test_a_judge_that_fails_is_an_error_that_says_how() -> None:
    with pytest.raises(OverloadedError):
        await _evaluate(OverloadedError("Overloaded."))


ONES: dict[Any, float] = dict.fromkeys(DIMENSIONS, 1.0)


@pytest.mark.parametrize(
    "weights",
    [
        {"correctness": 1.0},
        dict.fromkeys(DIMENSIONS, 0.0),
        {**ONES, "humour": 1.0},
        {**ONES, "format": -0.1},
        {**ONES, "format": float("nan")},
        {**ONES, "format": float("inf")},
    ],
)
async def test_wrong_weights_are_refused_before_a_call_is_paid(weights: dict[Any, float]) -> None:
    with pytest.raises(SettingsError, match="weights of a deep evaluation"):
        await _evaluate(weights=weights)


_score = st.floats(0, 1)
_weight = st.floats(0, 1e300)


@given(st.tuples(*[_score] * 5), st.tuples(*[_weight] * 5).filter(any))
def test_the_mean_lies_between_the_lowest_and_the_highest_score(
    scores: tuple[float, ...], weights: tuple[float, ...]
) -> None:
    mean = overall(dict(zip(DIMENSIONS, scores, strict=True)), dict(zip(DIMENSIONS, weights, strict=True)))
    assert min(scores) - 1e-9 <= mean <= max(scores) + 1e-9


@given(st.tuples(*[_score] * 5), st.floats(0.01, 100))
def test_only_the_proportion_of_the_weights_counts(scores: tuple[float, ...], factor: float) -> None:
    given_scores = dict(zip(DIMENSIONS, scores, strict=True))
    scaled: dict[Dimension, float] = dict.fromkeys(DIMENSIONS, factor)
    assert overall(given_scores, scaled) == pytest.approx(overall(given_scores))
