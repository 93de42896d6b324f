"""A file of requests through a deployment, whatever interrupts it."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.support.answer_views import FAILED, SKIPPED, view
from tests.support.commands import Command
from tests.support.loopback import Asked, Loopback, Reply
from tests.support.loopback_batches import Deployment
from touchstone.answers.ends import passing_reason_of_line
from touchstone.answers.model import EvaluationProgress
from touchstone.cli.app import app
from touchstone.cli.batches.remote_batch import Notebook
from touchstone.cli.deployment.connection import Connection
from touchstone.cli.files.batch_files import exclusively, read_requests

LINES = [json.dumps({"kind": "verify", "problem": f"p{n}", "answer": "a"}) for n in range(3)]

type Break = tuple[int, Literal["before", "after"]]
"""At which request of a run the command is interrupted, before it is sent or after its reply arrived."""


@pytest.fixture
def deployment(api: Loopback) -> Deployment:
    return Deployment(api)


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(LINES) + "\n")
    return path


@contextmanager
def _broken(at: Break | None) -> Iterator[None]:
    """Interrupts the process at one of its requests."""
    sent, count = httpx.Client.send, 0

    def send(self: httpx.Client, *arguments: Any, **options: Any) -> httpx.Response:
        nonlocal count
        count += 1
        if at == (count, "before"):
            raise KeyboardInterrupt
        reply = sent(self, *arguments, **options)
        if at == (count, "after"):
            reply.close()
            raise KeyboardInterrupt
        return reply

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.Client, "send", send)
        yield


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from(["before", "after"])), max_size=5))
def test_an_interrupted_batch_never_sends_a_line_twice(breaks: Sequence[Break]) -> None:
    with tempfile.TemporaryDirectory() as folder, Loopback() as server:
        deployment = Deployment(server)
        path = Path(folder, "answers.jsonl")
        path.write_text("\n".join(LINES))
        runner = CliRunner(env={**server.environment(), "XDG_STATE_HOME": folder})
        for at in [*breaks, None]:
            with _broken(at):
                result = runner.invoke(app, ["batch", "run", str(path)])
            assert result.exit_code in {0, 130}
        assert result.exit_code == 0
        assert len(Path(folder, "answers.results.jsonl").read_bytes().splitlines()) == len(LINES)
    assert (len(deployment.keys), set(deployment.sent.values())) == (1, {1})


def test_a_file_is_done_and_its_results_lie_beside_it(online: Command, deployment: Deployment, requests: Path) -> None:
    requests.write_text("\n".join([*LINES, '{"kind": "verify", "problem": "p", "answer": "wrong"}', "", "{broken"]))
    result = online("batch", "run", str(requests), "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["batch"], found["lines"], found["verified"], found["caution"]) == ("B1", 5, 3, 1)
    assert [(error["line"], error["detail"]) for error in found["errors"]] == [(6, "The line is not JSON.")]
    assert "line 6: The line is not JSON.\n" in result.stderr
    assert found["results"] == str(requests.with_name("answers.results.jsonl"))


@pytest.mark.parametrize("held", ["local", "other"])
def test_results_that_no_deployment_wrote_are_not_written_over(
    online: Command, deployment: Deployment, requests: Path, held: str
) -> None:
    results = requests.with_name("answers.results.jsonl")
    if held == "local":
        assert online("batch", "run", str(requests), "--local").exit_code == 3
    else:
        results.write_text("My notes.\n")
    before = results.read_bytes()
    result = online("batch", "run", str(requests))
    assert result.exit_code == 2
    assert "by --output" in result.stderr
    assert results.read_bytes() == before
    assert not deployment.sent
    assert online("batch", "run", str(requests), "--again").exit_code == 0
    assert results.read_bytes() != before


def test_progress_goes_to_standard_error_and_the_counts_to_standard_output(
    online: Command, deployment: Deployment, requests: Path, tmp_path: Path
) -> None:
    result = online("batch", "run", str(requests), "-o", str(tmp_path / "out"))
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "Batch: waiting for the file to be read", "Batch: 1 of 3", "Batch: 2 of 3", "Batch: 3 of 3",
    ]  # fmt: skip
    facts = [line.split()[:2] for line in result.stdout.splitlines()]
    assert facts[:3] == [["batch", "B1"], ["lines", "3"], ["verified", "3"]]
    assert (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            "batched",
            [
                (
                    "2 lines are in a provider's batch, which takes up to a day; they go on without you, too. "
                    "A file run with --now goes by no batch."
                )
            ],
        ),
        (
            "day_quota",
            [
                f"2 lines wait (day_quota) and are tried again at 2026-11-22 0{hour}:00:00 UTC; the batch goes on "
                "without you, too."
                for hour in (1, 2, 3, 4)
            ],
        ),
    ],
)
def test_lines_that_wait_are_told_once_where_a_providers_batch_has_them(
    online: Command, api: Loopback, deployment: Deployment, requests: Path, *, reason: str, said: list[str]
) -> None:
    def waiting(asked: Asked) -> Reply:
        reply = deployment.answer(asked)
        if asked.method == "GET" and asked.path == "/v1/batches/B1" and reply.value["state"] == "running":
            until = f"2026-11-22T0{1 + reply.value['done']}:00:00Z"
            return Reply(value={**reply.value, "waiting": 2, "waiting_for": reason, "waiting_until": until})
        return reply

    requests.write_text("\n".join([*LINES, LINES[0]]))
    api.answer = waiting
    result = online("batch", "run", str(requests))
    assert result.exit_code == 0
    assert [line for line in result.stderr.splitlines() if "lines" in line] == said


def test_a_file_done_before_is_fetched_again_and_only_again_begins_anew(
    online: Command, deployment: Deployment, requests: Path
) -> None:
    copy = requests.with_name("copy.jsonl")
    copy.write_bytes(requests.read_bytes())
    for path, words in ((requests, ""), (copy, f"is finished, and its results go to {copy.with_suffix('')}.results")):
        done = online("batch", "run", str(path))
        assert (done.exit_code, "Going on" in done.stderr) == (0, False)
        assert words in done.stderr
    assert (len(deployment.keys), set(deployment.sent.values())) == (1, {1})
    assert online("batch", "run", str(requests), "--again").exit_code == 0
    assert (len(deployment.keys), set(deployment.sent.values())) == (2, {2})


def test_another_content_is_another_batch(online: Command, deployment: Deployment, requests: Path) -> None:
    assert online("batch", "run", str(requests)).exit_code == 0
    requests.write_text(LINES[0])
    assert online("batch", "run", str(requests)).exit_code == 0
    assert len(deployment.keys) == 2


def test_a_batch_that_failed_says_why_and_the_same_command_runs_it_again(
    online: Command, deployment: Deployment, requests: Path
) -> None:
    deployment.failure = "None of its lines could be done."
    result = online("batch", "run", str(requests))
    assert result.exit_code == 1
    assert "Error: the batch B1 failed: None of its lines could be done. Once the cause is removed, run the same" in (
        result.stderr
    )
    assert deployment.runs["B1"] == 1, "a run that fails is not repeated unasked"
    deployment.failure = None
    result = online("batch", "run", str(requests))
    assert (result.exit_code, list(deployment.keys.values()), deployment.runs["B1"]) == (0, ["B1"], 2)
    assert "None of its lines could be done. The file is put in its place again" in result.stderr
    assert len(requests.with_name("answers.results.jsonl").read_bytes().splitlines()) == len(LINES)


def test_a_batch_that_nothing_was_heard_of_is_run_again(
    online: Command, deployment: Deployment, requests: Path
) -> None:
    for at in range(1, 9):
        with _broken((at, "before")):
            online("batch", "run", str(requests))
    assert deployment.done["B1"]
    deployment.quiet = True
    result = online("batch", "run", str(requests))
    assert (result.exit_code, deployment.runs["B1"]) == (0, 2)
    assert "Nothing was heard of it for long. The file is put in its place again" in result.stderr


def test_a_batch_that_is_not_begun_again_is_not_waited_for_without_end(
    online: Command, deployment: Deployment, requests: Path, pauses: list[float]
) -> None:
    deployment.failure = "The file could not be read (too large)."
    assert online("batch", "run", str(requests)).exit_code == 1
    deployment.lost = True
    pauses.clear()
    result = online("batch", "run", str(requests))
    assert result.exit_code == 4
    assert "The batch B1 was not begun again within 5 minutes; run the same command again, or with" in result.stderr
    assert 300 <= sum(pauses) < 310


def test_a_batch_that_takes_no_file_any_more_is_followed_as_it_is(
    online: Command, api: Loopback, requests: Path
) -> None:
    failed = {
        "id": "B1", "state": "failed", "total": 3, "done": 0, "failed": 0, "failure": "It broke.", "upload_url": None,
        "results_url": None, "created_at": "2026-11-21T12:00:00Z", "updated_at": "2026-11-21T12:00:00Z",
    }  # fmt: skip
    api.answer = lambda _: Reply(value=failed)
    result = online("batch", "run", str(requests))
    assert (result.exit_code, [asked.method for asked in api.asked]) == (1, ["POST", "GET"])
    assert "--again for a new batch" in result.stderr


def test_a_batch_of_another_tenant_is_not_begun_again_unasked(
    online: Command, deployment: Deployment, requests: Path
) -> None:
    assert online("batch", "run", str(requests)).exit_code == 0
    deployment.keys.clear()
    result = online("batch", "run", str(requests))
    assert result.exit_code == 2
    assert "The batch B1, begun with this file before, is not known to this token's tenant" in result.stderr


def test_two_commands_do_not_work_on_one_file_at_once(
    online: Command, api: Loopback, deployment: Deployment, requests: Path
) -> None:
    notebook = Notebook.of(read_requests(requests), api_url=Connection(url=api.url, token="x").url)
    with exclusively(notebook.path.name):
        result = online("batch", "run", str(requests))
    assert result.exit_code == 2
    assert "Another touchstone command is working on this" in result.stderr
    assert api.asked == []


def test_r26_lines_that_a_finished_batch_left_undecided_are_asked_again_and_no_others(
    online: Command, deployment: Deployment, requests: Path
) -> None:
    late = [json.dumps({"kind": "verify", "problem": f"late {n}", "answer": "late"}) for n in range(2)]
    requests.write_text("\n".join([LINES[0], late[0], "", LINES[1], late[1], "{broken"]))
    results = requests.with_name("answers.results.jsonl")
    deployment.spent = True

    def counts(result: Any) -> tuple[int, Any, Any, Any]:
        found = json.loads(result.stdout)
        return result.exit_code, found["batch"], found["verified"], found["undecided"]

    first = online("batch", "run", str(requests), "--json")
    assert counts(first) == (3, "B1", 2, 2)
    told = ("2 lines are undecided:", "  2 × overloaded: Nobody answered.", "The same command, later, asks exactly")
    assert "\n".join(told) in first.stderr
    second = online("batch", "run", str(requests), "--json")
    assert counts(second) == (3, "B2", 2, 2)
    assert "2 of 5 lines are undecided; a new batch asks exactly these again." in second.stderr
    deployment.spent = False
    results.unlink()
    for at in range(1, 12):
        with _broken((at, "before")):
            online("batch", "run", str(requests))
    third = online("batch", "run", str(requests), "--json")
    assert counts(third) == (1, "B3", 4, 0), "1 for the line that is broken"
    kept = [json.loads(line) for line in results.read_bytes().splitlines()]
    assert [one["line"] for one in kept] == [1, 2, 4, 5, 6]
    assert [one["answer"]["verification_status"] for one in kept[:4]] == ["verified"] * 4
    asked = deployment.sent
    assert [asked[line.encode()] for line in (LINES[0], late[0], LINES[1], late[1])] == [1, 3, 1, 3]
    assert asked[b"{broken"] == 1
    last = online("batch", "run", str(requests), "--json")
    assert counts(last) == (1, "B3", 4, 0)
    assert "Nothing is left to do" in last.stderr
    assert len(deployment.keys) == 3


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"error": {"reason": "not_done"}}, "not_done"),
        ({"error": {"reason": "invalid_input"}}, None),
        ({"quiz": {"state": "unchecked", "unchecked": {"reason": "day_quota"}}}, "day_quota"),
        ({"quiz": {"state": "failed", "failed": {"reason": "overloaded"}}}, "overloaded"),
        ({"quiz": {"state": "failed", "failed": {"reason": "not_found"}}}, None),
        ({"quiz": {"state": "violations", "failed": {"reason": "overloaded"}}}, None),
        ({"answer": view(SKIPPED)}, "overloaded"),
        ({"answer": view(FAILED)}, None),
        ({"submission": {}}, None),
        ({"kind": "evaluate", "answer": view(SKIPPED)}, None),
        (
            {"kind": "evaluate", "answer": view(evaluation=EvaluationProgress(state="failed", failure_reason="quota"))},
            "quota",
        ),
    ],
)
def test_what_another_try_would_change_of_a_line(result: dict[str, Any], reason: str | None) -> None:
    assert passing_reason_of_line(result) == reason
