"""What a user measures and compares in a deployment by the command, through the real API and the machines' steps."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.layers import ROOT
from tests.support.api_door import Door
from tests.support.commands import TenantCommand
from tests.support.deployment import Deployment, deployed
from tests.support.providers import ProviderServer, error
from touchstone.cli.commands import deployed_surfaces

QUIZ = str(ROOT / "events" / "quiz.json")
EXPERIMENT = str(ROOT / "events" / "experiment")
FLAWS = ("measurement", "start", "quiz", QUIZ, "--metrics", "item_flaws")
COMPARED = ("experiment", "start", EXPERIMENT, "--metrics", "duplication")


@pytest.fixture
def deployment(
    request: pytest.FixtureRequest, aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    """A deployment with judges, whose batches are off unless a test turns them on."""
    keys, addresses = judges.led_here()
    settings = {"POWERTOOLS_METRICS_DISABLED": "true", "TOUCHSTONE_BATCHES": getattr(request, "param", "off")}
    with deployed(monkeypatch, keys=keys, **settings, **addresses) as here:
        yield here


def told(text: str) -> Any:
    return json.loads(text)


def test_a_quiz_is_measured_and_held_to_a_score(touchstone: TenantCommand) -> None:
    begun = touchstone(*FLAWS, "--wait", "--json")
    found = told(begun.stdout)
    score = found["metrics"][0]["score"]
    assert (begun.exit_code, found["state"], len(found["metrics"])) == (0, "done", 1)
    for least, code in ((score, 0), (score + 0.01, 1)):
        seen = touchstone("measurement", "show", found["id"], "--fail-under", f"item_flaws={least}")
        assert seen.exit_code == code, seen.output
        assert f"is {'at least' if code == 0 else 'below'} {least:g}." in seen.stdout
    assert touchstone(*FLAWS, "--wait", "--fail-under", "100.0").exit_code == (1 if score < 100 else 0)
    assert touchstone("measurement", "show", found["id"]).exit_code == 0


def test_what_nobody_could_judge_or_is_not_over_passes_no_score(
    touchstone: TenantCommand, judges: ProviderServer
) -> None:
    judges.rule(error("refused"), schema="ClarityReply")
    asked = ("measurement", "start", "quiz", QUIZ, "--metrics", "clarity")
    waited = touchstone(*asked, "--wait", "--fail-under", "0")
    assert (waited.exit_code, "Nobody could judge it" in waited.stdout) == (3, True), waited.output
    assert touchstone(*asked, "--cheap", "--fail-under", "0").exit_code == 3
    going_on = touchstone(*asked, "--cheap")
    assert (going_on.exit_code, "see it with: touchstone measurement show" in going_on.stderr) == (0, True)


def test_a_metric_that_is_left_out_without_its_source_is_told(touchstone: TenantCommand) -> None:
    told_ = touchstone(
        "measurement", "start", "quiz", QUIZ, "--metrics", "item_flaws,coverage", "--wait", "--fail-under", "0"
    )
    assert told_.exit_code == 3
    assert "Left out: it needs the source (--source)." in told_.stdout


def test_an_experiment_is_begun_followed_and_reported(touchstone: TenantCommand, tmp_path: Path) -> None:
    begun = touchstone(*COMPARED, "--wait", "--json")
    assert begun.exit_code in (0, 3), (begun.output, begun.exception)
    found = told(begun.stdout)
    assert found["state"] == "done", begun.output
    assert begun.exit_code == (3 if found["verdict"] == "not_compared" else 0)
    shown = touchstone("experiment", "show", found["id"])
    assert (shown.exit_code, found["headline"][:40] in " ".join(shown.stdout.split())) == (begun.exit_code, True)
    for form, begins in (("md", "#"), ("csv", "experiment,"), ("html", "<!DOCTYPE html>"), ("json", "{")):
        report = touchstone("experiment", "report", found["id"], "--format", form)
        assert (report.exit_code, report.stdout.lstrip("\ufeff").startswith(begins)) == (0, True), report.output[:200]
    items = touchstone("experiment", "report", found["id"], "--format", "csv", "--items")
    assert items.stdout.count("\n") > 2
    sides = touchstone("experiment", "pairs", found["id"], "--format", "html", "--language", "zh")
    assert 'lang="zh' in sides.stdout
    refused = touchstone("experiment", "pairs", found["id"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert touchstone("experiment", "report", found["id"], tenant="rival").exit_code == 2


def test_a_large_experiment_is_uploaded_first(
    touchstone: TenantCommand, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployed_surfaces, "INLINE_BYTES", 100)
    found = told(touchstone(*COMPARED, "--wait", "--json").stdout)
    assert (found["state"], found["pairs"]) == ("done", 8)
    assert [asked.method for asked in door.server.asked if asked.path.startswith("/s3/")] == ["PUT"]


@pytest.mark.parametrize("deployment", ["on"], indirect=True)
def test_what_goes_on_is_no_pass_and_can_be_asked_at_once(touchstone: TenantCommand) -> None:
    judged = ("experiment", "start", EXPERIMENT, "--metrics", "atomicity")
    begun = touchstone(*judged, "--cheap", "--fail-if-worse", "--json")
    found = told(begun.stdout)
    assert (begun.exit_code, found["when"]) == (3, "cheap")
    early = touchstone("experiment", "report", found["id"])
    assert (early.exit_code, early.stderr.count("\n")) == (2, 1)
    refused = touchstone("experiment", "now", found["id"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "paid for" in refused.stderr
    hastened = touchstone("experiment", "now", found["id"], "--pay-twice", "--json")
    assert (hastened.exit_code, told(hastened.stdout)["when"]) == (0, "now")


def test_a_deployment_is_sent_no_command_to_run(touchstone: TenantCommand, door: Door, tmp_path: Path) -> None:
    path = tmp_path / "experiment.json"
    sources = [{"id": "a", "markdown": "Water boils."}]
    maker = {"command": ["true"]}
    variants = [{"name": "x", "items": [], "maker": maker}, {"name": "y", "items": [], "maker": maker}]
    path.write_text(json.dumps({"surface": "summary", "sources": sources, "variants": variants}))
    refused = touchstone("experiment", "start", str(path))
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "runs no commands" in refused.stderr
    assert [asked.path for asked in door.server.asked] == []
