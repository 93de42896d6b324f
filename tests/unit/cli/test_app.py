"""The command as a whole: quick to start, and never a traceback for what was foreseen."""

import os
import subprocess
import sys

import pytest

from tests.unit.cli.conftest import Command
from tests.unit.cli.loopback import TOKEN, Loopback, Reply
from touchstone import __version__, cli
from touchstone.cli import app as module

HEAVY = ("httpx", "rich", "boto3", "botocore", "sympy", "google", "openai", "anthropic", "aiohttp", "jinja2")
PROBE = (
    "import sys\nfrom typer.testing import CliRunner\nfrom touchstone.cli.app import app\n"
    "assert CliRunner().invoke(app, sys.argv[1:]).exit_code == 0\n"
    f"print(*sorted({{name.split('.')[0] for name in sys.modules}} & set({HEAVY})))"
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["verify", "--help"],
        ["batch", "run", "--help"],
        ["evaluate", "quiz", "--help"],
        ["experiment", "run", "--help"],
        ["audit", "run", "--help"],
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert loaded.stdout.strip() == ""


def test_without_its_extra_the_command_says_which_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "touchstone.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "pip install 'touchstone-verdicts[cli]'" in said.err


def test_a_fault_of_its_own_is_not_told_as_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "touchstone.cli.app", None)
    with pytest.raises(ModuleNotFoundError):
        cli.main()


def test_the_version_is_told(touchstone: Command) -> None:
    assert touchstone("--version").stdout == f"touchstone {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["verify", "--nonsense"], ["answers", "show"], ["verify", "--difficulty", "x"]]
)
def test_a_wrong_command_line_ends_with_two(touchstone: Command, arguments: list[str]) -> None:
    result = touchstone(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr


def test_missing_settings_are_one_sentence(touchstone: Command) -> None:
    result = touchstone("budget")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "TOUCHSTONE_API_URL" in result.stderr


def test_the_place_of_a_fault_is_said(online: Command, api: Loopback) -> None:
    api.script = [Reply(status=400, value={"detail": "It is of another list.", "where": "cursor"})]
    assert online("answers", "list", "--cursor", "x").stderr == "Error: cursor: It is of another list.\n"


def test_debug_shows_the_whole_error(touchstone: Command) -> None:
    result = touchstone("--debug", "budget")
    assert type(result.exception).__name__ == "SettingsError"
    assert type(touchstone("budget", env={"TOUCHSTONE_DEBUG": "1"}).exception).__name__ == "SettingsError"


def test_a_sentence_from_elsewhere_moves_no_terminal(online: Command, api: Loopback) -> None:
    api.script = [Reply(status=404, value={"detail": "\x1b[2JNo \u202esuch"})]
    assert online("answers", "show", "x").stderr == "Error: \\x1b[2JNo \\u202esuch\n"


@pytest.mark.parametrize("asked", [False, True])
def test_a_fault_of_ours_is_a_short_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: bool
) -> None:
    def broken() -> None:
        raise ZeroDivisionError(TOKEN)

    monkeypatch.setattr(module, "app", broken)
    monkeypatch.setattr(sys, "argv", ["touchstone", *(["--debug"] if asked else [])])
    with pytest.raises(ZeroDivisionError if asked else SystemExit) as caught:
        cli.main()
    if not asked:
        assert caught.value.args == (70,)
        said = capsys.readouterr().err
        assert said.startswith("Error: something unexpected happened (ZeroDivisionError)")
        assert TOKEN not in said


def test_main_runs_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["touchstone", "--version"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert (caught.value.code, capsys.readouterr().out) == (0, f"touchstone {__version__}\n")
