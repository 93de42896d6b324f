"""Courses and learners as people hand them in, and what their tables are refused for."""

import json
from pathlib import Path

import pytest

from touchstone.checks import find_pinyin_errors, find_simplified
from touchstone.errors import InputError, TooLargeError
from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.learner import weakest
from touchstone.quizzes.tables import MAX_CHARS
from touchstone.quizzes.uploads import (
    curriculum_of_csv,
    curriculum_of_json,
    learners_of_csv,
    learners_of_json,
    text_of,
)

EVENTS = Path(__file__).parents[3] / "events"
COURSE = text_of((EVENTS / "curriculum.csv").read_bytes())
HEAD = "chapter,kind,item,pinyin"


def course(text: str) -> Curriculum:
    return curriculum_of_csv(text, curriculum="x", title="X")


def test_the_sample_is_the_same_course_as_json_and_as_a_table() -> None:
    told = curriculum_of_json(text_of((EVENTS / "curriculum.json").read_bytes()))
    assert curriculum_of_csv(COURSE, curriculum="first-steps", title="中文第一步") == told
    assert len(told.chapters) == 4


def test_the_sample_is_as_taiwan_writes_and_reads_it() -> None:
    sample = curriculum_of_json((EVENTS / "curriculum.json").read_text(encoding="utf-8"))
    words = [word for chapter in sample.chapters for word in chapter.vocabulary]
    assert [finding for word in words for finding in find_pinyin_errors(word.pinyin or "", word.hanzi)] == []
    assert find_simplified("。".join([*COURSE.splitlines(), sample.title])) == []


def test_the_sample_of_learners_goes_with_the_sample_of_a_course() -> None:
    learners = learners_of_csv(text_of((EVENTS / "learners.csv").read_bytes()))
    known = course(COURSE).known_words("2")
    assert [(learner.id, learner.ui_language) for learner in learners] == [
        ("mei", "en"),
        ("kenji", "ja"),
        ("ana", "es"),
    ]
    assert [point.item for point in weakest(learners[0], known)] == ["因為……所以……", "圖書館", "認識", "安靜"]


@pytest.mark.parametrize(
    "text",
    [
        "chapter,kind,item,pinyin\n1,word,學習,xuéxí\n",
        "\ufeffchapter,kind,item,pinyin\r\n1,word,學習,xuéxí\r\n",
        "Chapter;Kind;Hanzi;Pinyin\n1;word;學習;xuéxí",
        "chapter\tkind\titem\tpinyin\n1\tWORD\t 學習 \txuéxí\n\n\t\t\t\n",
        'pinyin,item,kind,chapter\n"xuéxí","學習","word","1"\n',
        "chapter,kind,item,pinyin,meaning_en\r1,word,學習,xuéxí,study; learn; train; read; school\r",
        "chapter,kind,item,pinyin,,\n1,word,學習,xuéxí,,\n,,,,,\n",
    ],
    ids=["plain", "excel", "semicolons", "tabs", "quoted", "mac", "wider"],
)
def test_however_a_spreadsheet_saves_it_it_is_the_same_table(text: str) -> None:
    [chapter] = course(text).chapters
    assert (chapter.id, chapter.title, chapter.vocabulary[0].hanzi, chapter.vocabulary[0].pinyin) == (
        "1",
        "1",
        "學習",
        "xuéxí",
    )


