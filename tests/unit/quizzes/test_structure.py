"""What is wrong with a quiz as an exercise: each rule alone, in combination, and in time."""

from typing import Any

import pytest

from tests.support.course_quizzes import CHAPTER, QUESTION, question, quiz
from tests.support.timing import takes_at_most
from touchstone.material import Quiz
from touchstone.quizzes.model import QuizRequest
from touchstone.quizzes.structure import validate_structure

BUDGET_SECONDS = 0.010


def request(**changed: Any) -> QuizRequest:
    return QuizRequest.model_validate({"chapter": CHAPTER, "questions": 1, **changed})


def found(changed: dict[str, Any], asked: QuizRequest | None = None) -> list[tuple[str, str | None]]:
    return [(one.finding, one.field) for one in validate_structure(quiz(changed), asked)]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"answers": ["To study."]},
        {"kind": "multiple_choice", "answers": ["to study", "bank"]},
        {"kind": "true_false", "choices": [], "answers": ["true"]},
        {"kind": "true_false", "choices": ["True", "False"], "answers": ["False"]},
        {"kind": "true_false", "choices": [], "answers": ["錯"]},
        {"kind": "true_false", "choices": [], "answers": ["Wahr"]},
        {"kind": "true_false", "choices": [], "answers": ["faux"]},
        {"kind": "true_false", "choices": ["Verdadero", "Falso"], "answers": ["Verdadero"]},
        {"explanation": "The correct answer is A, and option B is correct in other books."},
        {"explanation": "The correct answer is B or C in other books; here the correct answer is A."},
        {"choices": ["B", "A"], "answers": ["A"], "explanation": "The correct answer is A."},
        {"explanation": "The right answer is Study. Here is your dictionary (correct spelling counts)."},
        {"question_text": "She ___ (correct) my homework every day."},
        {"choices": ["to study", "phrase (correct)", "[Insert key]"]},
        {"question_text": "What do designers call “Lorem ipsum”? I ___ [insert the verb] home."},
        {"question_text": "Sure! Here is the bus. What does it mean?"},
        {"question_text": "TODO comments in code mark what?"},
        {"choices": ["Group B", "Group A"], "answers": ["Group B"], "explanation": "The right answer is B."},
        {"choices": ["維生素C", "維生素A", "維生素D"], "answers": ["維生素A"], "explanation": "正確答案是A。"},
        {"choices": ["Hepatitis B", "Hepatitis A"], "answers": ["Hepatitis B"], "explanation": "答案是B。"},
        {"choices": ["Ｂ．library", "A. bank"], "answers": ["Ｂ．library"], "explanation": "The right answer is B."},
        {"choices": ["b) library", "a) bank"], "answers": ["b) library"], "explanation": "The right answer is B."},
        {"choices": ["maxsize", "maxSize", "MAX_SIZE"], "answers": ["MAX_SIZE"]},
        {"choices": ["the pacific Ocean", "The Pacific ocean", "the Pacific Ocean"], "answers": ["the Pacific Ocean"]},
        {"question_text": "Which is spelt right?", "choices": ["Polish", "polish"], "answers": ["polish"]},
        {"choices": ["3", "3.5"], "answers": ["3.5"], "explanation": "The correct answer is 3.5."},
        {"explanation": "Option B is correct in a library. Option A is wrong. Answer B would be right there."},
        {"explanation": "The correct answer is to study: many call it library."},
        {"explanation": "The answer is B. But that is wrong."},
        {"explanation": "The correct answer is library. But that is wrong."},
        {"explanation": "Choice B is correct. Choice B is wrong in a bank, however."},
        {"explanation": "Antwort B wäre richtig, wenn es ein Haus wäre."},
        {"explanation": "B、C都不对，故选A。"},
        {"explanation": "Many say the answer is B; it is A."},
        {"explanation": "The answer is H."},
        {"kind": "multiple_choice", "explanation": "Option B is correct.", "answers": ["to study"]},
        {"explanation": "It is not true that option B is correct."},
        {"explanation": "Nobody claims that option B is correct."},
        {"explanation": "The answer is B. Just kidding, it is A."},
        {"explanation": "Nicht Antwort B ist richtig, sondern A."},
        {"explanation": "Il n'est pas vrai que la réponse B est correcte."},
        {"explanation": "No es verdad que la opción B es correcta."},
        {"question_text": "Which is NOT a bank?", "explanation": "B is correct: it is one. A is not."},
        {"question_text": "Welche Aussage ist FALSCH?", "explanation": "Antwort B ist richtig. Gefragt war anderes."},
        {"question_text": "下列说法错误的是？", "explanation": "选项B正确。题目要求选另一项。"},
        {"explanation": "Many think the correct answer is B because it looks so, but that is wrong."},
        {"explanation": "It seems that the correct answer is B. But 銀行 is a bank."},
        {"explanation": "許多人會以為答案是B，但那是銀行。"},
        {"question_text": "Todo número par es divisible por 2. ¿Cuál lo es?"},
        {"question_text": "Dear [your name], which list says TODO?\n\tin\ttext\nequal\nnot"},
        {"kind": "fill_in_the_blank", "choices": [], "answers": ["學習", "讀書"]},
        {"choices": ["Ma", "ma"], "answers": ["ma"]},
        {"question_text": "If a < b & c > d, is R&D; at AT&T 5 * 3 * 2 [1] (2)?"},
        {"question_text": "唱卡拉OK、買T恤、看X光，kΩ 和 hν 是什麼？"},
        {"question_text": "این می‌خواهم 👩‍👩‍👧 است؟\n第二行\t好　嗎？"},
        {"question_text": "Что значит «学习»? Τι σημαίνει;"},
    ],
)  # fmt: skip
def test_a_question_as_it_should_be_has_no_finding(changed: dict[str, Any]) -> None:
    assert found(changed) == []


