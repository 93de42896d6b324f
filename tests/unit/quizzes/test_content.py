"""What a program decides of a quiz's content: each rule alone, its places and suggestions, and what it leaves alone."""

from typing import Any

import pytest

from tests.support.course_quizzes import CHAPTER, CURRICULUM, LEARNER, quiz
from tests.support.timing import takes_at_most
from touchstone.quizzes.content import allowed_targets, check_content, find_off_curriculum
from touchstone.quizzes.learner import weakest
from touchstone.quizzes.model import Content, Violation, Weakness

KNOWN = CURRICULUM.known_words("2")
CONTENT = Content(chapter=CHAPTER, known=KNOWN)


def found(changed: dict[str, Any], **checked: Any) -> list[Violation]:
    told = {"ui_language": "en", "taught": CHAPTER.items, "known": KNOWN, **checked}
    return list(check_content(quiz(changed), **told).violations)


def told(changed: dict[str, Any], **checked: Any) -> list[tuple[str, str | None, str | None]]:
    return [(one.finding, one.field, one.suggestion) for one in found(changed, **checked)]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"question_text": "What does 「學習」 (xuéxí) mean, as in 我們學習 (xuéxí)?"},
        {"question_text": "What is 學習 (to study, to learn)?", "choices": ["xuéxí", "xuěxí"], "answers": ["xuéxí"]},
        {"question_text": "How is 1563 nián read?"},
        {"question_text": "Is 咖啡 (café) the same as 履歷 (résumé), René, née, 日 (sun) or H2O, mp3, B1, name1?"},
        {"question_text": "Which is not the pinyin of 「學習」?", "choices": ["xuéxì", "xuéxí"], "answers": ["xuéxì"]},
        {"question_text": "How is 銀行 (yínháng) read, and 行 (xíng / háng)?"},
        {"question_text": "Which of the words 吃唇峰床灶痴皂秘粽群 and 皇后的床 are names of things in any room?"},
        {"question_text": "What does 「銀行」 mean in 「我們的銀行」 and 「因為下雨，我不去圖書館了」?"},
        {"readings": [{"hanzi": "圖書館", "pinyin": "túshūguǎn"}, {"hanzi": "一個", "pinyin": "yí ge"}]},
        {"readings": [{"hanzi": "粘連", "pinyin": "zhānlián / niánlián"}]},
        {"target": "因為…所以…"},
    ],
)  # fmt: skip
def test_a_question_as_it_should_be_has_no_violation(changed: dict[str, Any]) -> None:
    assert found(changed) == []


@pytest.mark.parametrize(
    ("changed", "finding", "field", "suggestion"),
    [
        ({"question_text": "What does 「学习」 mean?"}, "simplified_character", "question_text", "學習"),
        ({"choices": ["to study", "图书馆"]}, "simplified_character", "choices[1]", "圖書館"),
        ({"explanation": "You say 以后 for later."}, "simplified_word", "explanation", "以後"),
        ({"readings": [{"hanzi": "学习", "pinyin": "xuéxí"}]}, "simplified_character", "readings[0].hanzi", "學習"),
        ({"question_text": "What is 學習 (xue2xí)?"}, "tone_number", "question_text", "xué"),
        ({"question_text": "What is xue2?"}, "tone_number", "question_text", "xué"),
        ({"question_text": "What is 學習 (xuexi)?"}, "missing_tone_mark", "question_text", "xuéxí"),
        ({"question_text": "What is 學習 (xuéxī)?"}, "wrong_reading", "question_text", "xí"),
        ({"question_text": "What is 我們學習 (xuéxī)?"}, "wrong_reading", "question_text", "xí"),
        ({"question_text": "What is 學習 (xúexí)?"}, "misplaced_tone_mark", "question_text", "xué"),
        ({"question_text": "Where is Xīān?"}, "missing_apostrophe", "question_text", "'ān"),
        ({"choices": ["xuéxí", "xúexí"], "answers": ["xuéxí"]}, "misplaced_tone_mark", "choices[1]", "xué"),
        ({"choices": ["xuéxì", "xuěxí"], "answers": ["xuéxì"]}, "wrong_reading", "choices[0]", "xí"),
        ({"choices": ["xuexi", "xuesi"], "answers": ["xuexi"]}, "missing_tone_mark", "choices[0]", "xuéxí"),
        ({"kind": "fill_in_the_blank", "choices": [], "answers": ["nu:3"]}, "tone_number", "answers[0]", "nǚ"),
        ({"readings": [{"hanzi": "銀行", "pinyin": "yinhang"}]}, "missing_tone_mark", "readings[0].pinyin", None),
        ({"readings": [{"hanzi": "學習", "pinyin": "xué"}]}, "missing_syllable", "readings[0].pinyin", None),
    ],
)  # fmt: skip
def test_script_and_pinyin_are_corrected_at_their_place(
    changed: dict[str, Any], finding: str, field: str, suggestion: str | None
) -> None:
    assert (finding, field, suggestion) in told(changed)
    assert len({one.finding for one in found(changed)}) == 1


def test_a_span_is_where_the_fault_stands_in_its_field() -> None:
    text = "Say: what is 學習 (xuéxi2), and 「图」?"
    spans = {one.finding: text[slice(*one.span)] for one in found({"question_text": text}, known=None) if one.span}
    assert spans == {"simplified_character": "图", "tone_number": "xi2"}


