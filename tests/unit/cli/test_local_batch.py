"""A file of requests in this process: appended as it comes, repaired, repeated, never paid twice."""

import gc
import json
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Buffer, Iterator
from datetime import timedelta
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.support import replies
from tests.support.commands import Command
from tests.support.providers import ProviderServer, success
from tests.support.wire import Asked, Behaviour
from touchstone.cli.app import app
from touchstone.cli.batches.local_batch import _NotedJudges
from touchstone.cli.files.batch_files import ResultsFile
from touchstone.clock import system_clock
from touchstone.errors import QuotaExceededError, StoreError
from touchstone.judges import EnvironmentKeys, load_registry
from touchstone.operations.batches.lines import LineResult

VERDICT = replies.verify(independent_answer="x")
COUNT = 6
MARKS = [f"island-{number}" for number in range(COUNT)]
LINES = [json.dumps({"kind": "verify", "id": mark, "problem": f"Name {mark}.", "answer": "x"}) for mark in MARKS]
PROOF = json.dumps({"kind": "verify", "problem": "Compute 3/4 + 1/6.", "answer": "11/12"})


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as started:
        started.reply(VERDICT, schema="VerifyReply")
        yield started


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(LINES) + "\n")
    return path


def _results(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _asked(server: ProviderServer) -> Counter[str]:
    return Counter(mark for call in server.calls for mark in MARKS if f"{mark}." in call.prompt)


def test_without_a_key_the_checks_do_what_they_can(touchstone: Command, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    lines = [PROOF, "", '{"kind": "verify"}', LINES[0], '{"kind": "evaluate", "answer_id": "x"}', "{"]
    path.write_text("\n".join(lines))
    result = touchstone("batch", "run", str(path), "--local", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 3, "a key would decide one line, so the file is not done"
    assert (found["batch"], found["lines"], found["verified"], found["unverified"]) == (None, 5, 1, 1)
    assert found["undecided"] == 1
    places = [(error["line"], error["where"]) for error in found["errors"]]
    assert places == [(3, "problem"), (5, "answer_id"), (6, None)]
    assert (
        "\nline 3: problem is missing and must be given; answer is missing and must be given.\nline 5: answer_id: The"
        in result.stderr
    )
    assert [each["line"] for each in _results(tmp_path / "answers.results.jsonl")] == [1, 3, 4, 5, 6]


def test_work_for_a_task_needs_the_deployment_that_has_the_task(touchstone: Command, tmp_path: Path) -> None:
    path = tmp_path / "work.jsonl"
    path.write_text('{"kind": "submission", "id": "a", "task_id": "01M7", "submitter": "ann", "text": "t"}\n' + PROOF)
    result = touchstone("batch", "run", str(path), "--local")
    assert result.exit_code == 1
    said = "task_id: The task of a submission is in a deployment; send this line without --local."
    assert f"line 1: {said}\n" in result.stderr
    assert [each["id"] for each in _results(tmp_path / "work.results.jsonl")] == ["a", None]


def test_lines_of_a_kind_that_only_a_deployment_does_say_so(touchstone: Command, tmp_path: Path) -> None:
    path = tmp_path / "work.jsonl"
    material = '{"questions": [{"id": "q1", "kind": "true_false", "question_text": "So?", "answers": ["true"]}]}'
    path.write_text(
        f'{{"kind": "quiz_evaluation", "material": {material}}}\n{{"kind": "quiz_check", "quiz": {material}}}'
    )
    result = touchstone("batch", "run", str(path), "--local")
    assert result.exit_code == 1
    said = "kind: Only a deployment does lines of this kind; send this line without --local."
    assert result.stderr.count(said) == 2


def test_lines_are_solved_here_too(touchstone: Command, tmp_path: Path, server: ProviderServer) -> None:
    server.reply(replies.solve(answer="11/12"), schema="SolveReply")
    server.reply(replies.analyze(subject="math"), schema="AnalyzeReply")
    server.reply(replies.enrich(), schema="EnrichReply")
    path = tmp_path / "problems.jsonl"
    path.write_text('{"kind": "solve", "problem": "Compute 3/4 + 1/6.", "deep_evaluation": false}')
    assert touchstone("batch", "run", str(path), "--local", env=server.environment()).exit_code == 0
    assert _results(tmp_path / "problems.results.jsonl")[0]["answer"]["answer"] == "11/12"


def test_a_file_done_before_is_not_done_again(touchstone: Command, requests: Path, server: ProviderServer) -> None:
    arguments = ("batch", "run", str(requests), "--local")
    for words in ("Batch: 0 of 6", "This file is finished: all 6 results are in", "--again"):
        result = touchstone(*arguments, env=server.environment())
        assert result.exit_code == 0
        assert words in result.stderr
    assert _asked(server) == dict.fromkeys(MARKS, 1)
    assert [each["id"] for each in _results(requests.with_name("answers.results.jsonl"))] == MARKS


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moments=st.lists(st.integers(1, COUNT), max_size=2), parallel=st.integers(1, 4))
def test_an_interrupted_batch_never_sends_a_line_twice(moments: list[int], parallel: int) -> None:
    stops = iter(moments)
    stop: int | None = None

    def interrupting(_: Asked) -> Behaviour:
        nonlocal stop
        if stop is not None:
            stop -= 1
            if stop == 0:
                stop = None  # a second interruption of the same run would end the lines that were begun
                os.kill(os.getpid(), signal.SIGINT)
        return success(VERDICT)

    with tempfile.TemporaryDirectory() as folder, ProviderServer() as server:
        server.script(interrupting)
        path = Path(folder, "answers.jsonl")
        path.write_text("\n".join(LINES))
        # Each run has a cache of its own: only the results say what was done.
        for run in range(len(moments) + 1):
            stop = next(stops, None)
            env = {**server.environment(), "XDG_STATE_HOME": folder, "XDG_CACHE_HOME": f"{folder}/{run}"}
            arguments = ["batch", "run", str(path), "--local", "--parallel", str(parallel)]
            result = CliRunner(env=env).invoke(app, arguments)
            assert result.exit_code in {0, 130}
            said = f"of {COUNT} lines are decided. The same command goes on with the others."
            assert (said in result.stderr) == (result.exit_code == 130)
        assert result.exit_code == 0
        assert _asked(server) == dict.fromkeys(MARKS, 1)
        assert [each["line"] for each in _results(Path(folder, "answers.results.jsonl"))] == list(range(1, COUNT + 1))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1))