@pytest.mark.parametrize(
    ("changed", "finding", "field"),
    [
        ({"answers": []}, "no_answer", "answers"),
        ({"answers": ["", " "]}, "no_answer", "answers"),
        ({"kind": "fill_in_the_blank", "choices": [], "answers": []}, "no_answer", "answers"),
        ({"answers": ["to sleep"]}, "key_outside_choices", "answers[0]"),
        ({"answers": ["A"]}, "key_outside_choices", "answers[0]"),
        ({"answers": ["to study", "bank"]}, "not_one_answer", "answers"),
        ({"kind": "multiple_choice", "answers": QUESTION["choices"]}, "all_right", "answers"),
        ({"kind": "true_false", "choices": [], "answers": ["maybe"]}, "not_a_truth_value", "answers"),
        ({"kind": "true_false", "choices": [], "answers": ["true", "false"]}, "not_a_truth_value", "answers"),
        ({"choices": ["to study"]}, "too_few_choices", "choices"),
        ({"choices": ["to study", "bank", "Ｔo  study."]}, "duplicate_choices", "choices[2]"),
        ({"choices": ["to study", "bank", " "]}, "blank_choice", "choices[2]"),
        ({"kind": "fill_in_the_blank"}, "unwanted_choices", "choices"),
        ({"kind": "true_false", "choices": ["yes", "no"], "answers": ["true"]}, "unwanted_choices", "choices"),
        ({"question_text": "What does <b onclick=x>學習</b mean?"}, "markup", "question_text"),
        ({"choices": ["to study", f"<img src='data:image/png;base64,{'A' * 900}'>"]}, "markup", "choices[1]"),
        ({"explanation": "study &amp; learn"}, "markup", "explanation"),
        ({"choices": ["to study", "**bank**"]}, "markup", "choices[1]"),
        ({"choices": ["to study", "[bank](https://example.org)"]}, "markup", "choices[1]"),
        ({"question_text": "What does раyраl mean?"}, "mixed_scripts", "question_text"),
        ({"question_text": "What does schοοl mean?"}, "mixed_scripts", "question_text"),
        ({"question_text": "What does 學\u200b習 mean?"}, "unseen_characters", "question_text"),
        ({"question_text": "What \u202edoes 學習 mean?"}, "unseen_characters", "question_text"),
        ({"question_text": "What is $2 \times 3$?"}, "lost_backslash", "question_text"),
        ({"choices": ["to study", "\frac{1}{2}"]}, "lost_backslash", "choices[1]"),
        ({"explanation": "$a \neq b$"}, "lost_backslash", "explanation"),
        ({"explanation": "It is $\tan x$."}, "lost_backslash", "explanation"),
        ({"question_text": "What does [insert word here] mean?"}, "leftover", "question_text"),
        ({"explanation": "TODO: explain"}, "leftover", "explanation"),
        ({"explanation": "As an AI language model, I cannot tell."}, "leftover", "explanation"),
        ({"choices": ["to study", "Lorem ipsum dolor"]}, "leftover", "choices[1]"),
        ({"choices": ["to study", "bank (correct answer)"]}, "leftover", "choices[1]"),
        ({"choices": ["to study", "[insert your answer]"]}, "leftover", "choices[1]"),
        ({"question_text": "Here is your quiz: What does 學習 mean?"}, "leftover", "question_text"),
        ({"question_text": "What does 學習 mean? (Correct answer: to study)"}, "leftover", "question_text"),
        ({"explanation": "The correct answer is B, since 銀行 is a bank."}, "key_contradicted", "explanation"),
        ({"explanation": "Many think so. The correct answer is C. It is."}, "key_contradicted", "explanation"),
        ({"explanation": "The right choice is option (B)."}, "key_contradicted", "explanation"),
        ({"explanation": "所以正確答案是B。"}, "key_contradicted", "explanation"),
        ({"explanation": "Option B is correct."}, "key_contradicted", "explanation"),
        ({"answers": ["school"], "explanation": "Option B is correct."}, "key_outside_choices", "answers[0]"),
        ({"explanation": "B is the correct answer, since it is so."}, "key_contradicted", "explanation"),
        ({"explanation": "(C) is correct."}, "key_contradicted", "explanation"),
        ({"explanation": "Answer: C"}, "key_contradicted", "explanation"),
        ({"explanation": "Correct answer: B. library"}, "key_contradicted", "explanation"),
        ({"explanation": "Thus, the answer is option B."}, "key_contradicted", "explanation"),
        ({"explanation": "The correct answer is library."}, "key_contradicted", "explanation"),
        ({"explanation": "Die richtige Antwort lautet B."}, "key_contradicted", "explanation"),
        ({"explanation": "Choice B is correct. Choices A and C are wrong."}, "key_contradicted", "explanation"),
        ({"explanation": "Choice $\\mathbf{B}$ is correct. If so, so be it."}, "key_contradicted", "explanation"),
        ({"explanation": "So 2 + 2 = 4. The answer is B."}, "key_contradicted", "explanation"),
        ({"explanation": "A错误，C错误，故本题选：B。"}, "key_contradicted", "explanation"),
        ({"explanation": "Antwort C ist richtig."}, "key_contradicted", "explanation"),
        ({"explanation": "La bonne réponse est B, car oui."}, "key_contradicted", "explanation"),
        ({"explanation": "La réponse C est correcte."}, "key_contradicted", "explanation"),
        ({"explanation": "La respuesta correcta es la B."}, "key_contradicted", "explanation"),
        ({"explanation": "La opción C es correcta."}, "key_contradicted", "explanation"),
        ({"explanation": "故選B。"}, "key_contradicted", "explanation"),
        ({"explanation": "【答案】C"}, "key_contradicted", "explanation"),
        ({"explanation": "選項B正確。"}, "key_contradicted", "explanation"),
        (
            {"choices": ["A. bank", "B. bus"], "answers": ["A. bank"], "explanation": "The right answer is B."},
            "key_contradicted",
            "explanation",
        ),
        ({"choices": ["-2", "2", "−2"], "answers": ["2"]}, "duplicate_choices", "choices[2]"),
        ({"explanation": "to\x07 study"}, "unseen_characters", "explanation"),
        ({"explanation": "學\u3164習"}, "unseen_characters", "explanation"),
        ({"question_text": "What does 學\u200d習 mean?"}, "unseen_characters", "question_text"),
        ({"question_text": "What does \ufffd\ufffd mean?"}, "unreadable_characters", "question_text"),
        ({"question_text": "What does 學\ue000 mean?"}, "unreadable_characters", "question_text"),
        ({"readings": [{"hanzi": "學習", "pinyin": "<i>xuéxí</i>"}]}, "markup", "readings[0].pinyin"),
    ],
)  # fmt: skip
def test_each_fault_is_found_at_its_place(changed: dict[str, Any], finding: str, field: str) -> None:
    assert (finding, field) in found(changed)
    assert {one for one, _ in found(changed)} == {finding}


