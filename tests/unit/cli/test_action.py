"""The action for workflows of GitHub: its own steps, run as a runner does, with inputs as a workflow gives them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.audit_commands import audited, kept_bundles, wheels
from tests.support.sarif_schema import sarif_runs
from touchstone.version import __version__

__all__ = ["audited", "kept_bundles", "wheels"]

ROOT = Path(__file__).parents[3]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, RUN = "Install Touchstone", "Run Touchstone"
FAULTY = {
    "questions": [{"id": "q1", "kind": "true_false", "question_text": "学习 means to study.", "answers": ["true"]}]
}

BREAKING = '"; touch broken; $(touch broken) `touch broken`'


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a step ended: its exit code, what it printed, and what it said to the runner."""

    code: int
    printed: str
    outputs: Mapping[str, str]
    path: str


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with material, as a runner has checked it out."""
    folder = tmp_path / "repository"
    folder.mkdir()
    for name in ("quiz.json", "source.md"):
        shutil.copy(ROOT / "events" / name, folder / name)
    return folder


@pytest.fixture
def offline(wheels: Path, kept_bundles: Path) -> Mapping[str, str]:
    """The target's wheels in place of a registry."""
    return {"UV_FIND_LINKS": str(wheels), "UV_OFFLINE": "1", "XDG_CACHE_HOME": str(kept_bundles)}


def step(name: str, folder: Path, *, env: Mapping[str, str] | None = None, **inputs: str) -> Ended:
    """One `run:` step of the action."""
    (found,) = [one for one in ACTION["runs"]["steps"] if one.get("name") == name]
    known = {key: one.get("default", "") for key, one in ACTION["inputs"].items()}
    given = {key.replace("_", "-"): value for key, value in inputs.items()}
    assert set(given) <= set(known)
    values = {f"inputs.{key}": value for key, value in {**known, **given}.items()} | {"github.action_path": str(ROOT)}
    own = {
        key: re.sub(r"\$\{\{ (\S+) \}\}", lambda place: str(values[place[1]]), value)
        for key, value in found["env"].items()
    }
    files = {key: folder.parent / key for key in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    kept = {key: value for key, value in os.environ.items() if not key.endswith(("_KEY", "_TOKEN"))}
    tools = f"{Path(sys.executable).parent}:{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]],  # noqa: S607 - as runners do
        cwd=folder,
        env={**kept, "PATH": tools, **own, **{key: str(file) for key, file in files.items()}, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    said = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return Ended(
        code=done.returncode, printed=done.stdout + done.stderr, outputs=said, path=files["GITHUB_PATH"].read_text()
    )


@pytest.mark.parametrize(
    ("bar", "code", "outcome"),
    [("item_flaws=50", 0, "passed"), ("\nitem_flaws=80\n", 1, "failed"), ("50", 3, "undecided"), ("x", 2, "error")],
)
def test_material_is_measured_against_its_bars(repository: Path, bar: str, code: int, outcome: str) -> None:
    ended = step(
        RUN, repository, command="evaluate quiz", files="quiz.json", source="source.md", fail_under=bar, out="found"
    )
    assert (ended.code, ended.outputs["exit-code"], ended.outputs["outcome"]) == (code, str(code), outcome), (
        ended.printed
    )
    if code != 2:
        (logs,) = json.loads((repository / ended.outputs["otlp"]).read_text(encoding="utf-8"))["resourceLogs"]
        assert logs["scopeLogs"][0]["logRecords"]
        assert ElementTree.parse(repository / ended.outputs["junit"]).getroot().get("tests") != "0"  # noqa: S314 - ours


def test_quizzes_are_checked_file_by_file_and_a_finding_fails(repository: Path) -> None:
    well = step(RUN, repository, command="quiz check", files="quiz.json", ui_language="en")
    assert (well.code, well.outputs["outcome"]) == (0, "passed"), well.printed
    (repository / "a quiz.json").write_text(json.dumps(FAULTY, ensure_ascii=False), encoding="utf-8")
    ended = step(RUN, repository, command="quiz check", files="quiz.json\na quiz.json\n")
    assert (ended.code, ended.outputs["outcome"]) == (1, "failed"), ended.printed
    (found,) = sarif_runs((repository / ended.outputs["sarif"]).read_bytes())
    (place,) = found["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a%20quiz.json"


@pytest.mark.parametrize(("version", "code", "outcome"), [("1.0", 0, "passed"), ("2.0", 1, "failed")])
def test_proofs_of_an_audit_are_run_again(
    repository: Path, audited: Path, offline: Mapping[str, str], *, version: str, code: int, outcome: str
) -> None:
    ended = step(
        RUN,
        repository,
        env=offline,
        command="audit recheck",
        files=str(audited / "quality_report.json"),
        target=f"tinylib=={version}",
        out="found",
    )
    assert (ended.code, ended.outputs["outcome"]) == (code, outcome), ended.printed
    (found,) = sarif_runs((repository / ended.outputs["sarif"]).read_bytes())
    assert len(found["results"]) == code
    assert (repository / "found/recheck/quality_audit.md").is_file()


def test_an_input_is_never_the_shells_own_text(repository: Path) -> None:
    for place in ("files", "source", "metrics", "fail_under"):
        inputs: dict[str, Any] = {
            "command": "evaluate quiz",
            "files": "quiz.json",
            place: '"; touch broken; $(touch broken) `touch broken`',
        }
        assert step(RUN, repository, **inputs).code == 2
    assert not (repository / "broken").exists()
    assert "${{" not in "".join(one.get("run", "") for one in ACTION["runs"]["steps"])


def test_a_command_that_is_none_is_told(repository: Path) -> None:
    ended = step(INSTALL, repository, command="quiz generate")
    assert (ended.code, "::error::command is one of: evaluate quiz" in ended.printed) == (2, True)


@pytest.mark.package
def test_it_installs_the_checkout_that_it_lies_in(repository: Path, tmp_path: Path) -> None:
    tools = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    ended = step(INSTALL, repository, env=tools, command="quiz check")
    assert (ended.code, ended.path.strip()) == (0, str(tmp_path / "bin")), ended.printed
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    told = subprocess.run(["touchstone", "--version"], env={**os.environ, "PATH": path}, capture_output=True, text=True)  # noqa: S607, PLW1510
    assert told.stdout.strip() == f"touchstone {__version__}"
    checked = step(RUN, repository, env={"PATH": path}, command="quiz check", files="quiz.json")
    assert checked.outputs["outcome"] == "passed", checked.printed
