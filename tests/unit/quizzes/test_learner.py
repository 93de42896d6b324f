"""Which weak points of a learner a quiz dwells on."""

import pytest
from pydantic import ValidationError

from tests.support.course_quizzes import CURRICULUM, LEARNER
from touchstone.quizzes.learner import LearnerProfile, weakest


def test_the_worst_come_first_and_what_was_not_taught_by_then_is_left_out() -> None:
    assert [point.item for point in weakest(LEARNER, CURRICULUM.known_words("2"))] == ["銀行", "朋友"]
    assert [point.item for point in weakest(LEARNER, CURRICULUM.known_words("3"), most=2)] == ["餐廳", "銀行"]
    assert weakest(LEARNER, ()) == ()


def test_of_equal_rates_the_one_seen_more_often_goes_first_and_what_was_never_wrong_not_at_all() -> None:
    points = [
        {"item": "學習", "error_rate": 0.5, "seen": 2},
        {"item": "銀行", "error_rate": 0.5, "seen": 8},
        {"item": "朋友", "error_rate": 0.0, "seen": 8},
        {"item": "名字", "error_rate": 1.0, "seen": 0},
        {"item": "因為...所以...", "error_rate": 0.1, "seen": 1},
    ]
    learner = LearnerProfile.model_validate({"id": "x", "weak_points": points})
    assert [point.item for point in weakest(learner, CURRICULUM.known_words("2"))] == ["銀行", "學習", "因為...所以..."]


@pytest.mark.parametrize(
    "points",
    [
        [{"item": "學習", "error_rate": 1.1}],
        [{"item": "學習", "error_rate": -0.1}],
        [{"item": "學習", "error_rate": float("nan")}],
        [{"item": "學習", "error_rate": 0.5, "seen": -1}],
        [{"item": "學習", "error_rate": 0.5}, {"item": "學 習", "error_rate": 0.1}],
    ],
)
def test_what_is_no_profile_is_refused(points: list[dict[str, object]]) -> None:
    with pytest.raises(ValidationError):
        LearnerProfile.model_validate({"id": "x", "weak_points": points})
