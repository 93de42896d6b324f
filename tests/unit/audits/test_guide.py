"""What the guide to audits shows: definitions and a report that are read, and a workflow whose command there is."""

from pathlib import Path
from typing import Any

import yaml
from typer.main import get_command

from touchstone.audits.loading import load_cases
from touchstone.audits.report import read_report
from touchstone.cli.app import app

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / "docs/how-to/recheck-benchmarks.yml"


def test_the_sample_benchmark_and_its_report_belong_together() -> None:
    loaded = load_cases([ROOT / "events/benchmark.yaml"])
    assert loaded.faults == ()
    path = ROOT / "events/quality_report.json"
    report = read_report(path.read_bytes(), name=str(path))
    assert [one.case for one in report.cases] == [one.case for one in loaded.cases]
    assert [one.source.line for one in report.cases if one.source] == [one.line for one in loaded.cases]
    assert report.totals["Valid"] == len(report.cases) == 3
    assert report.trusted is False


def test_the_workflow_runs_weekly_a_command_that_there_is() -> None:
    workflow: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    (schedule,) = workflow[True]["schedule"]  # to YAML 1.1 the word `on` is true
    minute, hour, day, month, weekday = schedule["cron"].split()
    assert (minute.isdigit(), hour.isdigit(), day, month, weekday.isdigit()) == (True, True, "*", "*", True)
    (command,) = [
        step["run"] for step in workflow["jobs"]["recheck"]["steps"] if "audit recheck" in step.get("run", "")
    ]
    words = command.partition("audit recheck ")[2].split()
    known = {name for part in _command("audit", "recheck").params for name in part.opts}
    assert [word for word in words if word.startswith("--") and word not in known] == []
    assert words[words.index("--fail-on") + 1] == "drift"


def _command(*path: str) -> Any:
    found: Any = get_command(app)
    for name in path:
        found = found.commands[name]
    return found
