"""What a course is, what it is refused for, and what its learner has met by a chapter."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.course_quizzes import CHAPTERS, CURRICULUM
from touchstone.errors import InputError
from touchstone.quizzes.curriculum import Chapter, Curriculum, folded


def test_the_words_of_a_chapter_are_known_with_those_of_all_before_it() -> None:
    assert CURRICULUM.known_words("1") == ("朋友", "名字", "……嗎")
    assert CURRICULUM.known_words("2")[3:] == ("學習", "圖書館", "銀行", "因為……所以……")
    assert CURRICULUM.chapter("3").title == "吃飯"


def test_a_chapter_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"The curriculum our-course has no chapter 9; it has 1, 2, 3\.") as caught:
        CURRICULUM.chapter("9")
    assert caught.value.where == "chapter"
    many = [{**CHAPTERS[0], "id": str(number)} for number in range(1, 31)]
    with pytest.raises(InputError, match=r"it has 1, 2, .*, 10 and 20 more"):
        Curriculum.model_validate({"id": "x", "title": "X", "chapters": many}).known_words("x" * 500)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"vocabulary": [], "grammar": []}, "at least one word or pattern"),
        ({"vocabulary": [{"hanzi": "學習"}, {"hanzi": " 學習"}]}, "teaches 學習 twice"),
        ({"grammar": [{"pattern": "因為……所以……"}, {"pattern": "因為...所以..."}]}, "twice"),
        ({"vocabulary": [{"hanzi": " "}]}, "says nothing"),
        ({"vocabulary": [{"hanzi": "學" * 201}]}, "200"),
        ({"vocabulary": [{"hanzi": "學", "meanings": {"English language": "study"}}]}, "pattern"),
        ({"vocabulary": [{"hanzi": "學", "level": 2}]}, "Extra"),
    ],
)
def test_what_is_no_chapter_is_refused_and_the_fault_named(changed: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        Chapter.model_validate({"id": "1", "title": "One", **changed})


def test_a_word_with_two_readings_may_be_there_twice() -> None:
    words = [{"hanzi": "行", "pinyin": "xíng"}, {"hanzi": "行", "pinyin": "háng"}]
    assert Chapter.model_validate({"id": "1", "title": "One", "vocabulary": words}).items == ("行",)


def test_chapters_have_ids_of_their_own() -> None:
    with pytest.raises(ValidationError, match="every chapter needs an id of its own; 1 is there twice"):
        Curriculum.model_validate({"id": "x", "title": "X", "chapters": [CHAPTERS[0], CHAPTERS[0]]})


@pytest.mark.parametrize("typed", ["因為…所以…", "因為⋯⋯所以⋯⋯", "因為...所以...", "因為 ～ 所以 ～", "因為~所以~"])
def test_all_ways_to_type_a_pattern_are_the_same(typed: str) -> None:
    assert folded(typed) == folded("因為……所以……")
    assert folded("因為") != folded(typed)
