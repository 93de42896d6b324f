"""What a quiz is, and what is refused as none."""

from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.material import Question, Quiz
from touchstone.material.items import MAX_CHOICES, MAX_QUESTIONS
from touchstone.material.parts import MAX_TEXT_CHARS

QUESTION = {
    "id": "q1",
    "kind": "single_choice",
    "question_text": "What is 2 + 2?",
    "choices": ["4", "5"],
    "answers": ["4"],
}


def question(**changed: Any) -> Question:
    return Question.model_validate({**QUESTION, **changed})


def test_the_choices_that_are_not_in_the_key_are_distractors() -> None:
    assert question(choices=["4", "5", "6"]).distractors == ("5", "6")
    assert question(kind="multiple_choice", answers=["4", "6"], choices=["4", "5", "6"]).distractors == ("5",)


@pytest.mark.parametrize("kind", ["true_false", "fill_in_the_blank"])
def test_without_anything_to_choose_from_there_are_none(kind: str) -> None:
    found = question(kind=kind)
    assert (found.chosen, found.distractors) == (False, ())


@pytest.mark.parametrize(
    "changed",
    [
        {"answers": []},
        {"answers": ["7"]},
        {"answers": ["4", "5"]},
        {"choices": []},
        {"choices": ["4", "4", ""]},
        {"question_text": "<p onclick=alert(1)>2 + 2</p>"},
        {"question_text": "𠮷野家の混ぜ書き x²"},
        {"choices": [str(number) for number in range(MAX_CHOICES)]},
        {"question_text": "x" * MAX_TEXT_CHARS},
        {"chunk": "", "explanation": ""},
    ],
    ids=[
        "no key",
        "key outside",
        "several keys",
        "no choices",
        "same choices",
        "html",
        "scripts",
        "many",
        "long",
        "blank",
    ],
)
def test_a_bad_question_is_one_all_the_same_for_rules_and_metrics_to_find(changed: dict[str, Any]) -> None:
    question(**changed)


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"question_text": " \u200b\n"}, "question_text"),
        ({"question_text": "x" * (MAX_TEXT_CHARS + 1)}, "question_text"),
        ({"id": ""}, "id"),
        ({"id": "x" * 129}, "id"),
        ({"kind": "essay"}, "kind"),
        ({"choices": ["x"] * (MAX_CHOICES + 1)}, "choices"),
        ({"answers": ["x"] * (MAX_CHOICES + 1)}, "answers"),
        ({"choices": [4, 5]}, "choices"),
        ({"hint": "It is even."}, "hint"),
    ],
)
def test_what_is_no_question_is_refused_with_the_field_named(changed: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as caught:
        question(**changed)
    assert caught.value.errors()[0]["loc"][0] == where


def test_a_quiz_has_1_to_500_questions() -> None:
    many = [question(id=f"q{number}") for number in range(MAX_QUESTIONS)]
    assert len(Quiz(questions=tuple(many)).questions) == 500
    with pytest.raises(ValidationError):
        Quiz(questions=(*many, question(id="more")))
    with pytest.raises(ValidationError):
        Quiz(questions=())


def test_two_questions_of_one_id_are_refused_and_the_id_is_named() -> None:
    with pytest.raises(ValidationError, match="every question needs an id of its own; q1 is there twice"):
        Quiz(questions=(question(), question(id="q2"), question(question_text="What is 3 + 3?")))


def test_a_quiz_does_not_change_and_comes_back_as_it_was_sent() -> None:
    quiz = Quiz(questions=(question(),))
    with pytest.raises(ValidationError):
        quiz.questions = ()  # type: ignore[misc]
    assert Quiz.model_validate_json(quiz.model_dump_json()) == quiz
