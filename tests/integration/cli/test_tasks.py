"""What parties of a task do with the command, through the real API and the machines' own steps, from task to result."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support import grading
from tests.support.api_door import Door
from tests.support.clocks import later
from tests.support.commands import TenantCommand
from tests.support.deployment import Deployment, deployed
from tests.support.providers import ProviderServer
from touchstone.cli.commands import tasks as commands

HOUR = 3600
BRIEF = {"description": "Compare three databases.", "acceptance_criteria": ["Names a source for each figure."]}

type Tasks = Callable[..., Result]


@pytest.fixture
def deployment(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment whose judges grade submissions as these say themselves."""
    keys, addresses = judges.led_here()
    with deployed(monkeypatch, keys=keys, POWERTOOLS_METRICS_DISABLED="true", **addresses) as here:
        yield here


@pytest.fixture
def task_file(tmp_path: Path) -> str:
    (tmp_path / "task.json").write_text(json.dumps(BRIEF))
    return str(tmp_path / "task.json")


@pytest.fixture
def work(tmp_path: Path) -> Callable[..., str]:
    """Writes work that is graded so; the file's name."""

    def write(name: str, **graded: Any) -> str:
        path = tmp_path / f"{name}.md"
        path.write_text(grading.submission(**graded))
        return str(path)

    return write


def _passes(deployment: Deployment, seconds: float) -> None:
    """Let time pass, and everything that waited for it go on."""
    later(seconds)
    deployment.machines.wake()


