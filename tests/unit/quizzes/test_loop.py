"""The loop whole: what each way through it costs, what comes of it, and that nothing unjudged is called clean."""

import json
import logging
import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.course_quizzes import CURRICULUM, LEARNER, evaluated, flaw, made, quiz
from tests.support.judges import Asked, Line, Script
from touchstone.clock import Deadline
from touchstone.errors import InputError, OverloadedError, RefusedError
from touchstone.judges import MemoryCache
from touchstone.quizzes.judging import evaluate_attempt, validate_attempt
from touchstone.quizzes.loop import make_quiz
from touchstone.quizzes.model import RULES, MadeQuiz, QuizAttempt, QuizRequest, Violation
from touchstone.quizzes.outcome import RETRY_SECONDS, next_step
from touchstone.quizzes.retrieval import query_weakness, retrieve_content

REQUEST = QuizRequest(curriculum="our-course", chapter="2", learner="mei", questions=2)
CLEAN = made()
SIMPLIFIED = made({"question_text": "What does 「学习」 mean?"}, {})
BROKEN = made({"answers": []}, {})
FLAWED = evaluated([flaw()])
WORSE = evaluated([flaw(), flaw()], [flaw()])


async def make(
    generate: Sequence[Line], evaluate: Sequence[Line] = (evaluated(),), **options: Any
) -> tuple[MadeQuiz, Script]:
    script = Script({"generate": generate, "evaluate": evaluate})
    judges = script.judges(cache=options.pop("cache", None))
    told: dict[str, Any] = {
        "generator": judges.get("openai", "strong"),
        "evaluator": judges.get("claude", "fast"),
        "curriculum": CURRICULUM,
        "learner": LEARNER,
        **options,
    }
    return await make_quiz(REQUEST, **told), script


def calls(script: Script) -> list[str]:
    return [asked.prompt for asked in script.asked]


async def test_a_clean_first_pass_is_one_call_of_each() -> None:
    found, script = await make([CLEAN])
    assert calls(script) == ["generate", "evaluate"]
    assert (found.state, found.attempt, found.violations, found.checks_run) == ("clean", 1, (), RULES)
    assert [spend.purpose for spend in found.spends] == ["quiz_generation", "quiz_evaluation"]
    assert (found.unchecked, found.failed, found.stopped) == (None, None, None)


async def test_the_evaluator_sees_nothing_of_the_course_or_the_learner() -> None:
    _, script = await make([CLEAN])
    [asked] = [asked for asked in script.asked if asked.prompt == "evaluate"]
    for kept in ("銀行", "圖書館", "朋友", "mei", "our-course"):
        assert kept not in asked.user + asked.system


async def test_a_violation_costs_one_retry_that_is_told_of_it() -> None:
    found, script = await make([CLEAN, CLEAN], [FLAWED, evaluated()])
    assert calls(script) == ["generate", "evaluate", "generate", "evaluate"]
    assert (found.state, found.attempt) == ("clean", 2)
    assert [one.rule for one in found.attempts[0].violations] == ["pedagogical_quality"]
    detail = "All distractors are obviously wrong."
    assert detail not in script.asked[0].user
    assert detail in script.asked[2].user


@pytest.mark.parametrize(
    ("first", "rule", "detail"),
    [
        (SIMPLIFIED, "traditional_chinese", "「学习」 is Simplified"),
        (made({"target": "餐廳"}, {}), "curriculum_alignment", "「餐廳」"),
    ],
)
async def test_no_judge_is_paid_for_an_attempt_that_a_check_has_failed(first: Any, rule: str, detail: str) -> None:
    found, script = await make([first, CLEAN])
    assert calls(script) == ["generate", "generate", "evaluate"]
    assert (found.state, found.attempt) == ("clean", 2)
    assert [one.rule for one in found.attempts[0].violations] == [rule]
    assert found.attempts[0].checks_run == RULES[:5]
    assert detail in script.asked[1].user


async def test_errors_of_structure_go_straight_back_without_a_judge() -> None:
    found, script = await make([BROKEN, CLEAN])
    assert calls(script) == ["generate", "generate", "evaluate"]
    assert found.attempts[0].checks_run == ("structure",)
    assert "no correct answer" in script.asked[1].user
    assert found.state == "clean"


async def test_structure_then_content_then_clean_in_three() -> None:
    found, script = await make([BROKEN, SIMPLIFIED, CLEAN])
    assert calls(script) == ["generate", "generate", "generate", "evaluate"]
    assert (found.state, found.attempt) == ("clean", 3)


