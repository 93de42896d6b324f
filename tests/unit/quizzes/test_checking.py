"""Checking a quiz of one's own, with a judge and without."""

from typing import Any

import pytest

from tests.support.course_quizzes import CHAPTER, evaluated, flaw, quiz
from tests.support.judges import Line, Script
from touchstone.errors import InputError, OverloadedError
from touchstone.material import Quiz
from touchstone.quizzes.judging import apply_checks, check_quiz
from touchstone.quizzes.model import RULES, MadeQuiz

TWO = quiz({}, {"question_text": "What is 「學習」 in English?"})


async def check(given: Quiz = TWO, *lines: Line, **options: Any) -> tuple[MadeQuiz, list[str]]:
    script = Script({"evaluate": lines})
    judge = script.judges().get("claude", "fast") if lines else None
    found = await check_quiz(given, **{"ui_language": "en", "taught": CHAPTER.items, "evaluator": judge, **options})
    return found, script.prompts()


async def test_a_quiz_that_passed_every_rule_is_clean() -> None:
    found, asked = await check(TWO, evaluated())
    assert (found.state, found.checks_run, found.violations, found.attempt) == ("clean", RULES, (), 1)
    assert asked == ["claude/evaluate"]
    assert found.quiz == TWO


async def test_without_a_judge_a_quiz_without_faults_is_unchecked_and_the_rules_it_passed_are_listed() -> None:
    found, _ = await check()
    assert (found.state, found.checks_run, found.unchecked, found.stopped) == ("unchecked", RULES[:5], None, None)


async def test_without_the_learners_language_it_cannot_be_clean_either() -> None:
    found, _ = await check(TWO, evaluated(), ui_language=None)
    assert found.state == "unchecked"
    assert set(RULES) - set(found.checks_run) == {"question_language"}


async def test_without_a_chapter_the_judge_decides_alone_what_is_aligned() -> None:
    found, _ = await check(TWO, evaluated(), taught=None)
    assert (found.state, found.checks_run) == ("clean", RULES)


async def test_faults_of_structure_are_told_with_those_of_content_and_no_judge_is_asked() -> None:
    found, asked = await check(quiz({"answers": [], "question_text": "「学习」?"}, {}), evaluated())
    assert asked == []
    assert found.state == "violations"
    assert [one.rule for one in found.violations] == ["structure", "traditional_chinese", "question_language"]


@pytest.mark.parametrize("reply", [[flaw()], []])
async def test_what_the_judge_finds_is_listed_beside_what_the_checks_found(reply: list[Any]) -> None:
    found, _ = await check(quiz({"question_text": "What does 「学习」 mean?"}, {}), evaluated(reply))
    assert found.state == "violations"
    assert [one.decided_by for one in found.violations] == ["check", *("judge" for _ in reply)]


async def test_a_judge_that_fails_leaves_it_unchecked_with_what_the_checks_found() -> None:
    found, _ = await check(quiz({"question_text": "What does 「学习」 mean?"}), OverloadedError("503"))
    assert found.state == "unchecked"
    assert [one.rule for one in found.violations] == ["traditional_chinese"]
    assert found.unchecked is not None
    assert found.unchecked.reason == "overloaded"


def test_five_hundred_questions_are_checked_each() -> None:
    found = apply_checks(quiz(*({"answers": []} for _ in range(500))), ui_language="en")
    assert len(found.violations) == 500


def test_a_language_by_its_name_is_refused_and_not_passed_over() -> None:
    with pytest.raises(InputError, match=r"^ui_language must be a BCP 47 tag, as en, ja or zh-TW\.$"):
        apply_checks(quiz({}), ui_language="english")
    assert "question_language" not in apply_checks(quiz({}), ui_language="tlh").checks_run


@pytest.mark.parametrize("name", ["taught", "known"])
def test_words_are_a_list_and_no_text(name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name} must be a list of texts, and this is of type str\.$"):
        apply_checks(quiz({}), **{name: "图书馆"})


def test_what_is_no_quiz_is_refused() -> None:
    with pytest.raises(InputError, match=r"^A Quiz is wanted, and this is a str; Quiz\.model_validate"):
        apply_checks("1. What is 「學習」?")  # type: ignore[arg-type]  # what is wrong is the point
