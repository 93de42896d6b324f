"""What a quiz is made from, out of what a request names."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.course_quizzes import CHAPTER, CURRICULUM, LEARNER
from touchstone.errors import InputError
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.retrieval import query_weakness, retrieve_content


def request(**changed: Any) -> QuizRequest:
    return QuizRequest.model_validate({"curriculum": "our-course", "chapter": "2", **changed})


def test_a_chapter_that_is_named_brings_what_was_taught_before_it() -> None:
    content = retrieve_content(request(), CURRICULUM)
    assert content.chapter == CHAPTER
    assert content.known == ("朋友", "名字", "……嗎", "學習", "圖書館", "銀行", "因為……所以……")


def test_a_chapter_that_is_given_whole_stands_by_itself() -> None:
    content = retrieve_content(QuizRequest(chapter=CHAPTER))
    assert (content.chapter, content.known) == (CHAPTER, CHAPTER.items)


def test_what_is_named_and_not_there_is_said() -> None:
    with pytest.raises(InputError, match="our-course is not at hand"):
        retrieve_content(request())
    with pytest.raises(InputError, match="has no chapter 7; it has 1, 2, 3"):
        retrieve_content(request(chapter="7"), CURRICULUM)
    with pytest.raises(InputError, match="learner mei is not at hand"):
        query_weakness(request(learner="mei"), retrieve_content(request(), CURRICULUM))


@pytest.mark.parametrize(
    ("changed", "given", "language", "items"),
    [
        ({}, None, "en", []),
        ({"ui_language": "zh-TW"}, None, "zh-TW", []),
        ({"learner": "mei"}, LEARNER, "en", ["銀行", "朋友"]),
        ({"learner": "mei", "ui_language": "ja"}, LEARNER, "ja", ["銀行", "朋友"]),
        ({"learner": {"id": "x", "ui_language": "es"}}, LEARNER, "es", []),
        ({}, LEARNER, "en", []),
    ],
)
def test_a_learner_says_the_language_and_the_weak_points(
    changed: dict[str, Any], given: Any, language: str, items: list[str]
) -> None:
    asked = request(**changed)
    found = query_weakness(asked, retrieve_content(asked, CURRICULUM), given)
    assert (found.ui_language, [point.item for point in found.weak_points]) == (language, items)


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ({"chapter": "2"}, "needs the curriculum"),
        ({"chapter": CHAPTER.model_dump(), "curriculum": "our-course"}, "leave that out"),
        ({"chapter": CHAPTER.model_dump(), "questions": 51}, "50"),
        ({"chapter": CHAPTER.model_dump(), "questions": 500}, "50"),
        ({"chapter": CHAPTER.model_dump(), "questions": 0}, "1"),
        ({"chapter": CHAPTER.model_dump(), "kinds": []}, "at least 1"),
        ({"chapter": CHAPTER.model_dump(), "kinds": ["essay"]}, "single_choice"),
        ({"chapter": CHAPTER.model_dump(), "ui_language": "English please"}, "pattern"),
    ],
)
def test_what_is_no_request_is_refused_and_the_fault_named(told: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        QuizRequest.model_validate(told)
