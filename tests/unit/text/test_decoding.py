"""The text in the bytes of a file: what a byte order mark names is read, and nothing is guessed."""

import codecs
from pathlib import Path

import pytest

from touchstone.audits.loading import load_cases
from touchstone.cli.files.course_files import curriculum_of
from touchstone.cli.files.label_files import labels_in
from touchstone.cli.files.material_files import deck_of
from touchstone.cli.files.quiz_files import read_all
from touchstone.cli.local.quiz_checking import course_warnings
from touchstone.errors import InputError
from touchstone.oracle.handing_in import text_of_file
from touchstone.text.decoding import decoded, encoded, marked_text

TEXT = "Käse\t奶酪 😀\r\n"
MARKED = {
    codecs.BOM_UTF8: codecs.BOM_UTF8 + TEXT.encode(),
    codecs.BOM_UTF16_LE: codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    codecs.BOM_UTF16_BE: codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    b"": TEXT.encode(),
}


@pytest.mark.parametrize(("mark", "data"), MARKED.items())
def test_a_mark_says_the_encoding_and_the_bytes_come_back(mark: bytes, data: bytes) -> None:
    assert marked_text(data) == (mark, TEXT)
    assert decoded(data) == TEXT
    assert encoded(mark, TEXT) == data


@pytest.mark.parametrize(
    "data",
    [
        "Käse".encode("cp1252"),
        "月亮".encode("big5"),
        "月亮".encode("gb18030"),
        "front,back\n".encode("utf-16-le"),
        "front,back\n".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "front,back\n".encode("utf-32-le"),
        codecs.BOM_UTF16_LE + b"odd",
        codecs.BOM_UTF16_LE + b"\x00\xd8",
        b"fro\0nt",
    ],
)
def test_no_encoding_is_guessed(data: bytes) -> None:
    assert decoded(data) is None


def _written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-16"))
    return path


def test_every_door_reads_what_excel_calls_unicode_text(tmp_path: Path) -> None:
    assert deck_of(str(_written(tmp_path, "d.txt", "front\tback\r\nKäse\t奶酪\r\n"))).cards[0].back == "奶酪"
    assert labels_in(str(_written(tmp_path, "l.txt", "id\tlabel\r\nA\tright\r\n")))[0].label == "right"
    course = _written(tmp_path, "c.txt", "chapter\tkind\titem\r\n1\tword\t学习\r\n")
    assert next(course_warnings(curriculum_of(course), course)).startswith(f"Warning: {course}:2: ")
    assert load_cases([_written(tmp_path, "b.json", "[]")]).faults == load_cases([_utf8(tmp_path)]).faults
    assert text_of_file("Käse".encode("utf-16")) == "Käse"


def _utf8(folder: Path) -> Path:
    path = folder / "b.json"
    path.write_text("[]", encoding="utf-8")
    return path


def test_a_quiz_keeps_its_encoding(tmp_path: Path) -> None:
    quiz = '{"questions": [{"kind": "true_false", "question_text": "Käse?", "answers": ["true"]}]}'
    path = _written(tmp_path, "q.json", quiz)
    (file,) = read_all([path]).files
    assert (len(file.quizzes), file.faults, file.data) == (1, (), path.read_bytes())


def test_a_door_says_what_to_do_with_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes("front,back\nIce?,Floats\n".encode("utf-16-le"))
    with pytest.raises(InputError, match=r"s\.csv is not UTF-8 text; save it as UTF-8\."):
        deck_of(str(path))