def test_cells_hold_commas_lines_and_several_examples_and_meanings() -> None:
    text = (
        "chapter,title,kind,pattern,explanation,examples,Meaning_zh-TW,meaning_en\n"
        '1,,grammar,比,"more, than",甲比乙好。| 乙比甲差。 |,,\n'
        '1,"Lesson ""One""",word,書,,,書本,"book,\nvolume"\n'
    )
    [chapter] = course(text).chapters
    assert chapter.title == 'Lesson "One"'
    assert (chapter.grammar[0].explanation, chapter.grammar[0].examples) == ("more, than", ("甲比乙好。", "乙比甲差。"))
    assert chapter.vocabulary[0].meanings == {"zh-TW": "書本", "en": "book,\nvolume"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Line 1 lacks the column chapter; the columns are chapter, title, .*meaning_…"),
        ("chapter,kind\n1,word\n", "Line 1 lacks the column item"),
        ("chapter,kind,item,color\n", "Line 1 has a column 'color'; the columns are"),
        ("chapter,kind,item,hanzi\n", "Line 1 has two columns for item"),
        (HEAD, "no row under its header"),
        (f"{HEAD}\n1,word,,xuéxí\n", "Line 2, column item is blank"),
        (f"{HEAD}\n,word,學,\n", "Line 2, column chapter is blank"),
        (f"{HEAD}\n1,verb,學,\n", "Line 2, column kind is 'verb'; write one of word, grammar"),
        (f"{HEAD}\n1,word,學,xué\n1,word,書,shū,book\n", "Line 3 has 5 cells for 4 columns"),
        (f'{HEAD}\n1,word,"學,xué\n', "Line 2 is no row of a table"),
        (f"{HEAD}\n1,word,{'學' * 201},\n", "Line 2, column item is refused: .*200"),
        (f"{HEAD}\n1,word,學,{'x' * 201}\n", "Line 2, column pinyin is refused"),
        (f"{HEAD},meaning_English words\n1,word,學,,study\n", "Line 2, column meaning_… is refused"),
        (f"{HEAD}\n1,word,學,\n2,word,書,\n1,word,學,\n", "The chapter 1, from line 2 on, .*: it teaches 學 twice"),
        (f"{HEAD},title\n1,word,學,,One\n1,word,書,,Two\n", "Line 3, column title is 'Two', and 'One' in a row before"),
        (f"{HEAD}\n{'x' * 129},word,學,\n", "The chapter x+, from line 2 on, is refused"),
    ],
)  # fmt: skip
def test_a_fault_of_a_table_is_named_by_line_and_column(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        course(text)


L = "learner,item,error_rate,seen"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("learner,item\nmei,學\n", "Line 1 lacks the column error_rate"),
        (f"{L}\nmei,學,often,1\n", "Line 2, column error_rate is 'often'; write a number from 0 to 1, or 35%"),
        (f"{L}\nmei,學,1.2,1\n", "Line 2, column error_rate is refused: .*at most 1"),
        (f"{L}\nmei,學,nan,1\n", "Line 2, column error_rate is refused"),
        (f'{L}\nmei,學,"1,000",1\n', "Line 2, column error_rate is '1,000'; write a number from 0 to 1"),
        (f"{L}\nmei,學,0.5,-1\n", "Line 2, column seen is '-1'"),
        (f"{L}\nmei,學,0.5,{'9' * 50}\n", "Line 2, column seen is"),
        (f"{L}\nmei,學,0.5,1\nmei,學,0.4,1\n", "The learner mei is refused: every weak point"),
        (f"{L},ui_language\nmei,學,0.5,1,en\nmei,書,0.5,1,ja\n", "Line 3, column ui_language is 'ja', and another one"),
        (f"{L},ui_language\nmei,學,0.5,1,in English\n", "The learner mei is refused"),
        (f"{L}\n" + "".join(f"l{n},學,0.5,1\n" for n in range(10_001)), "There are 10,001 learners"),
    ],
)
def test_a_fault_of_a_table_of_learners_is_named_too(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        learners_of_csv(text)


@pytest.mark.parametrize("rate", ["0,35", "35,0 %", "35,00%", "35\u00a0%", "35％"])
def test_a_rate_is_read_as_spreadsheets_elsewhere_write_it(rate: str) -> None:
    [learner] = learners_of_csv(f"learner;item;error_rate\nmei;學習;{rate}\n")
    assert learner.weak_points[0].error_rate == 0.35


def test_a_rate_may_be_a_percentage_and_what_was_not_said_is_the_usual() -> None:
    [learner] = learners_of_csv("learner,hanzi,error_rate\nmei,學習,35%\n")
    assert (learner.ui_language, learner.weak_points[0].error_rate, learner.weak_points[0].seen) == ("en", 0.35, 1)


def test_learners_come_as_json_one_or_several() -> None:
    assert [learner.id for learner in learners_of_json('{"id": "mei"}')] == ["mei"]
    assert [learner.id for learner in learners_of_json('\ufeff[{"id": "a"}, {"id": "b"}]')] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "This is not JSON: .* at line 1, column 2"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "a", "weak_points": [{"item": "學", "error_rate": 0.1, "error_rate": 0.9}]}', "stands twice"),
        ("[]", "There are 0 learners"),
        ('[{"id": "a"}, {"id": "a"}]', "The learner a is there twice"),
        ('[{"id": "a", "weak_points": [{"item": "學", "error_rate": 7}]}]', r"The field 0\.weak_points\.0\.error_rate"),
    ],
)
def test_a_fault_of_json_is_named_by_its_field(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        learners_of_json(text)


def test_what_a_deployment_shows_can_be_put_again() -> None:
    shown = json.loads((EVENTS / "curriculum.json").read_text(encoding="utf-8")) | {
        "updated_at": "2026-11-22T09:00:00Z"
    }
    assert curriculum_of_json(json.dumps(shown)) == curriculum_of_json((EVENTS / "curriculum.json").read_text("utf-8"))
    (learner,) = learners_of_json('{"id": "mei", "weak_points": [], "updated_at": "2026-11-22T09:00:00Z"}')
    assert learner.id == "mei"


def test_a_course_as_json_names_its_fault() -> None:
    told = json.loads((EVENTS / "curriculum.json").read_text(encoding="utf-8"))
    told["chapters"][1]["vocabulary"][2]["hanzi"] = " "
    with pytest.raises(InputError, match=r"The field chapters\.1\.vocabulary\.2\.hanzi is refused"):
        curriculum_of_json(json.dumps(told))


def test_what_is_no_text_or_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="not UTF-8"):
        text_of("學習".encode("big5"))
    with pytest.raises(TooLargeError):
        text_of(b"x" * (MAX_CHARS + 1))
    with pytest.raises(TooLargeError):
        learners_of_json(" " * (MAX_CHARS + 1))
    with pytest.raises(TooLargeError):
        learners_of_csv(" " * (MAX_CHARS + 1))


def test_no_error_repeats_a_long_cell() -> None:
    with pytest.raises(InputError) as caught:
        course(f"{HEAD}\n1,{'verb' * 1_000},學,\n")
    assert len(str(caught.value)) < 200
