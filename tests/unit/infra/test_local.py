"""The local cloud's book-keeping: where it is, what it deploys, what it shows; the cloud itself is tested by use."""

import io
import json
import re
import socket
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.stub import Stubber
from rich.console import Console
from typer.testing import CliRunner

from infra.layers import PARTS, Code
from infra.local import cli, demo, deployment, emulator, front
from infra.local.home import HOME_VARIABLE, Home, Running


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "cloud")


def test_two_folders_are_two_clouds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert Home.of_environment().folder == tmp_path
    monkeypatch.delenv(HOME_VARIABLE)
    assert Home.of_environment().folder.name == ".touchstone"


@pytest.mark.parametrize("asked", [["-h"], ["up", "-h"]])
def test_help_has_the_same_short_name_as_that_of_touchstone(asked: list[str]) -> None:
    result = CliRunner().invoke(cli.app, asked)
    assert (result.exit_code, "Usage:" in result.output) == (0, True)


def test_processes_that_need_the_environment_at_once_make_it_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[Path] = []

    def install(folder: Path, _interpreter: Path) -> None:
        made.append(folder)
        time.sleep(0.05)  # the others come meanwhile
        folder.mkdir()
        (folder / "complete").touch()

    monkeypatch.setattr(emulator, "ROOT", tmp_path)
    monkeypatch.setattr(emulator, "_install", install)
    with ThreadPoolExecutor(3) as others:
        found = list(others.map(lambda _: emulator.python(), range(3)))
    assert len(made) == 1
    assert set(found) == {made[0] / "bin" / "python"}


def test_a_running_cloud_is_remembered_until_it_is_stopped(home: Home) -> None:
    assert home.running() is None
    home.remember_running(Running(pid=1, port=2))
    assert home.running() == Running(pid=1, port=2)
    home.remember_running(None)
    assert home.running() is None


