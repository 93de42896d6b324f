"""Requirements: one spelling, and nothing that would be installed from elsewhere."""

import pytest
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
