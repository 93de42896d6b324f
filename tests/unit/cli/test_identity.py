"""Which versions of the command and of a deployment read each other."""

import pytest

from touchstone import __version__
from touchstone.cli.deployment.replies import agree, recognise
from touchstone.cli.terminal.exits import ServiceError


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.1.0", "0.1.0", True), ("0.1.0", "0.1.12", True), ("1.4.0", "1.4.0rc1", True),
        ("0.1.0", "0.2.0", False), ("0.1.0", "1.1.0", False), ("1.1", "1.10", False),
    ],
)  # fmt: skip
def test_the_first_two_numbers_must_agree(one: str, other: str, same: bool) -> None:
    assert agree(one, other) is same
    assert agree(other, one) is same


def test_another_version_is_told_with_what_to_install() -> None:
    with pytest.raises(ServiceError) as caught:
        recognise("https://x", 200, b'{"status": "ok", "name": "touchstone", "version": "7.3.1"}')
    assert str(caught.value) == (
        f"https://x is Touchstone 7.3.1, and this command is {__version__}: install the one that fits, "
        "pip install 'touchstone-verdicts[cli]==7.3.*', or deploy this one."
    )


@pytest.mark.parametrize("version", ["7.3.1\\u001b[2J", "", "latest", "7", "9" * 100])
def test_what_is_no_version_is_not_repeated(version: str) -> None:
    with pytest.raises(ServiceError, match="is no Touchstone"):
        recognise("https://x", 200, f'{{"status": "ok", "name": "touchstone", "version": "{version}"}}'.encode())
