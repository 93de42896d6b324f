"""A line of a batch that hands in work: what is taken, and what is wrong with one that is not."""

import json

import pytest

from touchstone.errors import InputError
from touchstone.operations.batches.chunks import request_of
from touchstone.operations.batches.job_lines import SubmissionLine
from touchstone.operations.batches.lines import parse_line

LINE = {"kind": "submission", "task_id": "01M7YCR9J0YEPNXK2F1F80QC0C", "submitter": "writer-1"}


@pytest.mark.parametrize("content", [{"text": "The harvest was good."}, {"text_key": "acme/uploads/1"}])
def test_a_text_or_a_file_is_handed_in(content: dict[str, str]) -> None:
    line = parse_line(json.dumps({**LINE, "id": "essay-1", **content}).encode())
    assert isinstance(line, SubmissionLine)
    assert (line.id, line.task_id) == ("essay-1", LINE["task_id"])
    assert request_of(line).model_dump(exclude_none=True) == {"submitter": "writer-1", **content}


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({}, None, "exactly one"),
        ({"text": "a", "text_key": "k"}, None, "exactly one"),
        ({"text": "a", "task_id": None}, "task_id", "must be a text"),
        ({"text": "a", "task_id": ""}, "task_id", "is empty and must say something"),
        ({"text": "a", "submitter": " "}, "submitter", "says nothing that a reader would see"),
        ({"text": "a", "problem": "1 + 1"}, "problem", "is no field here"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, str | None], where: str | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_line(json.dumps({**LINE, **changes}).encode())
    assert caught.value.where == where
    assert words in str(caught.value)


def test_an_unknown_kind_is_told_of_submissions() -> None:
    with pytest.raises(InputError, match="'submission'"):
        parse_line(b'{"kind": "essay"}')