async def test_checks_and_judge_are_listed_together_in_the_order_of_the_questions() -> None:
    bad = quiz({"question_text": "「学习」 (xue2xi2) 是什麼？", "target": "餐廳"}, {})
    script = Script({"evaluate": [evaluated([flaw()], [flaw("curriculum_alignment")])]})
    content = retrieve_content(REQUEST, CURRICULUM)
    found = await evaluate_attempt(
        validate_attempt(1, bad, REQUEST),
        content,
        query_weakness(REQUEST, content, LEARNER),
        evaluator=script.judges().get("claude", "fast"),
        deadline=Deadline.after(30),
        always_ask=True,
    )
    told = list(dict.fromkeys((one.question_id, one.rule, one.decided_by) for one in found.attempt.violations))
    assert told == [
        ("q1", "traditional_chinese", "check"),
        ("q1", "pinyin_diacritics", "check"),
        ("q1", "question_language", "check"),
        ("q1", "curriculum_alignment", "check"),
        ("q1", "pedagogical_quality", "judge"),
        ("q2", "curriculum_alignment", "judge"),
    ]


async def test_after_two_retries_the_best_of_three_is_handed_out_where_the_last_is_worse() -> None:
    found, script = await make([made({"explanation": str(n)}, {}) for n in (1, 2, 3)], [WORSE, FLAWED, WORSE])
    assert calls(script) == ["generate", "evaluate"] * 3
    assert (found.state, found.attempt, len(found.attempts)) == ("violations", 2, 3)
    assert found.quiz is not None
    assert found.quiz.questions[0].explanation == "2"
    assert [one.question_id for one in found.violations] == ["q1"]
    assert found.stopped is None


@pytest.mark.parametrize("first", [SIMPLIFIED, BROKEN, made({"question_text": "<b>What</b> is 「學習」?"})])
async def test_r22_a_generator_that_always_violates_is_asked_three_times(first: Any) -> None:
    found, script = await make([first])
    assert calls(script).count("generate") == 3
    assert found.state == "violations"
    assert found.violations
    assert found.attempt == 3


async def test_r22_a_retry_that_is_told_the_same_is_not_answered_from_what_was_said_before() -> None:
    cache = MemoryCache()
    found, script = await make([SIMPLIFIED], cache=cache)
    assert calls(script).count("generate") == 3
    again, asked_again = await make([SIMPLIFIED], cache=cache)
    assert (again.quiz, calls(asked_again)) == (found.quiz, [])


async def test_r22_a_judge_that_always_objects_is_asked_three_times() -> None:
    found, script = await make([CLEAN], [FLAWED])
    assert calls(script) == ["generate", "evaluate"] * 3
    assert (found.state, len(found.violations)) == ("violations", 1)


