"""Requirements: one spelling, and nothing that would be installed from elsewhere."""

import re
from contextlib import suppress

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from pydantic import ValidationError

from touchstone.audits.bundles import Target


@pytest.mark.parametrize(
    ("given", "kept", "name"),
    [
        ("google-adk==1.20.0", "google-adk==1.20.0", "google-adk"),
        ("Google_ADK == 1.20.0", "google-adk==1.20.0", "google-adk"),
        ("uvicorn[standard]>=0.30,<1", "uvicorn[standard]<1,>=0.30", "uvicorn"),
        ("attrs", "attrs", "attrs"),
    ],
)
def test_a_requirement_has_one_spelling(given: str, kept: str, name: str) -> None:
    target = Target(requirement=given)
    assert (target.requirement, target.name) == (kept, name)


@pytest.mark.parametrize(
    "given",
    ["", "-r /etc/passwd", "--index-url=http://x", "a @ https://x/y.whl", "./local", "a b", "a\n-e .", "git+https://x"],
)
def test_what_is_no_name_with_a_version_is_refused(given: str) -> None:
    with pytest.raises(ValidationError):
        Target(requirement=given)


@pytest.mark.parametrize(
    "given",
    [
        "a; python_version > '3'",
        # A marker's text may hold a line break, which would begin an option in the file that uv reads.
        "a; os_name != 'x\\n--index-url https://x/simple\\n'",
        "a; os_name != 'x\\n-r /proc/self/environ\\n'",
        "a===${HOME}",
        "a===-r/etc/passwd#",
        "a===$(id)",
    ],
)
def test_nothing_but_a_name_with_a_version_reaches_the_installer(given: str) -> None:
    with pytest.raises(ValidationError):
        Target(requirement=given)


@drawn(st.text(max_size=60).map("a".__add__) | st.text(max_size=60))
def test_whatever_is_accepted_is_one_line_without_an_option(text: str) -> None:
    with suppress(ValidationError):
        written = Target(requirement=text).requirement
        assert re.fullmatch(r"[a-z0-9][A-Za-z0-9._+!<>=~*,\[\]-]*", written)