def test_results_cut_anywhere_are_completed_without_paying_again(share: float) -> None:
    with tempfile.TemporaryDirectory() as folder, ProviderServer() as server:
        server.reply(VERDICT, schema="VerifyReply")
        path, results = Path(folder, "answers.jsonl"), Path(folder, "answers.results.jsonl")
        path.write_text("\n".join(LINES))
        folders = {"XDG_STATE_HOME": folder, "XDG_CACHE_HOME": folder}
        runner = CliRunner(env={**server.environment(), **folders})
        assert runner.invoke(app, ["batch", "run", str(path), "--local"]).exit_code == 0
        whole = results.read_bytes()
        results.write_bytes(whole[: round(share * len(whole))])
        assert runner.invoke(app, ["batch", "run", str(path), "--local"]).exit_code == 0
        assert [each["line"] for each in _results(results)] == list(range(1, COUNT + 1))
        assert _asked(server) == dict.fromkeys(MARKS, 1)


@pytest.mark.parametrize("foreign", ["not JSON\n", '{"line": 1, "answer": 7}\n', None])
def test_results_of_another_file_are_not_overwritten_unasked(
    touchstone: Command, tmp_path: Path, foreign: str | None
) -> None:
    path, results = tmp_path / "answers.jsonl", tmp_path / "answers.results.jsonl"
    path.write_text(PROOF)
    assert touchstone("batch", "run", str(path), "--local").exit_code == 0
    if foreign is None:
        path.write_text(PROOF.replace("11/12", "22/24"))
    else:
        results.write_text(foreign)
    before = results.read_bytes()
    result = touchstone("batch", "run", str(path), "--local")
    assert result.exit_code == 2
    assert "does not hold results of this file" in result.stderr
    assert results.read_bytes() == before
    assert touchstone("batch", "run", str(path), "--local", "--again").exit_code == 0


def test_a_disk_that_is_full_is_said_and_takes_no_half_results() -> None:
    shown: list[tuple[int, int | None]] = []
    with Path("/dev/full").open("wb", buffering=0) as full:
        results = ResultsFile(full, lambda done, total: shown.append((done, total)), done=0, total=1)
        with pytest.raises(StoreError, match="No space left on device"):
            results.append(LineResult(line=1))
    assert shown == [(0, 1)]


def test_a_disk_that_takes_part_of_a_result_is_full(tmp_path: Path) -> None:
    class Nearly(FileIO):
        def write(self, data: Buffer, /) -> int:
            return len(bytes(data)) // 2

    with Nearly(tmp_path / "results", "w") as file:
        results = ResultsFile(file, lambda *_: None, done=0, total=1)
        with pytest.raises(StoreError, match="is the disk full"):
            results.append(LineResult(line=1))


def test_a_disk_that_is_full_for_several_lines_at_once_is_one_sentence(
    touchstone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_file: ResultsFile, _result: LineResult) -> None:
        raise StoreError("It cannot be written: No space left on device.")

    monkeypatch.setattr(ResultsFile, "append", full)
    path = tmp_path / "requests.jsonl"
    path.write_text('{"kind": "verify", "problem": "Compute 1+1.", "answer": "2"}\n' * 20, "utf-8")
    result = touchstone("batch", "run", str(path), "--local")
    gc.collect()
    assert result.exit_code == 4
    assert result.stderr.count("No space left on device") == 1
    assert not caplog.records, "asyncio reports errors that nobody asked for"


def test_a_long_wait_is_said_once_with_what_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    registry = load_registry(environ={})
    judges = _NotedJudges([], system_clock, registry, EnvironmentKeys(registry, {}))
    now = system_clock()
    for seconds in (1, 60, 59, 40):
        until = now + timedelta(seconds=seconds)
        judges.waits(QuotaExceededError("No unit is left.", until=until, window="minute"), until)
    until = now + timedelta(seconds=60)
    assert capsys.readouterr().err == f"No unit is left. Waiting until {until:%H:%M:%S} UTC.\n"


@pytest.mark.parametrize("where", [[], ["--local"]])
def test_a_folder_is_no_file_of_requests(touchstone: Command, tmp_path: Path, where: list[str]) -> None:
    for path in (tmp_path, Path()):
        result = touchstone("batch", "run", str(path), *where)
        assert (result.exit_code, result.stderr) == (2, f"Error: {path} is a folder; name a file of requests.\n")