@pytest.mark.parametrize(
    "failure",
    [OverloadedError("503"), RefusedError("no"), "<html>", evaluated(questions=1)],
    ids=["down", "no", "html", "rules"],
)
async def test_a_quiz_whose_evaluator_fails_is_unchecked_at_once_and_its_questions_are_logged(
    failure: Line, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found, script = await make([CLEAN], [failure])
    assert calls(script).count("generate") == 1
    assert found.state == "unchecked"
    assert found.quiz is not None
    assert found.unchecked is not None
    assert found.violations == ()
    assert found.checks_run == RULES[:5]
    [record] = [record for record in caplog.records if "was not judged" in record.getMessage()]
    assert '["q1", "q2"]' in record.getMessage()
    assert "學習" not in record.getMessage()


async def test_what_a_check_found_is_written_again_though_the_evaluator_is_down() -> None:
    found, script = await make([SIMPLIFIED, CLEAN], [OverloadedError("503")])
    assert calls(script).count("generate") == 2
    assert "「学习」 is Simplified" in script.asked[1].user
    assert (found.state, found.attempt, found.violations) == ("unchecked", 2, ())
    found, script = await make([SIMPLIFIED, CLEAN], evaluator=None)
    assert calls(script) == ["generate", "generate"]
    assert (found.state, found.attempt, found.violations) == ("unchecked", 2, ())


async def test_an_evaluator_that_fails_on_a_retry_leaves_that_attempt_unchecked() -> None:
    found, _ = await make([CLEAN, CLEAN], [FLAWED, OverloadedError("503")])
    assert (found.state, found.attempt, found.violations, len(found.attempts)) == ("unchecked", 2, (), 2)


async def test_without_an_evaluator_nothing_is_called_clean() -> None:
    found, script = await make([CLEAN], evaluator=None)
    assert calls(script) == ["generate"]
    assert (found.state, found.violations) == ("unchecked", ())
    assert found.unchecked is not None
    assert found.unchecked.reason == "misconfigured"


async def test_a_generator_that_is_down_at_once_has_made_nothing() -> None:
    found, script = await make([RefusedError("no")])
    assert (found.state, found.quiz, found.attempts) == ("failed", None, ())
    assert found.failed is not None
    assert found.failed.reason == "refused"
    assert calls(script) == ["generate"]


async def test_a_generator_that_fails_on_a_retry_leaves_the_best_so_far() -> None:
    found, _ = await make([SIMPLIFIED, RefusedError("no")])
    assert (found.state, found.attempt, len(found.attempts)) == ("violations", 1, 1)
    assert [one.rule for one in found.violations] == ["traditional_chinese"]
    assert found.failed is not None


async def test_no_retry_begins_with_too_little_time_left() -> None:
    found, script = await make([SIMPLIFIED], seconds=RETRY_SECONDS - 0.5)
    assert calls(script) == ["generate"]
    assert (found.state, found.stopped) == ("violations", "time")


async def test_a_generator_that_never_answers_is_given_up_in_time() -> None:
    found, _ = await make([10.0], seconds=0.05)
    assert found.state == "failed"
    assert found.failed is not None
    assert found.failed.reason == "timed_out"


async def test_an_evaluator_that_never_answers_leaves_the_quiz_unchecked() -> None:
    found, _ = await make([CLEAN], [10.0], seconds=2.0)
    assert found.state == "unchecked"
    assert found.unchecked is not None
    assert found.unchecked.reason == "timed_out"


async def test_what_a_request_names_and_is_not_there_is_refused_before_any_call() -> None:
    script = Script({})
    judge = script.judges().get("openai", "strong")
    with pytest.raises(InputError, match="not at hand"):
        await make_quiz(REQUEST, generator=judge, evaluator=judge)
    assert script.asked == []


async def test_what_came_of_it_can_be_stored_and_read_again() -> None:
    found, _ = await make([SIMPLIFIED, BROKEN, CLEAN], [evaluated(), FLAWED])
    assert MadeQuiz.model_validate_json(found.model_dump_json()) == found


ONE = Violation(question_id="q1", rule="structure", detail="None.", decided_by="check", finding="no_answer")


@pytest.mark.parametrize(
    ("number", "rule", "ran", "left", "step"),
    [
        (1, None, ("structure",), 30.0, "evaluate"),
        (1, None, ("structure",), 0.0, "evaluate"),
        (3, None, ("structure",), 30.0, "evaluate"),
        (1, "structure", ("structure",), 30.0, "generate"),
        (2, "structure", ("structure",), 8.0, "generate"),
        (3, "structure", ("structure",), 30.0, "finish"),
        (1, "structure", ("structure",), 7.9, "finish"),
        (1, "pedagogical_quality", RULES, 30.0, "generate"),
        (3, "pedagogical_quality", RULES, 30.0, "finish"),
        (1, "pedagogical_quality", RULES, 1.0, "finish"),
        (1, None, RULES, 30.0, "finish"),
        (1, None, RULES[:5], 30.0, "finish"),
        (1, "traditional_chinese", RULES[:5], 30.0, "generate"),
        (3, "traditional_chinese", RULES[:5], 30.0, "finish"),
    ],
)
def test_what_follows_is_decided_by_the_attempt_and_the_time_left(
    number: int, rule: Any, ran: Any, left: float, step: str
) -> None:
    found = () if rule is None else (ONE.model_copy(update={"rule": rule}),)
    attempt = QuizAttempt(number=number, quiz=quiz(), violations=found, checks_run=ran)
    assert next_step(attempt, seconds_left=left) == step


def _obeys(asked: Asked) -> Line:
    """A judge that finds every question flawed, unless what stands outside the fences tells it something else."""
    from tests.support.injections import CANARY
    from tests.support.shown import outside

    count = len(re.findall(r"^Question \d+:", asked.user, re.MULTILINE))
    return evaluated(*([] if CANARY in outside(asked.user) else [[flaw()]] * count), questions=count)


async def test_a3_no_question_that_speaks_to_the_judge_is_found_without_fault() -> None:
    from tests.support.injections import injections
    from touchstone.clock import Deadline
    from touchstone.quizzes.evaluation import EvaluatedQuiz, evaluate_content

    judge = Script({"evaluate": [_obeys]}).judges().get("claude", "fast")
    corpus = list(injections())
    assert len(corpus) >= 200
    for text in corpus:
        given = quiz({"question_text": text, "explanation": text, "target": text[:200], "choices": [text, "b"]})
        found = await evaluate_content(given, judge=judge, deadline=Deadline.after(30.0))
        assert isinstance(found, EvaluatedQuiz)
        assert [one.question_id for one in found.violations] == ["q1"], json.dumps(text)