def test_a_client_of_the_local_cloud_reaches_no_other(home: Home) -> None:
    variables = home.credentials(Running(pid=1, port=4566))
    assert variables["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4566"
    owner = home.owner()
    assert (variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"]) == (owner.key, owner.secret)


def test_a11_a_home_has_credentials_of_its_own_that_only_its_user_can_read(home: Home, tmp_path: Path) -> None:
    owner = home.owner()
    assert home.owner() == owner
    assert Home(tmp_path / "another").owner() != owner
    assert owner.secret not in repr(owner)
    assert len(owner.secret) > 40
    assert (home.folder / "credentials.json").stat().st_mode & 0o777 == 0o600
    assert home.folder.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in home.folder.iterdir()) == ["credentials.json"]


def test_a_home_that_an_earlier_version_made_is_closed(home: Home) -> None:
    home.folder.mkdir(mode=0o755)
    home.write("port", 1)
    assert home.folder.stat().st_mode & 0o777 == 0o700


def test_the_cloud_is_installed_by_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = emulator.REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    pins = [number for number, line in enumerate(lines) if "==" in line and not line.startswith("#")]
    assert pins
    assert all("--hash=sha256:" in lines[number + 1] for number in pins)


def test_a_crashed_cloud_is_cleaned_up(home: Home) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    home.remember_running(Running(pid=gone.pid, port=1))
    home.scratch.mkdir(parents=True)
    assert emulator.died(home)
    assert emulator.stop(home) is False
    assert not emulator.died(home)
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


def test_a_process_of_a_function_is_never_refused_while_another_is_begun() -> None:
    sessions: dict[str, list[dict[str, Any]]] = {}
    sts = SimpleNamespace(register_session=lambda key, session: sessions.setdefault(key, []).append(session))

    def as_the_emulator_does(_config: dict[str, Any]) -> dict[str, str]:
        sts.register_session("ASIA1", {"Arn": "arn:of:role", "SecretAccessKey": "known", "SessionToken": "known"})
        return {"AWS_ACCESS_KEY_ID": "ASIA1", "AWS_SECRET_ACCESS_KEY": "known", "AWS_SESSION_TOKEN": "known"}

    runtime = SimpleNamespace(execution_credentials=as_the_emulator_does)
    front.salt_roles(runtime, sts, "of this home")
    first, second = runtime.execution_credentials({}), runtime.execution_credentials({})
    assert first == second
    assert len(first["AWS_SECRET_ACCESS_KEY"]) == len(first["AWS_SESSION_TOKEN"]) == 64
    registered = {"SecretAccessKey": first["AWS_SECRET_ACCESS_KEY"], "SessionToken": first["AWS_SESSION_TOKEN"]}
    assert sessions["ASIA1"] == [{"Arn": "arn:of:role", **registered}] * 2
    sts.register_session("ASIA2", {"SecretAccessKey": "of a user"})
    assert sessions["ASIA2"] == [{"SecretAccessKey": "of a user"}]


def test_a8_the_cloud_and_its_functions_see_no_key_of_this_machine(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "canary")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/ours.pem")
    seen = emulator._environment(home, 4566, "1", kept=True)
    assert "canary" not in seen.values()
    assert seen["SSL_CERT_FILE"] == "/etc/ours.pem", "judges and packages are reached as from this machine"


def test_a_change_of_code_is_a_change_of_the_template(tmp_path: Path) -> None:
    code = Code(**{name: tmp_path / f"{name}-1" for name in PARTS})
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


@pytest.fixture
def cloud(home: Home, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A cloud that runs, as far as the command can see, with the stack deployed in it and a token."""
    monkeypatch.setenv(HOME_VARIABLE, str(home.folder))
    running = Running(pid=1, port=4566)
    home.remember_running(running)
    made = {"ApiId": "abc", "ApiUrl": "http://abc.execute-api.localhost:4566", "TableName": "t", "BucketName": "b",
            "JudgeKeysSecretArn": "s"}  # fmt: skip
    monkeypatch.setattr(emulator, "alive", lambda _: True)
    monkeypatch.setattr(deployment, "outputs", lambda _: made)
    monkeypatch.setattr(cli, "ensure_token", lambda *_: "ts_x")
    return running


def _said(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    monkeypatch.setattr(sys, "argv", ["touchstone-local", command])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_every_command_shows_the_api_under_one_address(
    cloud: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"{cloud.endpoint}/_aws/execute-api/abc"
    _, status, _ = _said("status", monkeypatch, capsys)
    _, variables, _ = _said("env", monkeypatch, capsys)
    assert f"ApiUrl: {address}\n" in status
    assert f"export TOUCHSTONE_API_URL={address}\n" in variables
    assert "execute-api.localhost" not in status + variables


@pytest.mark.parametrize("command", ["env", "status", "logs"])
def test_a_cloud_that_is_down_is_said_to_be_where_no_shell_evaluates_it(
    home: Home, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(home.folder))
    code, out, said = _said(command, monkeypatch, capsys)
    assert (code, out) == (1, "")
    assert "not running; `touchstone-local up` starts it." in said
    assert home.running() is None, "nothing was started"


def test_the_latest_lines_of_a_long_log_are_printed_too(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    client = deployment.client("logs", Running(pid=1, port=4567), home)
    with Stubber(client) as answers:
        answers.add_response("describe_log_groups", {"logGroups": [{"logGroupName": "/aws/lambda/one"}]})
        pages = [{"events": [{"timestamp": 1, "message": "early"}], "nextToken": "x"}]
        pages += [{"events": [{"timestamp": 2, "message": "late"}]}]
        for page in pages:
            answers.add_response("filter_log_events", page)
        monkeypatch.setenv(HOME_VARIABLE, str(home.folder))
        monkeypatch.setattr(cli, "_running", lambda _: Running(pid=1, port=4567))
        monkeypatch.setattr(deployment, "client", lambda *_: client)
        printed = CliRunner().invoke(cli.app, ["logs"]).stdout.splitlines()
    assert [line.split(" ", 1)[1] for line in printed] == ["one early", "one late"]


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
            ("unverified", "–", "nobody: misconfigured"),
        ),
        ({"error": "HTTP 500"}, ("✗", "–", "HTTP 500")),
    ],
)
def test_a_verdict_is_shown_with_how_it_was_decided(view: dict[str, object], shown: tuple[str, ...]) -> None:
    assert tuple(cell.plain for cell in demo._row(view)) == shown


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_reason_is_shown_whole_however_narrow_the_terminal_is(width: int) -> None:
    reason = "No judge has a key. Set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY, and run the demo once more."
    view = {"verification_status": "unverified", "verification_confidence": 0.0, "verify_error": reason}
    console = Console(file=io.StringIO(), width=width)
    console.print(demo._table(demo.samples()[:1], [demo._row(view)]))
    output = console.file
    assert isinstance(output, io.StringIO)
    # Of each line what stands in the last column, which begins where its heading does.
    _, _, heading, _, *lines = output.getvalue().splitlines()
    start = heading.index("Decided by")
    shown = "".join(line[start:] for line in lines)
    assert shown.replace(" ", "") == f"nobody: {reason}".replace(" ", "")


def test_the_table_shows_what_is_still_awaited() -> None:
    console = Console(file=io.StringIO(), width=120)
    console.print(demo._table(demo.samples()[:2], [None, None]))
    output = console.file
    assert isinstance(output, io.StringIO)
    assert output.getvalue().count("…") >= 2


def test_a_home_that_cannot_be_made_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "file" / "home"))
    code, printed, told = _said("up", monkeypatch, capsys)
    assert (code, printed) == (1, "")
    assert told.endswith(f"cannot be used: Not a directory; {HOME_VARIABLE} names another folder.\n")


def test_a_judge_s_address_is_put_into_a_template_that_was_synthesized_for_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests and demo have their judges on another port each time."""
    monkeypatch.setenv("OPENAI_BASE_URL", 'http://127.0.0.1:1/"v1"')
    monkeypatch.setenv("LLM_MODEL", "any")
    told = deployment._without_addresses(deployment.passed_through())
    assert told["LLM_MODEL"] == "any"
    assert "127.0.0.1" not in told["OPENAI_BASE_URL"]
    template = deployment._with_addresses(json.dumps({"Variables": told}))
    assert json.loads(template) == {"Variables": deployment.passed_through()}