@pytest.mark.parametrize(
    ("asked", "changed", "finding", "question_id"),
    [
        ({"questions": 2}, {}, "question_count", None),
        ({"kinds": ["true_false"]}, {}, "unwanted_kind", "q1"),
        ({}, {"target": None}, "no_target", "q1"),
    ],
)
def test_a_quiz_is_held_against_what_was_asked_for(
    asked: dict[str, Any], changed: dict[str, Any], finding: str, question_id: str | None
) -> None:
    [one] = validate_structure(quiz(changed), request(**asked))
    assert (one.finding, one.question_id, one.rule, one.decided_by) == (finding, question_id, "structure", "check")
    assert validate_structure(quiz(changed)) == ()


def test_a_quiz_that_is_as_asked_for_has_no_finding() -> None:
    assert validate_structure(quiz(), request(kinds=["single_choice"])) == ()


def test_faults_of_several_questions_come_together_each_with_what_to_write_instead() -> None:
    several = validate_structure(
        quiz({"answers": []}, {}, {"answers": ["B"], "question_text": "<p>Which?</p>"}, {"choices": []})
    )
    told = [(one.question_id, one.finding) for one in several]
    assert told == [
        ("q1", "no_answer"),
        ("q3", "key_outside_choices"),
        ("q3", "markup"),
        ("q3", "markup"),
        ("q4", "key_outside_choices"),
        ("q4", "too_few_choices"),
    ]
    assert all(one.suggestion for one in several)
    assert several[1].suggestion == "library"


