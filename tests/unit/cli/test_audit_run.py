"""`touchstone audit`: whole benchmarks at the command line, by a scripted agent through the real SDKs."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.agents import called, concluded, proved
from tests.support.audit_commands import BOX, bundles_are_built_once, kept_bundles, wheels
from tests.support.commands import Command
from tests.support.providers import ProviderServer
from tests.support.sarif_schema import sarif_runs
from tests.support.wire import Asked, Behaviour
from touchstone.audits.report import read_report
from touchstone.cli.local import audit_running
from touchstone.judges.registry import Registry

__all__ = ["bundles_are_built_once", "kept_bundles", "wheels"]

BENCHMARK = """\
benchmarks:
  - id: keywords
    benchmark_type: api_understanding
    question: Which keyword does a box take?
    options: {A: lid, B: hinge}
    correct_answer: A
  - id: wrong
    question: Which one?
    options: {A: hinge, B: lid}
    correct_answer: A
"""


class Agent:
    """Proves the options that it is shown, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def answer(self, asked: Asked) -> Behaviour:
        self.asked += 1
        texts = sorted(("lid", "hinge"), key=lambda text: asked.prompt.index(f"\n{text}\n"))
        turns = [called(*proved(label, BOX.format(text))) for label, text in zip("AB", texts, strict=True)]
        return Behaviour(by_turn=(*turns, concluded(critique="Not clear to *all*.")))


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    agent = Agent()
    with ProviderServer() as server:
        server.script(agent.answer)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield agent


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    (tmp_path / "benchmarks").mkdir()
    path = tmp_path / "benchmarks/boxes.yaml"
    path.write_text(BENCHMARK, encoding="utf-8")
    return path


@pytest.fixture
def audit(touchstone: Command, benchmark: Path, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs an audit in a folder of its own, the command's name left out."""
    monkeypatch.chdir(tmp_path)

    def run(*options: str, target: str = "tinylib==1.0", of: Path = benchmark) -> Result:
        return touchstone("audit", str(of), "--target", target, "--wheels", str(wheels), *options)

    return run


def test_a_benchmark_is_audited_and_reported(audit: Any, agent: Agent, tmp_path: Path, benchmark: Path) -> None:
    result = audit()
    assert result.exit_code == 1
    assert "1 Incorrect, 0 Ambiguous, 0 Unproven, 1 Valid" in result.stdout
    assert "Make B the key: it holds, and the key A is refuted." in result.stdout
    assert "Cases: 2 of 2, $" in result.stderr
    assert "of an estimated $" in result.stderr
    folder = tmp_path / "audit-tinylib-1.0"
    report = read_report((folder / "quality_report.json").read_bytes(), name="r")
    assert [(one.case.id, one.quality_rating) for one in report.cases] == [
        ("keywords", "Valid"),
        ("wrong", "Incorrect"),
    ]
    assert report.cases[1].source is not None
    assert (report.cases[1].source.file, report.cases[1].source.line) == (str(benchmark), 7)
    page = (folder / "quality_audit.md").read_text(encoding="utf-8")
    assert "### Incorrect: wrong" in page
    assert r"Not clear to \*all\*." in page


def test_the_same_command_again_asks_nobody(audit: Any, agent: Agent, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "kept"))
    assert audit(*out, "--yes").exit_code == 1
    asked = agent.asked
    assert asked == 6
    assert audit(*out, "--fail-on", "ambiguous").exit_code == 0
    assert agent.asked == asked
    refused = audit(*out, target="tinylib==2.0")
    assert (refused.exit_code, "holds an audit against tinylib==1.0" in refused.stderr) == (2, True)


def test_with_a_new_version_only_what_drifted_is_solved_again(audit: Any, agent: Agent, tmp_path: Path) -> None:
    steady = tmp_path / "steady.json"
    steady.write_text(json.dumps({"question": "Which?", "options": ["lid", "hinge"], "answer": "lid"}))
    audit(of=steady)
    asked = agent.asked
    same = audit("--previous", "audit-tinylib-1.0", "--out", "same", of=steady)
    assert (same.exit_code, agent.asked) == (0, asked)
    newer = audit("--previous", "audit-tinylib-1.0", of=steady, target="tinylib==2.0")
    assert (newer.exit_code, agent.asked) == (1, asked + 3)
    assert "1 Ambiguous" in newer.stdout


def test_programs_and_ci_tools_are_told_everything(audit: Any, agent: Agent, tmp_path: Path) -> None:
    junit = tmp_path / "found.xml"
    result = audit("--json", "--junit", str(junit), "--jobs", "2", "--max-cost", "1")
    assert [one["quality_rating"] for one in json.loads(result.stdout)["cases"]] == ["Valid", "Incorrect"]
    root = ET.fromstring(junit.read_bytes())  # noqa: S314 (our own)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "0")
    first, second = root.iter("testcase")
    assert first.get("classname") == "touchstone.audit.api_understanding"
    assert (second[0].get("message") or "").startswith("Incorrect. Make B the key")


