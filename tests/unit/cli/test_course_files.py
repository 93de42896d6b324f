"""Courses and learners in files, and what is said of those that cannot be read."""

import json
from pathlib import Path

import pytest

from tests.support.quiz_files import curriculum
from touchstone.cli.files.course_files import curriculum_of, learner_of
from touchstone.errors import InputError, TooLargeError
from touchstone.quizzes import uploads

TABLE = "\ufeffchapter,kind,hanzi,meaning_en\r\n1,word,你好,hello\r\n2,word,學習,to study\r\n"
LEARNERS = "learner,item,error_rate\nmei,學習,35%\nann,你好,0.5\n"


def test_a_course_is_read_from_json_and_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "course.json").write_text(curriculum(), encoding="utf-8")
    (tmp_path / "book.csv").write_text(TABLE, encoding="utf-8")
    assert [one.id for one in curriculum_of(tmp_path / "course.json").chapters] == ["1", "2"]
    found = curriculum_of(tmp_path / "book.csv")
    assert (found.id, found.known_words("2")) == ("book", ("你好", "學習"))


def test_a_learner_is_found_by_id_or_as_the_only_one(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(LEARNERS, encoding="utf-8")
    (tmp_path / "one.json").write_text(json.dumps({"id": "mei"}))
    assert learner_of(tmp_path / "all.csv", "ann").weak_points[0].error_rate == 0.5
    assert learner_of(tmp_path / "one.json", None).id == "mei"
    for learner, words in ((None, "several learners"), ("eve", "no learner eve")):
        with pytest.raises(InputError, match=f"all.csv: There .*{words}; name one .*: mei, ann."):
            learner_of(tmp_path / "all.csv", learner)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "JSON"),
        (b'{"id": "x"}', "title"),
        ("chapter,kind,hanzi\n1,verb,學\n".encode(), "Line 2, column kind"),
        (b"\xff", "UTF-8"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_file(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "course").write_bytes(data)
    with pytest.raises(InputError, match=f"course: .*{words}"):
        curriculum_of(tmp_path / "course")


def test_what_is_too_long_is_refused_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_CHARS", 10)
    (tmp_path / "course.csv").write_text(TABLE, encoding="utf-8")
    with pytest.raises(TooLargeError, match=r"course\.csv: .*at most 10"):
        curriculum_of(tmp_path / "course.csv")
