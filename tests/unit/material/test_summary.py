"""Summaries: a text that says something, and no longer than anyone would read as one."""

import pytest
from pydantic import ValidationError

from touchstone.material import Summary
from touchstone.material.items import MAX_SUMMARY_CHARS


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u2060", "\x00"])
def test_a_summary_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="nothing that a reader would see"):
        Summary(text=text)


def test_a_summary_longer_than_any_is_refused_whole() -> None:
    assert len(Summary(text="水" * MAX_SUMMARY_CHARS).text) == MAX_SUMMARY_CHARS
    with pytest.raises(ValidationError):
        Summary(text="x" * (MAX_SUMMARY_CHARS + 1))


def test_a_summary_is_only_its_text_and_does_not_change() -> None:
    with pytest.raises(ValidationError):
        Summary.model_validate({"text": "Water moves.", "title": "Water"})
    with pytest.raises(ValidationError):
        Summary(text="Water moves.").text = "Salt moves."  # type: ignore[misc]
