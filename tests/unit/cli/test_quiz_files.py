"""Files of quizzes: which are read, and what is said of those that cannot be."""

import json
from pathlib import Path

import pytest

from tests.support.quiz_files import question, quiz
from touchstone.cli.files import quiz_files
from touchstone.cli.files.quiz_files import QuizFileFault, read, read_all


def _told(fault: QuizFileFault) -> tuple[int | None, int | None, str]:
    return fault.line, fault.column, fault.sentence


def test_folders_are_looked_through_in_order_and_every_file_is_read_once(tmp_path: Path) -> None:
    for name in ("b.json", "a/z.json", "a/lines.JSONL", ".hidden.json", ".git/c.json", "a/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(quiz(), encoding="utf-8")
    found = read_all([tmp_path, tmp_path / "b.json", tmp_path / "a" / ".." / "b.json"])
    names = [str(file.path.relative_to(tmp_path)) for file in found.files]
    assert names == ["a/lines.JSONL", "a/z.json", "b.json"]
    assert (found.faults, found.others) == ([], [])


def test_a_file_with_a_link_beside_it_is_known_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "quiz.json").write_text(quiz(), encoding="utf-8")
    (tmp_path / "another.json").symlink_to(tmp_path / "quiz.json")
    assert [file.path.name for file in read_all([tmp_path]).files] == ["quiz.json"]


@pytest.mark.parametrize(
    "text",
    ["[1, 2]", '{"name": "touchstone"}', "[]", "3", '[{"front": "a", "back": "b"}]', '{"version": "2.0"}'],
)
def test_other_json_in_a_folder_is_left_alone_and_refused_where_it_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    (tmp_path / "quiz.json").write_text(quiz(), encoding="utf-8")
    found = read_all([tmp_path])
    assert (found.faults, found.others) == ([], [tmp_path / "other.json"])
    (fault,) = read_all([tmp_path / "other.json"]).faults
    assert "questions" in fault.sentence


def test_a_folder_of_other_json_alone_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "more.jsonl").write_text('{"kind": "verify"}\n')
    found = read_all([tmp_path])
    assert [str(fault.file) for fault in found.faults] == [str(tmp_path)]
    assert "holds no quiz" in found.faults[0].sentence


def test_an_empty_folder_and_a_file_that_is_not_there_are_told(tmp_path: Path) -> None:
    found = read_all([tmp_path, tmp_path / "none.json"])
    assert [_told(fault) for fault in found.faults] == [
        (None, None, "This folder holds no files called *.json or *.jsonl."),
        (None, None, "cannot be read: No such file or directory."),
    ]


@pytest.mark.parametrize(
    ("data", "line", "column", "words"),
    [
        (b"", 1, 1, "This file is empty."),
        (b'{"questions": [', 1, 16, "Expecting value"),
        (b'{"questions": [],\n "questions": []}', 2, 2, "stands twice"),
        (b'{"questions": []}', 1, 15, "needs at least 1"),
        (b'{"questions": {}}', 1, 15, "This is no quiz."),
        (b'"quiz"', 1, 1, "This is no quiz."),
        (b'\n{"questions": [3]}', 2, 16, "questions.0"),
        (b"PK\x03\x04\x00\x00", None, None, "not UTF-8"),
        (b"{\x00}\x00", None, None, "not UTF-8"),
        (b"\xe5\xad", None, None, "not UTF-8"),
        (b"```json\n[]\n```\n", 1, 1, "Keep only what stands between the lines of ```."),
    ],
)
def test_what_is_no_quiz_is_told_with_its_place(
    tmp_path: Path, data: bytes, line: int | None, column: int | None, words: str
) -> None:
    (tmp_path / "quiz.json").write_bytes(data)
    (fault, *_) = read_all([tmp_path / "quiz.json"]).faults
    assert (fault.line, fault.column) == (line, column)
    assert words in fault.sentence


def test_a_field_at_fault_is_named_at_its_line(tmp_path: Path) -> None:
    text = quiz(question(), question(id="q2", kind="essay", points=3), indent=1)
    (tmp_path / "quiz.json").write_text(text, encoding="utf-8")
    kind, extra = read_all([tmp_path / "quiz.json"]).faults
    lines = text.split("\n")
    assert '"essay"' in lines[(kind.line or 0) - 1]
    assert lines[(kind.line or 0) - 1][(kind.column or 0) - 1 :].startswith('"essay"')
    assert kind.sentence.startswith("questions.1.kind must be")
    assert lines[(extra.line or 0) - 1].strip() == '"points": 3'
    assert extra.sentence == "questions.1.points is no field here: leave it out or mend its name."


def test_two_questions_of_one_id_are_told_apart() -> None:
    file = read(Path("quiz.json"), quiz(question(), question(id="q1 (3)"), question(), question()))
    assert file.faults == ()
    (text,) = file.quizzes
    assert [one.id for one in text.quiz.questions] == ["q1", "q1 (3)", "q1 (3)'", "q1 (4)"]
    assert text.repeated == {"q1 (3)'": "q1", "q1 (4)": "q1"}


def test_questions_that_can_be_read_are_kept_with_their_place() -> None:
    file = read(Path("quiz.json"), quiz(question(kind="essay"), question(id="q2"), 3, question(id="q4")))  # type: ignore[arg-type]
    (text,) = file.quizzes
    assert [one.id for one in text.quiz.questions] == ["q2", "q4"]
    assert text.numbers == (1, 3)
    assert len(file.faults) == 2


def test_a_file_that_is_too_large_is_refused_with_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiz_files, "MAX_BYTES", 1000)
    (tmp_path / "quiz.json").write_text(" " * 1001)
    (fault,) = read_all([tmp_path / "quiz.json"]).faults
    assert fault.sentence == "This file is larger than 1,000 bytes; split it."


def test_too_many_questions_are_refused_with_the_limit() -> None:
    (fault,) = read(Path("quiz.json"), quiz(*(question(id=f"q{at}") for at in range(501)))).faults
    assert "at most 500, and has 501" in fault.sentence


def test_a_list_is_a_quiz_and_questions_without_an_id_are_called_by_number() -> None:
    bare = [question(), {key: value for key, value in question().items() if key != "id"}, question(id=7)]
    (text,) = read(Path("quiz.json"), json.dumps(bare)).quizzes
    assert (text.root, [one.id for one in text.quiz.questions]) == ((), ["q1", "2", "7"])


def test_a_file_of_lines_has_a_quiz_on_each(tmp_path: Path) -> None:
    lines = (quiz(), "", '{"questions": 1}', quiz(), "nonsense")
    (tmp_path / "quiz.jsonl").write_bytes("\r\n".join(lines).encode())
    found = read_all([tmp_path])
    assert [len(file.quizzes) for file in found.files] == [2]
    assert [(fault.line, fault.column) for fault in found.faults] == [(3, 15), (5, 1)]
    (fault,) = read(Path("quiz.jsonl"), " \n").faults
    assert fault.sentence == "This file is empty."


def test_a_mark_of_byte_order_is_kept(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + quiz().encode()
    (tmp_path / "quiz.json").write_bytes(data)
    (file,) = read_all([tmp_path]).files
    assert (file.mark, file.data, len(file.quizzes)) == (data[:3], data, 1)
