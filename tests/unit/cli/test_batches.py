"""Batches at the command line: what is refused at once, lists, one batch."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Command
from tests.support.loopback import Loopback, Reply
from tests.support.loopback_batches import Deployment
from touchstone.cli.files import batch_files
from touchstone.operations.batches import batching

GOOD = '{"kind": "verify", "problem": "p", "answer": "a"}'
BATCH = {
    "id": "B1", "state": "running", "total": 3, "done": 1, "failed": 1, "failure": None,
    "created_at": "2026-11-21T12:00:00Z", "updated_at": "2026-11-21T12:00:01Z", "upload_url": None, "results_url": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no request"),
        (b"\n \n", "holds no request"),
        (b"\n{", "line 2: "),
        (b'{"kind": "verify", "problem": "p"}', "line 1: answer is missing"),
        (b'{"problem": "p", "answer": "a"}', "line 1: "),
        (b"%PDF-1.7\n", "not JSON"),
    ],
)
@pytest.mark.parametrize("where", [[], ["--local"]])
def test_a_wrong_file_is_found_before_anything_is_sent(
    online: Command, api: Loopback, tmp_path: Path, *, content: bytes, words: str, where: list[str]
) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    result = online("batch", "run", str(tmp_path / "x.jsonl"), *where)
    assert (result.exit_code, result.stdout, api.asked) == (2, "", [])
    assert words in result.stderr


def test_what_no_deployment_takes_is_not_sent(
    online: Command, api: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert batch_files.MAX_FILE_BYTES == batching.MAX_FILE_BYTES
    monkeypatch.setattr(batch_files, "MAX_FILE_BYTES", 10)
    (tmp_path / "x.jsonl").write_text(GOOD)
    assert "at most 10 are taken: split it" in online("batch", "run", str(tmp_path / "x.jsonl")).stderr
    assert api.asked == []


def test_results_never_take_the_place_of_the_requests(online: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD)
    os.mkfifo(tmp_path / "pipe")
    refused = (
        (path, "is the file of requests"),
        (tmp_path / "none" / "x", "There is no folder"),
        (tmp_path / "pipe", "is no ordinary file"),
    )
    for output, words in refused:
        result = online("batch", "run", str(path), "--output", str(output), "--local")
        assert result.exit_code == 2
        assert words in result.stderr
    assert path.read_text() == GOOD


def test_many_lines_that_failed_are_summed_up(touchstone: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([GOOD, *["{"] * 25]))
    result = touchstone("batch", "run", str(path), "--local")
    assert result.exit_code == 3
    assert "… and 5 more lines that failed; see " in result.stderr
    assert "line 21: " in result.stderr
    assert "line 22:" not in result.stderr


def test_submissions_are_counted_by_how_they_stand(online: Command, api: Loopback, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD)
    deployment = Deployment(api)
    stand = ("gate_passed", "gate_failed", "gate_passed", "unscored")
    rows = [{"line": line, "submission": {"standing": standing}, "answer": None, "error": None}
            for line, standing in enumerate(stand, start=1)]  # fmt: skip
    refused = {"line": 5, "submission": None, "answer": None, "error": {"reason": "conflict", "detail": "Too late."}}
    results = "\n".join(json.dumps(row) for row in (*rows, refused)).encode()
    api.answer = lambda asked: Reply(raw=results) if "results" in asked.path else deployment.answer(asked)
    result = online("batch", "run", str(path), "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["lines"], len(found["errors"])) == (1, 5, 1)
    assert found["submissions"] == {"gate_failed": 1, "gate_passed": 2, "unscored": 1}
    assert "submissions gate passed" in online("batch", "run", str(path)).stdout


def test_measurements_and_quizzes_are_counted_as_what_they_are(online: Command, api: Loopback, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD)
    deployment = Deployment(api)
    whole: dict[str, Any] = {"unscored": []}
    part: dict[str, Any] = {"unscored": [{"item": "q1", "reason": "refused"}]}
    done: list[dict[str, Any]] = [
        *({"measurement": {"state": "done", "metrics": metrics, "outlay": {"cost_usd": 0.25}}}
          for metrics in ([whole], [whole, part])),
        {"measurement": {"state": "measuring", "metrics": [part], "outlay": {"cost_usd": 0.0}}},
        *({"quiz": {"state": state, "cost_usd": 0.5}} for state in ("clean", "violations", "unchecked", "clean")),
    ]  # fmt: skip
    failed: dict[str, Any] = {"quiz": {"state": "failed", "cost_usd": 0.0}}

    def run(works: list[dict[str, Any]]) -> tuple[int, dict[str, Any], str]:
        empty = dict.fromkeys(("answer", "submission", "measurement", "quiz", "error"))
        rows = [{"line": line, **empty, **one} for line, one in enumerate(works, start=1)]
        raw = "\n".join(map(json.dumps, rows)).encode()
        api.answer = lambda asked: Reply(raw=raw) if "results" in asked.path else deployment.answer(asked)
        result = online("batch", "run", str(path), "--json")
        return result.exit_code, json.loads(result.stdout), online("batch", "run", str(path)).stdout

    code, found, shown = run(done)
    assert (code, found["lines"], found["errors"], found["cost_usd"]) == (0, 7, [], 2.5)
    assert found["measurements"] == {"measured": 1, "measuring": 1, "with_unscored": 1}
    assert found["quizzes"] == {"clean": 2, "unchecked": 1, "violations": 1}
    assert "measurements with unscored" in shown
    assert "quizzes violations" in shown
    code, found, _ = run([*done, failed])
    assert (code, found["errors"], found["quizzes"]) == (
        1, [], {"clean": 2, "failed": 1, "unchecked": 1, "violations": 1}
    )  # fmt: skip


def test_results_that_are_none_are_named(online: Command, api: Loopback, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD)
    deployment = Deployment(api)
    api.answer = lambda asked: Reply(raw=b"<html>\n") if "results" in asked.path else deployment.answer(asked)
    result = online("batch", "run", str(path))
    assert result.exit_code == 2
    assert "holds a line that is no result" in result.stderr


def test_batches_are_listed(online: Command, api: Loopback) -> None:
    page = {"items": [BATCH], "cursor": "next"}
    api.answer = lambda _: Reply(value=page)
    result = online("batch", "list")
    assert "2026-11-21 12:00:00" in result.stdout
    assert result.stderr == "There are more: --cursor next\n"
    assert json.loads(online("batch", "list", "--json").stdout) == page
    api.answer = lambda _: Reply(value={"items": [], "cursor": None})
    assert online("batch", "list").stderr == "There are no batches yet. The first comes by: touchstone batch run\n"


def test_a_batch_is_shown_and_its_results_fetched(online: Command, api: Loopback, tmp_path: Path) -> None:
    done = {**BATCH, "state": "finished", "results_url": f"{api.url}/results"}
    failed = {**BATCH, "state": "failed", "failure": "It broke."}
    api.script = [Reply(value=BATCH), Reply(value=done), Reply(raw=b"{}\n"), Reply(value=failed), Reply(value=BATCH)]
    assert "running" in online("batch", "show", "B1").stdout
    result = online("batch", "show", "B1", "--output", str(tmp_path / "r"), "--json")
    assert (json.loads(result.stdout), (tmp_path / "r").read_bytes()) == (done, b"{}\n")
    result = online("batch", "show", "B1")
    assert result.exit_code == 1
    assert "It broke." in result.stdout
    result = online("batch", "show", "B1", "--output", str(tmp_path / "r"))
    assert (result.exit_code, result.stderr) == (2, "Error: The batch B1 has no results yet; it is running.\n")


def test_a_batch_is_wanted_now_and_twice_only_where_one_says_so(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(value=BATCH)
    assert "running" in online("batch", "now", "B1").stdout
    assert json.loads(online("batch", "now", "B1", "--pay-twice", "--json").stdout) == BATCH
    assert [(asked.method, asked.path, asked.query) for asked in api.asked] == [
        ("POST", "/v1/batches/B1/now", {}),
        ("POST", "/v1/batches/B1/now", {"pay_twice": "true"}),
    ]
