"""Faults with one right correction are corrected, and nothing else of a quiz changes."""

from typing import Any

import pytest

from tests.support.course_quizzes import quiz
from touchstone.quizzes.correction import corrected, is_correctable
from touchstone.quizzes.judging import apply_checks
from touchstone.quizzes.model import Violation


def fixed(changed: dict[str, Any]) -> dict[str, Any]:
    given = quiz(changed)
    return corrected(given, apply_checks(given).violations).questions[0].model_dump(exclude_defaults=True)


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"question_text": "学习 (xue2xi2) 和学校"}, {"question_text": "學習 (xuéxí) 和學校"}),
        ({"choices": ["图书馆", "银行"], "answers": ["银行"]}, {"choices": ("圖書館", "銀行"), "answers": ("銀行",)}),
        ({"kind": "fill_in_the_blank", "choices": [], "answers": ["学校"]}, {"answers": ("學校",)}),
        (
            {"readings": [{"hanzi": "学习", "pinyin": "xue2xi2"}]},
            {"readings": ({"hanzi": "學習", "pinyin": "xuéxí"},)},
        ),
        ({"explanation": "Xīān, nv3"}, {"explanation": "Xī'ān, nǚ"}),
    ],
)
def test_what_has_one_right_correction_is_corrected(changed: dict[str, Any], wanted: dict[str, Any]) -> None:
    after = fixed(changed)
    assert {name: after[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"answers": []},
        {"answers": ["B"]},
        {"question_text": "What is <b>學習</b>?"},
        {"readings": [{"hanzi": "學習", "pinyin": "xué"}]},
        {"readings": [{"hanzi": "學", "pinyin": "xuéxí"}]},
        {"kind": "true_false", "question_text": "“xúe” is right.", "choices": [], "answers": ["false"]},
        {"question_text": "Is it 学习 or 學習?"},
    ],
)
def test_what_has_none_stays_as_it_is(changed: dict[str, Any]) -> None:
    given = quiz(changed)
    assert corrected(given, apply_checks(given).violations) == given


def test_a_corrected_quiz_has_no_fault_left_that_could_be() -> None:
    given = quiz(
        {"question_text": "「学习」 (xue2xi2) 是什么？", "explanation": "以后 nu:3"},
        {"choices": ["to study", "银行 (yin2hang2)"]},
    )
    after = corrected(given, apply_checks(given).violations)
    assert [one for one in apply_checks(after).violations if is_correctable(one)] == []
    assert apply_checks(after).violations == ()
    assert corrected(after, apply_checks(given).violations[:0]) == after


@pytest.mark.parametrize(
    "changed",
    [{"readings": [{"hanzi": "西安", "pinyin": "Xīān" * 50}]}, {"question_text": "Xīān " * 4_000}],
)
def test_a_question_that_would_grow_too_long_stays_as_it_is(changed: dict[str, Any]) -> None:
    given = quiz(changed, {"explanation": "xue2"})
    after = corrected(given, apply_checks(given).violations)
    assert after.questions[0] == given.questions[0]
    assert after.questions[1].explanation == "xué"


def _told(span: tuple[int, int], suggestion: str, field: str = "question_text") -> Violation:
    return Violation(
        question_id="q1", rule="traditional_chinese", detail="So.", suggestion=suggestion, decided_by="check",
        field=field, span=span, finding="simplified_word",
    )  # fmt: skip


def test_of_two_corrections_of_one_place_the_first_counts() -> None:
    given = quiz({"question_text": "abcdef"})
    after = corrected(given, [_told((2, 4), "X"), _told((0, 3), "YY"), _told((5, 6), "Z"), _told((5, 6), "Z")])
    assert after.questions[0].question_text == "YYdeZ"


def test_a_field_that_no_question_has_is_an_error() -> None:
    with pytest.raises(ValueError, match="no path"):
        corrected(quiz(), [_told((0, 1), "X", field="choices[first]")])
