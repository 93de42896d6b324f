"""Checking a quiz of one's own, with a judge and without."""

from typing import Any

import pytest

from tests.support.course_quizzes import CHAPTER, evaluated, flaw, quiz
from tests.support.judges import Line, Script
from touchstone.errors import OverloadedError
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