def test_what_an_explanation_calls_right_and_what_a_key_means_is_named_in_words() -> None:
    [one] = validate_structure(quiz({"explanation": "The right choice is option (B)."}))
    assert one.detail == "The explanation calls “library” right, which is not the key."
    [other] = validate_structure(quiz({"choices": ["A. bus", "B. bank"], "answers": ["bank"]}))
    assert (other.finding, other.suggestion) == ("key_outside_choices", "B. bank")


def test_a_span_is_where_the_fault_stands() -> None:
    [one] = validate_structure(quiz({"explanation": "This is &nbsp; it."}))
    assert one.span is not None
    assert "This is &nbsp; it."[slice(*one.span)] == "&nbsp;"


def test_a_detail_shows_nothing_that_would_act_on_its_reader() -> None:
    [one] = validate_structure(quiz({"answers": ["to\u202e slee\x1bp\n" + "x" * 500]}, {}))[:1]
    assert one.detail.isprintable()
    assert len(one.detail) < 120


def test_of_many_faults_of_one_kind_in_a_text_the_first_are_named() -> None:
    several = validate_structure(quiz({"question_text": "What? " + "<b>\u200b" * 1_000, "explanation": "<i>"}))
    told = [(one.finding, one.field) for one in several]
    assert told.count(("markup", "question_text")) == told.count(("unseen_characters", "question_text")) == 5
    assert ("markup", "explanation") in told


def test_fifty_questions_take_less_than_ten_milliseconds() -> None:
    text = "哪一個是「圖書館」(túshūguǎn) 的意思？ Which of these means “library”, and why is it so?"
    one = question(question_text=text, explanation=text * 3, readings=[{"hanzi": "圖書館", "pinyin": "túshūguǎn"}])
    fifty = Quiz(questions=tuple(one.model_copy(update={"id": f"q{at}"}) for at in range(50)))

    assert takes_at_most(BUDGET_SECONDS, lambda: validate_structure(fifty, request(questions=50))) == ()


@pytest.mark.parametrize(
    "text",
    ["<" * 20_000, "<a " * 6_000, "&a" * 10_000, "é" * 20_000, "я" * 19_999 + "a", "**a" * 6_600, "[](" * 6_600],
)
def test_a7_no_text_holds_the_rules_up(text: str) -> None:
    takes_at_most(
        2.0, lambda: validate_structure(quiz({"question_text": text, "choices": [text, "b"], "answers": ["b"]}))
    )