def test_cases_that_cost_too_much_are_left_undecided(audit: Any, agent: Agent, tmp_path: Path) -> None:
    sarif = tmp_path / "found.sarif"
    result = audit("--max-cost", "0", "--sarif", str(sarif))
    assert (result.exit_code, agent.asked) == (3, 0)
    assert "2 Unproven" in result.stdout
    (run,) = sarif_runs(sarif.read_bytes())
    told = [(one["ruleId"], one["kind"], one["level"]) for one in run["results"]]
    assert told == [("unproven", "open", "none")] * 2, "nobody decided: neither a fault nor a pass"
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert all(place["region"]["startLine"] >= 1 and place["artifactLocation"]["uri"] for place in places)
    assert "The limit of cost was reached." in result.stdout


def test_somebody_who_is_there_is_asked_before_money_is_spent(
    audit: Any, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchstone.cli.commands.audits.is_interactive", lambda: True)
    result = audit()  # nobody answers
    assert "Spend that?" in result.stderr
    assert "2 with 4 options to prove" in result.stdout
    assert agent.asked == 0
    assert audit("--yes", "--fail-on", "none").exit_code == 0


def test_all_faults_of_definitions_are_told_and_nothing_is_done(audit: Any, agent: Agent, benchmark: Path) -> None:
    benchmark.write_text(BENCHMARK.replace("correct_answer: A", "correct_answer: C"), encoding="utf-8")
    (benchmark.parent / "empty.json").write_text("[]")
    result = audit(of=benchmark.parent)
    assert result.exit_code == 2
    told = result.stderr.splitlines()
    assert told[0].startswith(f"{benchmark}:6:21: benchmarks[0].correct_answer: The key 'C' is none of the options")
    assert told[-1] == "Error: 2 faults in the definitions; nothing was done."
    assert agent.asked == 0
    (benchmark.parent / "boxes.yaml").unlink()
    assert "There are no cases in what was named." in audit(of=benchmark.parent).stderr


def test_without_a_key_nothing_is_begun(audit: Any) -> None:
    result = audit()
    assert (result.exit_code, "No benchmark can be audited without a key" in result.stderr) == (2, True)


def test_drift_is_no_word_for_a_first_audit(audit: Any) -> None:
    result = audit("--fail-on", "drift")
    assert (result.exit_code, "is none of incorrect, ambiguous, unproven" in result.stderr) == (2, True)


def test_a_cost_that_cannot_be_known_cannot_be_bounded(
    audit: Any, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Registry, "listed", lambda *_: None)
    result = audit("--max-cost", "1")
    assert (result.exit_code, "No price is known for" in result.stderr) == (2, True)


def test_an_interrupted_audit_says_how_to_go_on(audit: Any, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(audit_running, "run", interrupted)
        result = audit()
    assert result.exit_code == 130
    assert "Interrupted. What is done is kept in audit-tinylib-1.0; run the same command again" in result.stderr


def test_an_estimate_asks_nobody_and_installs_nothing(
    touchstone: Command, agent: Agent, benchmark: Path, tmp_path: Path
) -> None:
    result = touchstone("audit", "estimate", str(benchmark))
    assert result.exit_code == 0
    assert "2 with 4 options to prove" in result.stdout
    assert "gemini gemini-" in result.stdout
    found = json.loads(touchstone("audit", "estimate", str(benchmark), "--json", "--turns", "3").stdout)
    assert (found["cases"], found["turns"]) == (2, [6, 6])
    assert 0 < found["cost_usd"][0] < found["cost_usd"][1]
    assert agent.asked == 0


def test_an_estimate_needs_no_key(touchstone: Command, benchmark: Path) -> None:
    found = json.loads(touchstone("audit", "estimate", str(benchmark), "--json").stdout)
    assert found["model"].startswith("gemini gemini-")
    other = json.loads(touchstone("audit", "estimate", str(benchmark), "--json", "--provider", "openai").stdout)
    assert other["model"].startswith("openai gpt-")
    assert other["cost_usd"] != found["cost_usd"]
    refused = touchstone("audit", "estimate", str(benchmark), "--provider", "nobody")
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    "arguments", [("report",), ("report", "--target", "tinylib==1.0"), ("show", "--target", "tinylib==1.0")]
)
def test_a_folder_that_is_called_like_a_command_is_named_with_how_it_is_audited(
    touchstone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    without = touchstone("audit", *arguments)
    (tmp_path / arguments[0]).mkdir()
    result = touchstone("audit", *arguments)
    assert (without.exit_code, result.exit_code) == (2, 2)
    said = " ".join(result.stderr.replace("│", " ").split())
    assert f"touchstone audit run ./{arguments[0]}" in said
    assert "./" not in without.stderr


def test_a_command_is_run_beside_a_folder_of_its_name(
    touchstone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report").mkdir()
    result = touchstone("audit", "report", "A1")
    assert "touchstone audit run" not in result.stderr
    assert result.exit_code == touchstone("audit", "show", "A1").exit_code != 0
