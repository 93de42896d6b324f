"""The workflow that checks material: its own commands, run as a runner does, on what is well and what is not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.sarif_schema import sarif_runs

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / "docs/how-to/check-material.yml"
UVX = """#!/bin/sh
# What uvx comes to once it has installed what --from names.
test "$1 $2 $3" = "--python 3.13 --from" || exit 64
case "$4" in touchstone-verdicts*) ;; *) exit 64 ;; esac
shift 4
exec "$@"
"""
"""In place of uvx, which would install the release: the checkout is installed already."""
FAULTY = {
    "questions": [
        {
            "id": "q1",
            "kind": "single_choice",
            "question_text": "Which word means to study?",
            "choices": ["學習", "睡覺"],
            "answers": ["學習"],
            "explanation": "学习 means to study.",
        }
    ]
}


@pytest.fixture
def workflow() -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with material as the workflow expects it."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "uvx").write_text(UVX)
    (tools / "uvx").chmod(0o755)
    for folder in ("quizzes", "material"):
        (tmp_path / folder).mkdir()
    for name in ("quiz.json", "source.md"):
        shutil.copy(ROOT / "events" / name, tmp_path / "material" / name)
    shutil.copy(ROOT / "events" / "quiz.json", tmp_path / "quizzes" / "moon.json")
    return tmp_path


def run(workflow: dict[Any, Any], job: str, repository: Path) -> "subprocess.CompletedProcess[str]":
    """The one command of a job, as a runner on Linux runs it."""
    (step,) = [step for step in workflow["jobs"][job]["steps"] if "touchstone" in step.get("run", "")]
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN"))}
    path = f"{repository / 'tools'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],  # noqa: S607 - as runners do
        cwd=repository,
        env={**kept, **workflow["env"], "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_quizzes_that_hold_the_rules_pass(workflow: dict[Any, Any], repository: Path) -> None:
    done = run(workflow, "quizzes", repository)
    assert done.returncode == 0, done.stderr
    (found,) = sarif_runs((repository / "quizzes.sarif").read_bytes())
    assert found["results"] == []


def test_a_quiz_that_breaks_one_fails_the_build_and_is_shown_at_its_line(
    workflow: dict[Any, Any], repository: Path
) -> None:
    text = json.dumps(FAULTY, ensure_ascii=False, indent=1)
    (repository / "quizzes" / "study.json").write_text(text, encoding="utf-8")
    done = run(workflow, "quizzes", repository)
    assert done.returncode == 1, done.stderr
    (found,) = sarif_runs((repository / "quizzes.sarif").read_bytes())
    (place,) = found["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "quizzes/study.json"
    line = next(number for number, each in enumerate(text.split("\n"), start=1) if "学习" in each)
    assert place["physicalLocation"]["region"]["startLine"] == line
    assert ElementTree.parse(repository / "quizzes.xml").getroot().get("failures") == "1"  # noqa: S314 - our own


def test_material_below_its_bar_fails_the_build_and_tells_collectors(
    workflow: dict[Any, Any], repository: Path
) -> None:
    done = run(workflow, "material", repository)
    assert done.returncode == 1, done.stderr  # the sample scores 60, as the guide to surfaces says
    (logs,) = json.loads((repository / "material.json").read_text(encoding="utf-8"))["resourceLogs"]
    assert logs["scopeLogs"][0]["logRecords"]


def test_every_step_is_what_runners_know(workflow: dict[Any, Any]) -> None:
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("uses" in step) is not ("run" in step)
            assert set(step) <= {"name", "uses", "run", "with", "if", "env"}
