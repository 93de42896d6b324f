"""Requests from options, files and standard input: checked as the API checks them."""

from pathlib import Path

import pytest

from tests.support.commands import Command
from touchstone.answers.model import MAX_IMAGE_BYTES, MAX_PROBLEM_CHARS
from touchstone.cli.files.requests import MAX_REQUEST_BYTES, image_bytes, solve_request, text_of, verify_request
from touchstone.errors import InputError, TooLargeError


def _file(folder: Path, text: str | bytes) -> str:
    path = folder / "request.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_a_file_holds_one_request_and_options_go_before_it(tmp_path: Path) -> None:
    source = _file(tmp_path, '\ufeff{"kind": "verify", "id": "7", "problem": "p", "answer": "a", "subject": "math"}')
    request = verify_request(source, {"answer": "b", "steps": None})
    assert (request.problem, request.answer, request.subject, request.steps) == ("p", "b", "math", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON: .* at line 1, column 2"),
        ("[]", "one JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"problem": "p", "answer": "a", "expected": "1", "expected": "2"}', "The field 'expected' stands twice"),
        ('{"problem": "p"}', "answer is missing and must be given"),
        ('{"problem": "p", "answer": "a", "extra": 1}', "extra is no field here"),
        ('{"problem": "p", "answer": "a", "difficulty": "x"}', "difficulty must be 'easy'"),
        ('{"kind": "solve", "problem": "p"}', "of kind 'solve'"),
        (b"\xff{}", "not UTF-8"),
    ],
)
def test_a_request_that_is_wrong_is_named_in_one_sentence(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        verify_request(_file(tmp_path, text), {})


def test_what_is_too_large_is_refused_whole(tmp_path: Path) -> None:
    with pytest.raises(TooLargeError, match="problem "):
        verify_request(None, {"problem": "x" * (MAX_PROBLEM_CHARS + 1), "answer": "a"})
    with pytest.raises(TooLargeError, match="1,000,000 bytes"):
        text_of(_file(tmp_path, b"x" * (MAX_REQUEST_BYTES + 1)))
    (tmp_path / "big.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(MAX_IMAGE_BYTES))
    with pytest.raises(TooLargeError, match="The image has"):
        image_bytes(tmp_path / "big.png")


@pytest.mark.parametrize(("given", "missing"), [({}, "--problem"), ({"problem": "p"}, "--answer")])
def test_options_that_are_missing_are_named(given: dict[str, str], missing: str) -> None:
    with pytest.raises(InputError, match=missing):
        verify_request(None, given)


def test_a_text_that_no_terminal_could_have_typed_is_refused() -> None:
    with pytest.raises(InputError, match="problem "):
        verify_request(None, {"problem": "\udcff", "answer": "a"})


@pytest.mark.parametrize("options", [{}, {"problem": "p", "image": {"data_base64": ""}}])
def test_a_problem_is_given_once(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="exactly one of problem and image"):
        solve_request(options)


@pytest.mark.parametrize(
    ("command", "stdin"),
    [("verify -", "[]"), ("experiment estimate -", "[]"), ("experiment estimate -", '{"surface": "quiz"}')],
)
def test_standard_input_that_holds_something_else_is_named_in_words(
    touchstone: Command, command: str, stdin: str
) -> None:
    result = touchstone(*command.split(), stdin=stdin)
    assert result.stderr.startswith("Error: standard input: ")
