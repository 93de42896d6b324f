"""Quizzes as models write them, and what they are told of the attempt before."""

import json
import re
from typing import Any

import pytest

from tests.support.course_quizzes import CHAPTER, CURRICULUM, LEARNER, made, quiz
from tests.support.judges import Asked, Line, Script
from tests.support.shown import outside
from touchstone.clock import Deadline
from touchstone.errors import OverloadedError, RefusedError, SettingsError
from touchstone.judges import EnvironmentKeys, Judges, load_registry
from touchstone.judges.calls import NotScored
from touchstone.quizzes.generation import (
    SHOWN_KNOWN,
    TIER,
    GeneratedQuiz,
    generate_quiz,
    model_for_generation,
    open_generator,
)
from touchstone.quizzes.model import Content, QuizAttempt, QuizRequest, Violation
from touchstone.quizzes.retrieval import query_weakness, retrieve_content

REQUEST = QuizRequest(curriculum="our-course", chapter="2", learner="mei", questions=2)
CONTENT = retrieve_content(REQUEST, CURRICULUM)
WEAKNESS = query_weakness(REQUEST, CONTENT, LEARNER)


async def generate(
    *lines: Line, request: QuizRequest = REQUEST, **options: Any
) -> tuple[GeneratedQuiz | NotScored, Script]:
    script = Script({"generate": lines})
    told = {"content": CONTENT, "weakness": WEAKNESS, "deadline": Deadline.after(5.0), **options}
    content, weakness = told.pop("content"), told.pop("weakness")
    return await generate_quiz(request, content, weakness, judge=script.judges().get("openai", TIER), **told), script


async def test_a_reply_is_a_quiz_whose_questions_are_numbered() -> None:
    found, script = await generate(made({"readings": [{"hanzi": "學習", "pinyin": "xuéxí"}]}, {}))
    assert isinstance(found, GeneratedQuiz)
    assert [question.id for question in found.quiz.questions] == ["q1", "q2"]
    assert found.quiz.questions[0].readings[0].pinyin == "xuéxí"
    assert (found.model, found.spends[0].purpose) == ("gpt-6.2-sol-answered", "quiz_generation")
    assert script.prompts() == ["openai/generate"]


async def test_the_chapter_the_words_before_it_and_the_weak_points_are_shown_as_data() -> None:
    _, script = await generate(made())
    asked = script.asked[0].user
    for told in ("圖書館", "因為……所以……", "朋友、名字、……嗎", '"銀行", "wrong": "60%"'):
        assert told in asked
        assert told not in outside(asked)
    assert "Questions wanted: 2" in asked
    assert "language (BCP 47): en" in asked
    assert "餐廳" not in asked


async def test_of_very_many_words_the_latest_are_shown() -> None:
    words = tuple(f"詞{number}號" for number in range(SHOWN_KNOWN + 50))
    _, script = await generate(made(), content=Content(chapter=CHAPTER, known=(*words, *CHAPTER.items)))
    assert "詞49號" not in script.asked[0].user
    assert "詞50號" in script.asked[0].user


async def test_what_was_wrong_goes_back_as_a_list_inside_a_fence() -> None:
    told = Violation(
        question_id="q2", rule="pinyin_diacritics", detail="“xue2” has a tone number.", suggestion="xué",
        decided_by="check", field="question_text", span=(0, 4), finding="tone_number",
    )  # fmt: skip
    before = QuizAttempt(
        number=1, quiz=quiz({}, {"question_text": "xue2?"}), violations=(told,), checks_run=("structure",)
    )
    found, script = await generate(made(), before=before)
    assert isinstance(found, GeneratedQuiz)
    asked = script.asked[0].user
    line = next(line for line in asked.splitlines() if "has a tone number" in line)
    assert json.loads(line) == {
        "question_id": "q2",
        "rule": "pinyin_diacritics",
        "field": "question_text",
        "detail": "“xue2” has a tone number.",
        "suggestion": "xué",
    }
    assert line not in outside(asked)
    assert '{"id": "q2", "kind": "single_choice", "question_text": "xue2?"' in asked


@pytest.mark.parametrize(
    ("language", "word"), [("zh-TW", "題數：2"), ("zh-CN", "題數：2"), ("ja", "Questions wanted: 2")]
)
async def test_the_prompt_is_chinese_for_a_learner_who_reads_it(language: str, word: str) -> None:
    _, script = await generate(made(), weakness=WEAKNESS.model_copy(update={"ui_language": language}))
    assert word in script.asked[0].user
    assert language in script.asked[0].user


@pytest.mark.parametrize(
    "changed",
    [
        {"answers": []},
        {"answers": ["to sleep"]},
        {"target": " "},
        {"choices": []},
        {"readings": [{"hanzi": "", "pinyin": "xué"}]},
    ],
)
async def test_a_bad_question_is_a_quiz_all_the_same_for_the_rules_to_find(changed: dict[str, Any]) -> None:
    found, script = await generate(made(changed))
    assert isinstance(found, GeneratedQuiz)
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        {"questions": []},
        made(*({} for _ in range(51))),
        made({"question_text": " \u200b"}),
        made({"question_text": "\ue000"}),
        made({"question_text": "x" * 2_001}),
        made({"choices": ["x" * 2_001, "y"]}),
        made({"choices": [str(number) for number in range(51)]}),
        made({"target": "學" * 201}),
        made({"readings": [{"hanzi": "學習", "pinyin": "x" * 201}]}),
    ],
)
async def test_of_what_is_no_quiz_another_is_asked_for_once(reply: Any) -> None:
    mended, script = await generate(reply, made())
    assert isinstance(mended, GeneratedQuiz)
    assert len(mended.spends) == len(script.asked) == 2
    found, _ = await generate(reply)
    assert isinstance(found, NotScored)
    assert (found.reason, bool(found.faults)) == ("invalid_reply", True)