def _made(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return str(json.loads(result.stdout)["id"])


def _ranking(result: Result) -> list[tuple[str, str]]:
    """Ranks and by whom, as a task shows them."""
    rows = [line.split() for line in result.stdout.partition("final score")[2].splitlines()]
    return [(row[0], row[1]) for row in rows if row and row[0].isdigit()]


def test_the_first_that_passes_wins(touchstone: TenantCommand, task_file: str, work: Callable[..., str]) -> None:
    options = ("--owner", "buyer", "--path", "fastest_first", "--deadline", "3d")
    task_id = _made(touchstone("tasks", "create", task_file, *options, "--wait", "--json"))
    assert "depth" in touchstone("tasks", "show", task_id).stdout
    hint = touchstone(
        "tasks", "submit", task_id, work("a", readings=85, unsourced=True), "--submitter", "ann", "--wait"
    )
    assert hint.exit_code == 1
    assert "Name a source for each figure." in hint.stdout
    weak = touchstone("tasks", "submit", task_id, work("b", readings=55), "--submitter", "ben", "--wait")
    assert weak.exit_code == 0
    for words in ("42.36, band D", "C, below expected", "suggestion (high)"):
        assert words in weak.stdout
    won = touchstone("tasks", "submit", task_id, work("a", readings=85), "--submitter", "ann", "--wait", "--json")
    shown = touchstone("tasks", "show", task_id, "--party", "buyer", role="reader").stdout
    assert "final" in shown
    assert _made(won) in shown
    late = touchstone("tasks", "submit", task_id, work("c", readings=90), "--submitter", "cleo")
    assert (late.exit_code, late.stderr) == (2, "Error: The task takes no more submissions.\n")
    (listed,) = json.loads(touchstone("tasks", "list", "--json").stdout)["items"]
    assert (listed["id"], listed["state"], listed["winner"]) == (task_id, "final", _made(won))


def test_a_contest_is_scored_ranked_challenged_and_made_final(
    touchstone: TenantCommand, deployment: Deployment, task_file: str, work: Callable[..., str], tmp_path: Path
) -> None:
    options = ("--owner", "buyer", "--path", "quality_first", "--deadline", "3d", "--challenge-period", "2h")
    task_id = _made(touchstone("tasks", "create", task_file, *options, "--wait", "--json"))
    ids = {}
    entries: dict[str, dict[str, Any]] = {
        "ann": {"readings": 81},
        "ben": {"readings": 77, "by": {"openai": {"depth": 99, "credibility": 99}}},
        "dora": {"readings": {"substantiveness": 90, "credibility": 45, "completeness": 90, "depth": 90}},
    }
    for name, graded in entries.items():
        handed_in = touchstone(
            "tasks", "submit", task_id, work(name, **graded), "--submitter", name, "--wait", "--json"
        )
        ids[name] = _made(handed_in)
        told = touchstone("tasks", "submission", task_id, ids[name], "--party", name)
        assert "What to improve:" in told.stdout
        assert "suggestion (high)" in told.stdout
        assert not {"total", "band", "score"} & set(told.stdout.split()), "no score of an open contest"
        as_json = json.loads(touchstone("tasks", "submission", task_id, ids[name], "--party", name, "--json").stdout)
        assert [set(feedback) for feedback in as_json["feedback"]] == [{"type", "revision_suggestions"}]
    assert touchstone("tasks", "submission", task_id, ids["ann"], "--party", "ben").exit_code == 2
    assert "nothing that this party may see" in touchstone("tasks", "submissions", task_id, "--party", "buyer").stderr
    assert touchstone("tasks", "deadline", task_id, "1h").exit_code == 0
    _passes(deployment, HOUR + 60)
    assert _ranking(touchstone("tasks", "show", task_id, "--party", "ben")) == [("1", "ann"), ("2", "ben")]
    listed = touchstone("tasks", "submissions", task_id, "--party", "buyer")
    assert "eliminated" in listed.stdout
    assert touchstone("tasks", "submission", task_id, ids["dora"], "--party", "dora").exit_code == 1
    judged = touchstone(
        "tasks", "challenge", task_id, ids["ben"], "--party", "ben", "--reason", "It is deep.", "--wait"
    )
    assert judged.exit_code == 0
    for words in ("upheld", "openai", "88.0"):
        assert words in judged.stdout
    assert "It is deep." in touchstone("tasks", "challenges", task_id, "--party", "ann").stdout
    again = touchstone("tasks", "challenge", task_id, ids["ben"], "--party", "ben", "--reason", "It is.")
    assert (again.exit_code, again.stderr.count("\n")) == (2, 1)
    _passes(deployment, 2 * HOUR + 60)
    assert _ranking(touchstone("tasks", "show", task_id, "--party", "ann")) == [("1", "ben"), ("2", "ann")]
    final = json.loads(touchstone("tasks", "show", task_id, "--party", "ann", "--json").stdout)
    assert (final["state"], final["winner"]) == ("final", ids["ben"])
    assert {event["kind"] for event in deployment.told()} == {"task.closed", "result.final", "payout.due"}


def test_long_work_goes_by_the_store(
    touchstone: TenantCommand, door: Door, task_file: str, work: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "INLINE_TEXT_BYTES", 10)
    options = ("--owner", "buyer", "--path", "quality_first", "--deadline", "3d")
    task_id = _made(touchstone("tasks", "create", task_file, *options, "--wait", "--json"))
    result = touchstone("tasks", "submit", task_id, work("a", readings=80), "--submitter", "ann", "--wait")
    assert result.exit_code == 0
    assert "gate passed" in result.stdout
    (put,) = (asked for asked in door.server.asked if asked.path.startswith("/s3/"))
    assert "/uploads/" in put.path
    assert "authorization" not in put.headers


def test_what_the_api_refuses_is_one_sentence(
    touchstone: TenantCommand, task_file: str, work: Callable[..., str]
) -> None:
    options = ("--owner", "buyer", "--path", "quality_first", "--deadline")
    task_id = _made(touchstone("tasks", "create", task_file, *options, "3d", "--wait", "--json"))
    file = work("a", readings=80)
    for arguments in (
        ("create", task_file, *options, "0s"),
        ("create", task_file, *options, "400d"),
        ("deadline", task_id, "0s"),
        ("show", "nothing"),
        ("submit", "nothing", file, "--submitter", "ann"),
        ("submit", task_id, file, "--submitter", " "),
        ("submissions", task_id, "--party", "stranger"),
        ("submission", task_id, "nothing", "--party", "buyer"),
        ("challenge", task_id, "nothing", "--party", "buyer", "--reason", "r"),
        ("challenges", task_id, "--party", "stranger"),
        ("list", "--cursor", "x"),
    ):
        result = touchstone("tasks", *arguments)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), arguments
    assert touchstone("tasks", "show", task_id, tenant="rival").exit_code == 2
    for arguments in (("create", task_file, *options, "3d"), ("submit", task_id, file, "--submitter", "ann")):
        assert "role" in touchstone("tasks", *arguments, role="reader").stderr
