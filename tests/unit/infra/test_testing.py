"""The test command: everything, or just what is named, with a cloud where one of the tests needs it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.layers import ROOT
from infra.local import browser, testing
from tests.support.waiting import eventually

CLOUD = {"TOUCHSTONE_STACK": "touchstone"}


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was run, each without the folder of its tool; nothing is."""
    seen: list[list[str]] = []

    def run(command: Sequence[str], environment: dict[str, str] | None = None) -> int:
        clouds = json.loads((environment or {}).get(testing.CLOUDS_VARIABLE, "[]"))
        seen.append([Path(command[0]).name, *command[1:], *["(cloud)" for cloud in clouds if cloud == CLOUD]])
        return 0

    @contextmanager
    def beside(command: Sequence[str], environment: dict[str, str], *_: object) -> Iterator[subprocess.Popen[bytes]]:
        run(command, environment)
        with subprocess.Popen([sys.executable, "-c", ""]) as process:
            yield process

    @contextmanager
    def cloud() -> Iterator[dict[str, str]]:
        yield CLOUD

    monkeypatch.setattr(testing, "_run", run)
    monkeypatch.setattr(testing, "_beside", beside)
    monkeypatch.setattr(testing, "_cloud", cloud)
    monkeypatch.setattr(browser, "install", lambda: None)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return seen


def test_without_a_path_everything_is_checked_and_tested(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert testing.run(["-x"]) == 0
    assert [command[0] for command in commands] == [
        *("coverage", "pre-commit", "pytest", "pytest", "nice", "pytest", "coverage"),
    ]
    assert [command[1] for command in commands if command[0] == "pytest"] == [
        *("tests/integration", "tests/real", "tests/cloud"),
    ]
    assert {"--numprocesses=4", *testing.FILE_BY_FILE} <= set(commands[2])
    assert all("-x" in command for command in commands if command[0] in ("pytest", "nice"))
    left = [argument.removeprefix("--ignore=") for argument in commands[2] if argument.startswith("--ignore=")]
    *before, pytest_, first, second, _ = commands[4]
    assert (before, Path(pytest_).name, [first, second]) == ([*testing.WHILE_OTHERS_WAIT], "pytest", left)
    assert all((ROOT / path).is_file() for path in left)
    # Those of a real model run beside others, whose lines they would add to at any moment.
    assert [command[1] for command in commands if "--cov" in command] == ["tests/integration", "tests/cloud"]


@pytest.mark.parametrize(
    "path", ["tests/unit/checks", "tests/unit/infra/test_testing.py::test_nothing", "tests/no_such"]
)
def test_a_path_is_run_alone_and_its_options_go_with_it(commands: list[list[str]], path: str) -> None:
    assert testing.run([path, "-k", "layers"]) == 0
    assert commands == [["pytest", path, *testing.SHARED, "-k", "layers"]]


def test_tests_of_the_deployed_stack_have_a_cloud_for_each_process_of_tests(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for paths in (["tests/cloud"], ["tests/unit/infra", "tests"]):
        assert testing.run(paths) == 0
        assert commands.pop() == ["pytest", *paths, "--numprocesses=3", *testing.FILE_BY_FILE, *["(cloud)"] * 3]
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert testing.run(["tests/cloud"]) == 0
    assert commands == [["pytest", "tests/cloud", "--numprocesses=2", *testing.FILE_BY_FILE, *["(cloud)"] * 2]]


def test_a_file_of_them_has_one_cloud(commands: list[list[str]]) -> None:
    assert testing.run(["tests/cloud/test_audits.py::test_the_sandbox_may_do_nothing", "-x"]) == 0
    assert commands == [["pytest", "tests/cloud/test_audits.py::test_the_sandbox_may_do_nothing", "-x", "(cloud)"]]


def test_what_an_option_names_is_no_path(commands: list[list[str]]) -> None:
    deselected = ["--deselect", "tests/unit/infra/test_testing.py::test_nothing", "-k", "tests"]
    testing.run(deselected)
    assert all(" ".join(deselected) in " ".join(command) for command in commands if command[0] == "pytest")
    assert [command[0] for command in commands].count("pre-commit") == 1


def test_the_real_model_has_the_machine_for_itself(commands: list[list[str]]) -> None:
    testing.run(["tests/real"])
    assert commands == [["pytest", "tests/real"]]


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder whose scripts are run in place of tools; each writes the number of its process, and ends well."""
    for name in ("pre-commit", "pytest", "coverage"):
        _script(tmp_path / name, "exit 0")
    monkeypatch.setattr(testing, "_tool", lambda name: str(tmp_path / name))
    monkeypatch.setattr(testing, "_cloud", lambda: pytest.fail("No cloud is to be started."))
    monkeypatch.setattr(browser, "install", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return tmp_path


ENDLESS = "sleep 600 & echo $! >{path}.ran; wait"
"""What has started another process, and ends only if it is told to."""


def _script(path: Path, does: str) -> None:
    path.write_text(f"#!/bin/sh\n{does.format(path=path, folder=path.parent)}\n")
    path.chmod(0o755)


def _is_gone(path: Path) -> bool:
    """Whether what an endless script started has ended; nobody takes its corpse away where nobody is its parent."""
    state = Path(f"/proc/{path.with_suffix('.ran').read_text().strip()}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_the_checks_find_ends_the_tests_beside_them(tools: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _script(tools / "pytest", ENDLESS)
    _script(
        tools / "pre-commit", "while [ ! -s {folder}/pytest.ran ]; do sleep 0.01; done; echo a type is wrong; exit 3"
    )
    assert testing.run([]) == 3
    assert "a type is wrong" in capfd.readouterr().out
    eventually(lambda: _is_gone(tools / "pytest"), what="the end of what the tests started")


def test_a_test_that_fails_ends_the_checks_beside_it(tools: Path) -> None:
    _script(tools / "pre-commit", ENDLESS)
    _script(tools / "pytest", "while [ ! -s {folder}/pre-commit.ran ]; do sleep 0.01; done; exit 1")
    assert testing.run([]) == 1
    eventually(lambda: _is_gone(tools / "pre-commit"), what="the end of what the checks started")


def test_checks_that_take_longer_than_the_tests_are_waited_for(tools: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _script(tools / "pre-commit", "while [ ! -e {folder}/tested ]; do sleep 0.01; done; echo a type is wrong; exit 3")
    _script(tools / "pytest", "touch {folder}/tested")
    assert testing.run([]) == 3
    assert "a type is wrong" in capfd.readouterr().out
