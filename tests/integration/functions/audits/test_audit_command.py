"""`touchstone audits` against the real API and the machine's own steps, from definitions to the report."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.support.api_door import Door
from tests.support.deployed_audits import BENCHMARK, ONE, settled
from tests.support.deployment import Deployment
from tests.support.lambdas import Lambdas
from tests.support.loopback import Loopback
from touchstone.audits.report import read_report
from touchstone.cli.app import app
from touchstone.cli.terminal import waiting
from touchstone.records import Role

type Command = Callable[..., Result]


@pytest.fixture
def touchstone(
    judged: Deployment, agent: object, lambdas: Lambdas, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Command]:
    """The command, led to the deployment; whatever it waits for goes on meanwhile."""
    monkeypatch.setattr(waiting, "pause", lambda _: settled())
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    with Loopback() as server:
        Door(server=server, deployment=judged)

        def run(*arguments: str, role: Role = "member") -> Result:
            env = {"TOUCHSTONE_API_URL": server.url, "TOUCHSTONE_TOKEN": judged.token("demo", role)}
            return CliRunner(env=env).invoke(app, ["audits", *arguments], prog_name="touchstone")

        yield run


@pytest.fixture
def four(tmp_path: Path) -> str:
    (tmp_path / "four.yaml").write_text(BENCHMARK)
    return "four.yaml"


@pytest.fixture
def one(tmp_path: Path) -> str:
    (tmp_path / "one.json").write_text(json.dumps(ONE))
    return "one.json"


def test_an_audit_is_started_waited_for_listed_and_read(touchstone: Command, four: str, tmp_path: Path) -> None:
    made = touchstone("start", four, "--target", "tinylib==1.0", "--wait")
    assert made.exit_code == 1, made.output
    assert "1 Incorrect, 1 Ambiguous, 1 Unproven, 1 Valid" in made.stdout
    assert "tinylib==1.0 (resolved to 1.0)" in made.stdout
    listed = json.loads(touchstone("list", "--json").stdout)["items"]
    audit_id = listed[0]["id"]
    assert f"touchstone audit report {audit_id}" in made.stderr
    assert audit_id in touchstone("list").stdout
    for failing, code in (("none", 3), ("unproven", 1), ("incorrect", 1)):
        assert touchstone("show", audit_id, "--fail-on", failing).exit_code == code
    assert "Seen: valid." in touchstone("report", audit_id).stdout
    assert touchstone("report", audit_id, "--out", "there").exit_code == 0
    assert len(read_report((tmp_path / "there/quality_report.json").read_bytes(), name="r").cases) == 4
    printed = touchstone("report", audit_id, "--format", "json").stdout
    assert read_report(printed.encode(), name="r").totals["Valid"] == 1


def test_its_proofs_run_again_against_another_version_show_what_drifted(touchstone: Command, one: str) -> None:
    first = touchstone("start", one, "--target", "tinylib==1.0", "--wait", "--json")
    audit_id = json.loads(first.stdout)["id"]
    assert first.exit_code == 0
    again = touchstone("recheck", audit_id, "--target", "tinylib==2.0", "--wait")
    assert again.exit_code == 1
    assert "Valid → Ambiguous" in again.stdout
    assert "B refuted → holds" in again.stdout
    assert touchstone("recheck", audit_id, "--target", "tinylib==2.0", "--wait", "--fail-on", "none").exit_code == 0
    same = touchstone("recheck", audit_id, "--target", "tinylib==1.0", "--wait", "--fail-on", "drift")
    assert (same.exit_code, "No case drifted." in same.stderr) == (0, True)


def test_a_weekly_one_is_ended(touchstone: Command, one: str) -> None:
    made = touchstone("start", one, "--target", "tinylib", "--weekly")
    assert "each week" in made.stdout
    audit_id = json.loads(touchstone("list", "--json").stdout)["items"][0]["id"]
    assert "each week" not in touchstone("end-weekly", audit_id).stdout


def test_a_target_that_is_no_good_ends_undecided_with_the_reason(touchstone: Command, one: str) -> None:
    made = touchstone("start", one, "--target", "brokenlib==1.0", "--wait")
    assert made.exit_code == 3
    assert "cannot be imported" in made.stdout
    audit_id = json.loads(touchstone("list", "--json").stdout)["items"][0]["id"]
    refused = touchstone("report", audit_id)
    assert (refused.exit_code, "has no report" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("bad.yaml", "--target", "tinylib"), "bad.yaml:1:3"),
        (("one.json", "--target", "tinylib; os_name != 'x'"), "under a condition"),
        (("one.json", "--target", "tinylib", "--fail-on", "wrong"), "none of incorrect"),
        (("one.json", "--target", "tinylib", "--max-cost", "0"), "greater than 0"),
        (("one.json", "--target", "tinylib", "--provider", "No body"), "provider"),
        (("none.yaml", "--target", "tinylib"), "cannot be read"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_sent(
    touchstone: Command, one: str, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "bad.yaml").write_text("- {id: a, question: q}\n")
    refused = touchstone("start", *arguments)
    assert (refused.exit_code, sentence in refused.stderr) == (2, True), refused.stderr
    assert json.loads(touchstone("list", "--json").stdout)["items"] == []
