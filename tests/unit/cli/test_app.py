"""The command as a whole: quick to start, and never a traceback for what was foreseen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from tests.support.commands import Command
from tests.support.loopback import TOKEN, Loopback, Reply
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


def test_a_value_that_is_no_choice_is_told_what_the_choices_are(touchstone: Command) -> None:
    result = touchstone("experiment", "pairs", "folder", "--only", "win")
    assert result.exit_code == 2
    assert "Invalid value for '--only': 'win' is not one of 'wins', 'losses', 'flips'." in result.stderr


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


@pytest.mark.parametrize("arguments", ["--help", "models", "check equivalent 1 1 --json"])
def test_output_that_a_full_disk_does_not_take_is_told(arguments: str) -> None:
    program = "from touchstone.cli import main; main()"
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [sys.executable, "-c", program, *arguments.split()], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert result.returncode == 2
    assert result.stderr.decode() == "Error: The output or a file cannot be written: No space left on device.\n"


def test_a_closed_output_changes_no_exit_code() -> None:
    program = "import sys; sys.stdout = None\nfrom touchstone.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", program, "models"], stderr=subprocess.PIPE, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize(
    "arguments",
    ["check arithmetic -", "evaluate flashcards -", "login http://127.0.0.1:1"],
)
def test_a_closed_input_is_an_empty_one(arguments: str) -> None:
    def run(*first: str) -> tuple[int, bytes, bytes]:
        program = "\n".join((*first, "from touchstone.cli import main", "main()"))
        ended = subprocess.run(
            [sys.executable, "-c", program, *arguments.split()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return ended.returncode, ended.stdout, ended.stderr

    closed = run("import sys", "sys.stdin = None")
    assert closed == run()
    assert closed[0] != 70


def test_an_interruption_while_the_command_loads_prints_no_traceback() -> None:
    program = """
import sys
class Interrupted:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "touchstone.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted)
from touchstone.cli import main
main()
"""
    result = subprocess.run([sys.executable, "-c", program, "models"], capture_output=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"")


def test_main_runs_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["touchstone", "--version"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert (caught.value.code, capsys.readouterr().out) == (0, f"touchstone {__version__}\n")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("judges", "touchstone judge"),
        ("audit-s", "touchstone audit"),
        ("quizzes", "touchstone quiz"),
        ("label", "touchstone judge label"),
        ("pin", "touchstone routing pin"),
    ],
)
def test_a_neighbour_of_what_was_typed_is_named(touchstone: Command, typed: str, meant: str) -> None:
    result = touchstone(typed)
    assert result.exit_code == 2
    assert f"Did you mean `{meant}`" in " ".join(result.stderr.split())


def test_what_is_like_nothing_has_no_hint_and_old_names_are_none(touchstone: Command) -> None:
    assert "Did you mean" not in touchstone("xyzzy").stderr
    assert "audits" not in touchstone("audit-s").stderr.replace("audit-s", "")


def test_old_names_do_what_the_new_ones_do_and_are_not_shown(touchstone: Command) -> None:
    shown = {line.split()[0] for line in touchstone("--help").stdout.partition("Commands:")[2].splitlines() if line}
    assert {"audit", "tenant"} <= shown
    assert not {"audits", "tenants"} & shown
    for old, new in (
        (("audits", "start"), ("audit", "start")),
        (("audits", "list"), ("audit", "list")),
        (("audits", "show"), ("audit", "show")),
        (("audits", "report"), ("audit", "report")),
        (("audits", "recheck"), ("audit", "start-recheck")),
        (("audits", "end-weekly"), ("audit", "end-weekly")),
        (("tenants", "create"), ("tenant", "create")),
        (("tenants", "ceiling"), ("tenant", "ceiling")),
        (("tenants", "recount"), ("tenant", "recount")),
    ):
        before, after = touchstone(*old, "--help"), touchstone(*new, "--help")
        assert (before.exit_code, after.exit_code) == (0, 0)
        assert before.stdout.replace(" ".join(old), " ".join(new)).split() == after.stdout.split()


def test_a_screen_of_80_columns_is_enough(touchstone: Command) -> None:
    for name in ("", *(name for name, part in get_command(module.app).commands.items() if not part.hidden)):  # type: ignore[attr-defined]
        for line in touchstone(*name.split(), "--help").stdout.splitlines():
            assert len(line) <= 80, (name, line)
