"""The badges that people see."""

from typing import Literal

import pytest

from touchstone.answers.model import Status
from touchstone.answers.view import badge


@pytest.mark.parametrize(
    ("status", "language", "colour", "text"),
    [
        ("verified", "zh", "green", "已验证 ✓"),
        ("verified", "en", "green", "Verified ✓"),
        ("verified", None, "green", "Verified ✓"),
        ("caution", "zh", "yellow", "建议核实 ⚠"),
        ("caution", "en", "yellow", "Check this ⚠"),
    ],
)
def test_a_decided_answer_shows_its_badge(
    status: Status, language: Literal["zh", "en"] | None, colour: str, text: str
) -> None:
    shown = badge(status, language)
    assert shown is not None
    assert (shown.colour, shown.text) == (colour, text)


@pytest.mark.parametrize("status", ["unverified", None])
@pytest.mark.parametrize("language", ["zh", "en", None])
def test_an_undecided_answer_shows_none(status: Status | None, language: Literal["zh", "en"] | None) -> None:
    assert badge(status, language) is None