@pytest.mark.parametrize(
    ("language", "text", "finding"),
    [
        ("en", "「學習」是什麼意思？", "language_mismatch"),
        ("en", "什麼意思？", "language_mismatch"),
        ("zh-TW", "What does 「學習」 mean?", "language_mismatch"),
        ("ja", "What does it mean in class?", "language_mismatch"),
        ("zh-TW", "「學習」是什麼意思？", None),
        ("es", "¿Qué significa 「學習」 (xuéxí)? ¿Río, día, allí?", None),
        ("ja", "「學習」は学生の会話でどういう意味ですか。", None),
        ("zh-Hans", "「學習」是什么意思？", None),
        ("x-klingon", "nuqneH", None),
    ],
)
def test_a_question_is_put_in_the_language_of_its_learner(language: str, text: str, finding: str | None) -> None:
    checked = found({"question_text": text}, ui_language=language, known=None)
    assert [one.finding for one in checked] == ([] if finding is None else [finding])


@pytest.mark.parametrize(
    ("language", "text"), [("ja", "「学习」はどういう意味ですか。"), ("zh-CN", "「学习」是什么意思？")]
)
def test_what_is_quoted_is_traditional_whatever_the_learner_reads(language: str, text: str) -> None:
    [one] = found({"question_text": text, "target": "學習"}, ui_language=language, known=None)
    assert (one.rule, one.suggestion) == ("traditional_chinese", "學習")


def test_a_choice_in_japanese_is_written_as_japanese_is() -> None:
    choices = {"question_text": "「學習」はどういう意味ですか。", "choices": ["学ぶ", "图书馆"], "answers": ["学ぶ"]}
    assert [one.field for one in found(choices, ui_language="ja")] == ["choices[1]"]


def test_a_target_must_be_taught_by_the_chapter() -> None:
    [one] = found({"target": "餐廳"})
    assert (one.rule, one.finding, one.field) == ("curriculum_alignment", "target_not_taught", "target")
    assert "學習" in (one.suggestion or "")
    weak = Weakness(ui_language="en", weak_points=weakest(LEARNER, KNOWN))
    assert allowed_targets(CONTENT, weak) == (*CHAPTER.items, "朋友")
    assert list(find_off_curriculum(quiz({"target": "朋友"}), allowed_targets(CONTENT, weak))) == []
    assert [one.finding for one in find_off_curriculum(quiz({"target": "朋友"}), CHAPTER.items)] == [
        "target_not_taught"
    ]


@pytest.mark.parametrize(
    ("text", "is_taught"),
    [
        ("What does 「餐廳」 mean?", False),
        ("What does 「學校」 mean?", False),
        ("What does 「朋友」 mean?", True),
        ("What does 「學」 mean?", True),
        ("What does 「我朋友」 or 「學習嗎」 mean?", True),
        ("What does 餐廳 mean?", True),
    ],
)
def test_a_word_that_is_quoted_as_vocabulary_must_have_been_taught(text: str, is_taught: bool) -> None:
    assert [one.finding for one in found({"question_text": text})] == ([] if is_taught else ["word_not_taught"])
    assert found({"question_text": text}, known=None) == []


def test_a_question_that_names_no_target_is_not_taken_for_one_of_the_chapter() -> None:
    [one] = found({"question_text": "What does 電腦 mean?", "target": None})
    assert (one.rule, one.finding, one.field) == ("curriculum_alignment", "no_target", "target")
    assert found({"target": None}, taught=None, known=None) == []


def test_a_text_of_nothing_but_unknown_words_is_done_with_at_once() -> None:
    every = [chr(code) for code in range(0x4E00, 0x9F00)]
    known = ["".join(pair) for pair in zip(every, every[7:], strict=False)]
    text = "".join(f"「{''.join(every[at::5000])}」" for at in range(900, 3_300))
    told = takes_at_most(2.0, lambda: list(find_off_curriculum(quiz({"question_text": text}), CHAPTER.items, known)))
    assert [one.finding for one in told] == ["word_not_taught"] * 200


def test_rules_are_applied_where_what_they_need_is_known_and_named() -> None:
    one = quiz({"question_text": "「学习」 (xue2xi2) 是什麼？", "target": "餐廳"})
    assert check_content(one).checks_run == ("traditional_chinese", "pinyin_diacritics")
    everything = check_content(one, ui_language="en", taught=CHAPTER.items)
    assert everything.checks_run == (
        "traditional_chinese",
        "pinyin_diacritics",
        "question_language",
        "curriculum_alignment",
    )
    assert {violation.rule for violation in everything.violations} == set(everything.checks_run)


def test_violations_come_question_by_question_in_the_order_of_the_rules() -> None:
    bad = {"question_text": "「学习」 (xue2xi2) 是什麼？", "target": "餐廳"}
    checked = check_content(quiz(bad, {}, bad), ui_language="en", taught=CHAPTER.items).violations
    told = list(dict.fromkeys((one.question_id, one.rule) for one in checked))
    rules = ("traditional_chinese", "pinyin_diacritics", "question_language", "curriculum_alignment")
    assert told == [(question, rule) for question in ("q1", "q3") for rule in rules]


def test_of_a_question_of_nothing_but_faults_so_many_are_named_as_anybody_reads() -> None:
    bad = {"question_text": "What is xue2 学习? " * 900}
    checked = found(bad, known=None)
    assert [sum(one.rule == rule for one in checked) for rule in ("traditional_chinese", "pinyin_diacritics")] == [
        200
    ] * 2
