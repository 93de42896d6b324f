"""The test command: everything, or just what is named, with a cloud where one of the tests needs it."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.local import browser, testing


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was run, each without the folder of its tool; nothing is."""
    seen: list[list[str]] = []

    def run(command: Sequence[str], environment: dict[str, str] | None = None) -> int:
        cloud = ["(cloud)"] if "TOUCHSTONE_STACK" in (environment or {}) else []
        seen.append([Path(command[0]).name, *command[1:], *cloud])
        return 0

    @contextmanager
    def cloud() -> Iterator[dict[str, str]]:
        yield {"TOUCHSTONE_STACK": "touchstone"}

    monkeypatch.setattr(testing, "_run", run)
    monkeypatch.setattr(testing, "_cloud", cloud)
    monkeypatch.setattr(browser, "install", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return seen


def test_without_a_path_everything_is_checked_and_tested(commands: list[list[str]]) -> None:
    assert testing.run(["-x"]) == 0
    assert [command[0] for command in commands] == ["pre-commit", "coverage", *["pytest"] * 3, "coverage"]
    assert [command[1] for command in commands if command[0] == "pytest"] == [
        *("tests/integration", "tests/real", "tests/cloud"),
    ]
    assert all("-x" in command and "--cov" in command for command in commands if command[0] == "pytest")


@pytest.mark.parametrize(
    "path", ["tests/unit/checks", "tests/unit/infra/test_testing.py::test_nothing", "tests/no_such"]
)
def test_a_path_is_run_alone_and_its_options_go_with_it(commands: list[list[str]], path: str) -> None:
    assert testing.run([path, "-k", "layers"]) == 0
    assert commands == [["pytest", path, *testing.SHARED, "-k", "layers"]]


@pytest.mark.parametrize("path", ["tests/cloud", "tests", "tests/cloud/test_audits.py"])
def test_tests_of_the_deployed_stack_get_a_cloud(commands: list[list[str]], path: str) -> None:
    assert testing.run(["tests/unit/infra", path]) == 0
    assert commands == [["pytest", "tests/unit/infra", path, "(cloud)"]]


def test_what_an_option_names_is_no_path(commands: list[list[str]]) -> None:
    deselected = ["--deselect", "tests/unit/infra/test_testing.py::test_nothing", "-k", "tests"]
    testing.run(deselected)
    assert all(" ".join(deselected) in " ".join(command) for command in commands if command[0] == "pytest")
    assert commands[0][0] == "pre-commit"


def test_the_real_model_has_the_machine_for_itself(commands: list[list[str]]) -> None:
    testing.run(["tests/real"])
    assert commands == [["pytest", "tests/real"]]
