"""Choosing Node: the machine's while jsii supports it, else the wheel's, else one clear line."""

from pathlib import Path

import pytest

from infra import toolchain


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose path holds nothing but what a test puts there."""
    monkeypatch.delenv(toolchain.NODE_VARIABLE, raising=False)
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder: Path, name: str, output: str) -> Path:
    place = folder / name
    place.write_text(f"#!/bin/sh\necho '{output}'\n", encoding="utf-8")
    place.chmod(0o755)
    return place


@pytest.mark.parametrize("version", ["v22.11.0", "v24.1.0"])
def test_the_machines_node_serves_while_it_is_supported(machine: Path, version: str) -> None:
    node = program(machine, "node", version)
    assert toolchain.choose_node() == str(node)


@pytest.mark.parametrize("version", ["v20.20.2", "v23.0.0", "something else"])
def test_an_unsupported_node_is_passed_over_for_the_wheels(machine: Path, version: str) -> None:
    program(machine, "node", version)
    assert toolchain.choose_node() == str(toolchain.wheel_node())


def test_a_machine_without_any_node_is_told_what_to_do_in_one_line(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "wheel_node", lambda: None)
    with pytest.raises(toolchain.ToolMissingError, match="this machine has no Node: install one") as raised:
        toolchain.choose_node()
    assert "\n" not in str(raised.value)


def test_an_end_of_life_node_is_named(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine, "node", "v20.20.2")
    monkeypatch.setattr(toolchain, "wheel_node", lambda: None)
    with pytest.raises(toolchain.ToolMissingError, match="Node is 20"):
        toolchain.choose_node()


def test_a_named_node_is_taken_at_its_word_unless_it_does_not_run(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(toolchain.NODE_VARIABLE, str(program(machine, "own-node", "v26.0.0")))
    assert toolchain.choose_node() == str(machine / "own-node")
    monkeypatch.setenv(toolchain.NODE_VARIABLE, str(machine / "missing"))
    with pytest.raises(toolchain.ToolMissingError, match="missing, which is not a Node that runs"):
        toolchain.choose_node()


def test_uv_is_the_one_that_runs_us_else_the_paths(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(toolchain.ToolMissingError, match="pip install uv"):
        toolchain.uv()
    found = program(machine, "uv", "uv 0.13")
    assert toolchain.uv() == str(found)
    monkeypatch.setenv("UV", "/elsewhere/uv")
    assert toolchain.uv() == "/elsewhere/uv"


def test_a_uv_that_does_not_run_is_named(machine: Path) -> None:
    shim = program(machine, "uv", "")
    shim.write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
    with pytest.raises(toolchain.ToolMissingError, match=rf"{shim} does not run"):
        toolchain.uv()
