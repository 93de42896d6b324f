"""The local cloud's book-keeping: where it is, what it deploys, what it shows; the cloud itself is tested by use."""

import io
import json
import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from rich.console import Console

from infra.layers import Code
from infra.local import demo, deployment, emulator
from infra.local.home import HOME_VARIABLE, Home, Running


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "cloud")


def test_two_folders_are_two_clouds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert Home.of_environment().folder == tmp_path
    monkeypatch.delenv(HOME_VARIABLE)
    assert Home.of_environment().folder.name == ".touchstone"


def test_a_running_cloud_is_remembered_until_it_is_stopped(home: Home) -> None:
    assert home.running() is None
    home.remember_running(Running(pid=1, port=2))
    assert home.running() == Running(pid=1, port=2)
    home.remember_running(None)
    assert home.running() is None


def test_a_client_of_the_local_cloud_reaches_no_other(home: Home) -> None:
    variables = home.credentials(Running(pid=1, port=4566))
    assert variables["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4566"
    assert (variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"]) == ("test", "test")


def test_a_crashed_cloud_is_cleaned_up(home: Home) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    home.remember_running(Running(pid=gone.pid, port=1))
    home.scratch.mkdir(parents=True)
    assert emulator.stop(home) is False
    assert home.running() is None
    assert not home.scratch.exists()


def test_a_process_that_was_given_the_number_since_is_not_ended(home: Home) -> None:
    home.folder.mkdir()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        home.remember_running(Running(pid=other.pid, port=1))
        assert emulator.stop(home) is False
        assert other.poll() is None
        other.communicate(b"\n")


def test_the_port_of_the_last_run_is_taken_again_while_it_is_free(home: Home) -> None:
    port = emulator._port(home)
    assert emulator._port(home) == port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        assert emulator._port(home) != port


def test_a8_the_cloud_and_its_functions_see_no_key_of_this_machine(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "canary")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    assert "canary" not in emulator._environment(home, 4566, "1").values()


def test_a_change_of_code_is_a_change_of_the_template(tmp_path: Path) -> None:
    code = Code(**{name: tmp_path / f"{name}-1" for name in ("functions", "core", "runtime", "judges", "checks")})
    template = '{"Code": {"S3Bucket": "b", "S3Key": "functions.zip"}, "Content": {"S3Key": "core.zip"}}'
    keyed = json.loads(deployment._with_code(template, code))
    assert keyed == {"Code": {"S3Bucket": "b", "S3Key": "functions-1.zip"}, "Content": {"S3Key": "core-1.zip"}}


def test_a_local_layer_stands_in_front_of_what_the_runtime_has(tmp_path: Path) -> None:
    content = deployment._pointing_to(tmp_path)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (name,) = archive.namelist()
        line = archive.read(name).decode()
    assert re.fullmatch(r"python/lib/python3\.13/site-packages/\w+\.pth", name)
    before = list(sys.path)
    try:
        exec(line)  # noqa: S102 - what the interpreter does with such a file
        assert sys.path[0] == str(tmp_path / "python")
    finally:
        sys.path[:] = before


def test_functions_are_zipped_as_they_lie(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions/a.py").write_text("A = 1\n", encoding="utf-8")
    with zipfile.ZipFile(io.BytesIO(deployment._zipped(tmp_path))) as archive:
        assert archive.read("functions/a.py") == b"A = 1\n"


def test_only_what_a_function_may_be_told_is_passed_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    passed = deployment.passed_through()
    assert passed["OPENAI_BASE_URL"] == "http://127.0.0.1:1/v1"
    assert "canary" not in passed.values()


def test_the_samples_are_answers_somebody_gave() -> None:
    given = demo.samples()
    assert len(given) >= 10
    assert all(sample.problem and sample.answer and "kind" not in sample.request for sample in given)


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        (
            {
                "verification_status": "verified",
                "verification_confidence": 1.0,
                "method": "proof",
                "derivation": ["9 + 2 = 11"],
            },
            ("Verified ✓", "1.00", "proof: 9 + 2 = 11"),
        ),
        (
            {
                "verification_status": "caution",
                "verification_confidence": 0.9,
                "method": "judge",
                "independent_answer": "12",
                "language": "zh",
            },
            ("建议核实 ⚠", "0.90", "judge, who found 12"),
        ),
        (
            {
                "verification_status": "unverified",
                "verification_confidence": 0.0,
                "method": "none",
                "skip_reason": "misconfigured",
            },
            ("unverified", "0.00", "nobody: misconfigured"),
        ),
        ({"error": "HTTP 500"}, ("✗", "", "HTTP 500")),
    ],
)
def test_a_verdict_is_shown_with_how_it_was_decided(view: dict[str, object], shown: tuple[str, ...]) -> None:
    assert tuple(cell.plain for cell in demo._row(view)) == shown


def test_the_table_shows_what_is_still_awaited() -> None:
    console = Console(file=io.StringIO(), width=120)
    console.print(demo._table(demo.samples()[:2], [None, None]))
    output = console.file
    assert isinstance(output, io.StringIO)
    assert output.getvalue().count("…") >= 2
