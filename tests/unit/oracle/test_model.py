"""What a task may say, and what a record of a judgement can hold."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.support.briefs import EQUAL, dimensions
from touchstone.oracle.model import (
    FIXED,
    MAX_CRITERIA,
    MAX_CRITERION_CHARS,
    MAX_DESCRIPTION_CHARS,
    Brief,
    CriterionCheck,
    Dimension,
    Dimensions,
    DimensionScore,
    GateCheck,
    IndividualScoring,
    Suggestion,
)

TASK: dict[str, Any] = {"description": "Write a report.", "acceptance_criteria": ["Names its sources."]}
DIMENSION: dict[str, Any] = {"id": "clarity", "name": "Clarity", "description": "Is it clear?", "weight": 0.2}

WRONG_TASKS: list[tuple[dict[str, Any], tuple[str | int, ...]]] = [
    ({"description": ""}, ("description",)),
    ({"description": " \n\t"}, ("description",)),
    ({"description": "\u200b\u2060"}, ("description",)),
    ({"description": "x" * (MAX_DESCRIPTION_CHARS + 1)}, ("description",)),
    ({"description": "\ud800"}, ("description",)),
    ({"acceptance_criteria": []}, ("acceptance_criteria",)),
    ({"acceptance_criteria": ["c"] * (MAX_CRITERIA + 1)}, ("acceptance_criteria",)),
    ({"acceptance_criteria": ["c"] * 40}, ("acceptance_criteria",)),
    ({"acceptance_criteria": "Names its sources."}, ("acceptance_criteria",)),
    ({"acceptance_criteria": ["c", " "]}, ("acceptance_criteria", 1)),
    ({"acceptance_criteria": ["c", 3]}, ("acceptance_criteria", 1)),
    ({"acceptance_criteria": ["x" * (MAX_CRITERION_CHARS + 1)]}, ("acceptance_criteria", 0)),
    ({"language": "fr"}, ("language",)),
    ({"deadline": "tomorrow"}, ("deadline",)),
]


@pytest.mark.parametrize(("changes", "place"), WRONG_TASKS)
def test_a_task_that_is_wrong_is_refused_with_the_place(changes: dict[str, Any], place: tuple[str | int, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        Brief.model_validate({**TASK, **changes})
    assert caught.value.errors()[0]["loc"] == place


def test_the_longest_task_fits() -> None:
    criteria = ["准" * MAX_CRITERION_CHARS] * MAX_CRITERIA
    found = Brief.model_validate({"description": "写" * MAX_DESCRIPTION_CHARS, "acceptance_criteria": criteria})
    assert len(found.acceptance_criteria) == MAX_CRITERIA
    assert found.language is None


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "Clarity"},
        {"id": "1st"},
        {"id": "x"},
        {"id": "a" * 41},
        {"name": " "},
        {"description": ""},
        {"weight": 0.0},
        {"weight": -0.1},
        {"weight": 1.1},
        {"weight": float("nan")},
        {"fixed": True},
    ],
)
def test_a_dimension_that_is_wrong_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Dimension.model_validate({**DIMENSION, **changes})


def test_three_dimensions_are_every_tasks_own() -> None:
    assert FIXED == ("substantiveness", "credibility", "completeness")
    assert all(Dimension.model_validate({**DIMENSION, "id": name}).fixed for name in FIXED)
    assert not Dimension.model_validate(DIMENSION).fixed


def test_a_dimension_is_the_same_after_it_was_printed() -> None:
    found = Dimension.model_validate(DIMENSION)
    assert Dimension.model_validate_json(found.model_dump_json()) == found
    with pytest.raises(ValidationError):
        found.weight = 1.0  # type: ignore[misc]


MOST = {**dict.fromkeys(FIXED, 0.2), "clarity": 0.2, "tone": 0.1, "reach": 0.1}
FLAWED: list[tuple[dict[str, float], str]] = [
    ({"credibility": 0.5, "completeness": 0.2, "clarity": 0.2, "tone": 0.1}, "substantiveness must be among them"),
    ({**EQUAL, "clarity": 0.2}, "the weights must sum to 1, not to 0.95"),
    (dict.fromkeys(FIXED, 1 / 3), "at least 4 items"),
    ({**MOST, "reach": 0.05, "depth": 0.05}, "at most 6 items"),
]


@pytest.mark.parametrize("weights", [EQUAL, MOST])
def test_a_task_has_four_to_six_dimensions(weights: dict[str, float]) -> None:
    whole = TypeAdapter(Dimensions)
    found = whole.validate_python(dimensions(weights))
    assert whole.validate_json(whole.dump_json(found)) == found == dimensions(weights)


@pytest.mark.parametrize(("weights", "sentence"), FLAWED)
def test_dimensions_that_are_no_whole_are_refused(weights: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        TypeAdapter(Dimensions).validate_python(dimensions(weights))


def test_no_dimension_is_there_twice() -> None:
    twice = (*dimensions({**EQUAL, "clarity": 0.125}), *dimensions({"clarity": 0.125}))
    with pytest.raises(ValidationError, match="every dimension must be there once"):
        TypeAdapter(Dimensions).validate_python(twice)


@pytest.mark.parametrize(("passed", "whole"), [((True, True), True), ((True, False), False), ((False,), False)])
def test_one_criterion_that_is_not_met_fails_the_whole(passed: tuple[bool, ...], whole: bool) -> None:
    checks = tuple(CriterionCheck(criterion="c", passed=each, reason="r") for each in passed)
    assert GateCheck(criteria_checks=checks).passed is whole


def test_a_gate_without_criteria_lets_nobody_through() -> None:
    with pytest.raises(ValidationError):
        GateCheck(criteria_checks=())


@pytest.mark.parametrize("score", [-1, 101, 10**9, 59.5, None])
def test_a_score_is_a_whole_number_of_0_to_100(score: Any) -> None:
    with pytest.raises(ValidationError):
        DimensionScore(dimension="clarity", band="C", score=score, evidence="e", feedback="f")


@pytest.mark.parametrize("many", [0, 1, 3])
def test_an_author_gets_two_suggestions_always(many: int) -> None:
    suggestion = Suggestion(problem="No sources.", suggestion="Name them.", severity="high")
    fields: dict[str, Any] = {"dimension_scores": (), "overall_band": "B"}
    fields |= {"weighted_base": 78.0, "penalty": 1.0, "penalized_total": 78.0}
    assert IndividualScoring(**fields, revision_suggestions=(suggestion,) * 2).risk_flags == ()
    with pytest.raises(ValidationError):
        IndividualScoring(**fields, revision_suggestions=(suggestion,) * many)