def _counts(script: Script) -> list[str]:
    return sorted(re.findall(r"Questions wanted: (\d+)", "".join(asked.user for asked in script.asked)))


def _as_many(asked: Asked) -> Line:
    """As many questions as are wanted, each on the part's first target."""
    told = re.search(r"Questions wanted: (\d+)", asked.user)
    target = re.search(r"the other parts test the others:\n⟦.*\n(.+?)[、\n]", asked.user)
    assert told is not None
    return made(*({"target": target[1] if target else "學習"} for _ in range(int(told[1]))))


async def test_many_questions_are_written_in_parts_side_by_side_on_words_of_their_own() -> None:
    found, script = await generate(_as_many, request=REQUEST.model_copy(update={"questions": 25}))
    assert isinstance(found, GeneratedQuiz)
    assert _counts(script) == ["8", "8", "9"]
    assert [question.id for question in found.quiz.questions] == [f"q{number}" for number in range(1, 26)]
    assert len(found.spends) == 3
    assert {question.target for question in found.quiz.questions} == {"銀行", "朋友", "學習"}


async def test_ten_questions_are_written_with_one_call() -> None:
    _, script = await generate(_as_many, request=REQUEST.model_copy(update={"questions": 10}))
    assert _counts(script) == ["10"]
    assert "parts" not in script.asked[0].user


async def test_a_part_without_violations_is_kept_and_not_paid_for_again() -> None:
    request = REQUEST.model_copy(update={"questions": 12})
    first, _ = await generate(_as_many, request=request)
    assert isinstance(first, GeneratedQuiz)
    wrong = Violation(question_id="q8", rule="structure", detail="So.", decided_by="check", finding="no_answer")
    before = QuizAttempt(number=1, quiz=first.quiz, violations=(wrong,), checks_run=("structure",))
    found, script = await generate(made(*({"explanation": "New."} for _ in range(6))), request=request, before=before)
    assert isinstance(found, GeneratedQuiz)
    assert _counts(script) == ["6"]
    assert '"id": "q7"' in script.asked[0].user
    assert '"id": "q6"' not in script.asked[0].user
    assert [question.explanation for question in found.quiz.questions] == [None] * 6 + ["New."] * 6
    assert [question.id for question in found.quiz.questions][-1] == "q12"


async def test_after_an_attempt_without_violations_all_is_written_anew() -> None:
    before = QuizAttempt(number=1, quiz=quiz({}, {}), checks_run=("structure",))
    found, script = await generate(made(), before=before)
    assert isinstance(found, GeneratedQuiz)
    assert "The attempt before" not in script.asked[0].user


async def test_a_wrong_number_of_questions_has_every_part_written_again() -> None:
    request = REQUEST.model_copy(update={"questions": 12})
    told = Violation(
        question_id=None, rule="structure", detail="Too many.", decided_by="check", finding="question_count"
    )
    before = QuizAttempt(number=1, quiz=quiz(*({} for _ in range(14))), violations=(told,), checks_run=("structure",))
    found, script = await generate(_as_many, request=request, before=before)
    assert isinstance(found, GeneratedQuiz)
    assert (_counts(script), len(found.quiz.questions)) == (["6", "6"], 12)
    assert sum('"id": "q14"' in asked.user for asked in script.asked) == 1


async def test_one_part_that_fails_leaves_no_quiz_and_its_costs_told() -> None:
    def one(asked: Asked) -> Line:
        return RefusedError("no") if "銀行、學習" in asked.user else _as_many(asked)

    found, script = await generate(one, request=REQUEST.model_copy(update={"questions": 20}))
    assert isinstance(found, NotScored)
    assert (found.reason, len(found.spends), len(script.asked)) == ("refused", 1, 2)


async def test_a_generator_that_is_down_has_written_nothing() -> None:
    found, _ = await generate(OverloadedError("503"))
    assert isinstance(found, NotScored)
    assert found.reason == "overloaded"


BOTH = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}


@pytest.mark.parametrize(
    ("environ", "provider", "model"),
    [
        (BOTH, "openai", "gpt-6.2-sol"),
        ({"ANTHROPIC_API_KEY": "a"}, "claude", "claude-sonnet-5-5"),
        ({**BOTH, "LLM_MODEL": "gpt-4o"}, "openai", "gpt-4o"),
        ({**BOTH, "LLM_MODEL": " claude-haiku-5-5 "}, "claude", "claude-haiku-5-5"),
        ({**BOTH, "LLM_MODEL": "gpt-9"}, "openai", "gpt-9"),
        ({**BOTH, "LLM_MODEL": ""}, "openai", "gpt-6.2-sol"),
    ],
)
def test_who_writes(environ: dict[str, str], provider: str, model: str) -> None:
    chosen = model_for_generation(load_registry(environ), environ)
    judge = open_generator(Judges(chosen.registry, EnvironmentKeys(chosen.registry, environ)), chosen)
    assert (judge.provider, judge.model) == (provider, model)


@pytest.mark.parametrize(
    ("environ", "what"),
    [
        ({}, "^No quiz can be written without a key: set "),
        ({"ANTHROPIC_API_KEY": "a", "LLM_MODEL": "gpt-4o"}, "No key for openai: set OPENAI_API_KEY"),
    ],
)
def test_who_cannot_be_asked_is_named_with_what_to_set(environ: dict[str, str], what: str) -> None:
    chosen = model_for_generation(load_registry(environ), environ)
    with pytest.raises(SettingsError, match=what):
        open_generator(Judges(chosen.registry, EnvironmentKeys(chosen.registry, environ)), chosen)
