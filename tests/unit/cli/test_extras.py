"""What is not installed is found before work begins, and named with the command that installs it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import Command
from tests.support.every_command import ASKING, EVENTS, STDIN, names
from touchstone.errors import SettingsError
from touchstone.extras import MODULES, install_command, missing_module_sentence, require_extras

VERDICTS = '{"verdict": "right", "label": "wrong"}\n{"verdict": "right", "label": "right"}\n' * 20
TARGET = ("--target", "tinylib==1.0")
HERE = {
    "evaluate quiz": (str(EVENTS / "quiz.json"),),
    "evaluate summary": (str(EVENTS / "summary.md"), "--source", str(EVENTS / "source.md")),
    "evaluate flashcards": (str(EVENTS / "flashcards.csv"),),
    "experiment run": (str(EVENTS / "experiment"), "--out", "out", "--yes"),
    "experiment estimate": (str(EVENTS / "experiment"),),
    "experiment report": ("out",),
    "experiment pairs": ("out",),
    "quiz check": (str(EVENTS / "quiz_faults.json"),),
    "quiz generate": ("--local", "--curriculum", str(EVENTS / "curriculum.csv"), "--chapter", "1"),
    "oracle score": (str(EVENTS / "summary.md"), "--task", "task.json"),
    "models": (),
    "logout": (),
    "judge calibrate": ("verdicts.jsonl",),
    "audit run": (str(EVENTS / "benchmark.yaml"), *TARGET),
    "audit estimate": (str(EVENTS / "benchmark.yaml"),),
    "audit prove": (str(EVENTS / "proof.py"), *TARGET),
    "audit recheck": (str(EVENTS / "quality_report.json"), *TARGET),
    "check equivalent": ("1/2", "0.5"),
    "check prove": ("Solve x^2 = 4.", "x = 2"),
    "check arithmetic": (str(EVENTS / "summary.md"),),
    "check script": (str(EVENTS / "summary.md"),),
    "check pinyin": (str(EVENTS / "summary.md"),),
    "check image": (str(EVENTS / "summary.md"),),
    "mcp": (),
    "quiz export": (str(EVENTS / "quiz.json"), "--to", "gift", "--out", "quiz.gift"),
    "quiz import": (str(EVENTS / "quiz.gift"), "--out", "quiz.json"),
    "cards export": (str(EVENTS / "flashcards.csv"), "--out", "cards.apkg"),
    "cards import": (str(EVENTS / "quiz.gift"), "--out", "cards.json"),
    "results export": ("results.jsonl", "--to", "inspect", "--out", "log.eval"),
    "tenant create": ("acme", "--name", "Acme"),
    "tenant ceiling": ("acme",),
    "tenant recount": ("acme",),
    "tenant export": ("acme", "exported"),
    "tenant delete": ("acme",),
    "quotas forget": ("gemini",),
}
"""Commands that ask no deployment, or not always, with what they are given here."""
LOCALLY = {
    "verify": ("--local", "--problem", "Solve x^2 - 5x + 6 = 0.", "--answer", "x = 2 or x = 3"),
    "solve": ("--local", "--problem", "Solve x^2 = 4."),
    "batch run": (str(EVENTS / "answers.jsonl"), "--local", "-o", "results.jsonl"),
}
NEEDED = {
    "statistics": {"experiment run", "experiment report", "experiment pairs"}
    | {"experiment start", "experiment show", "experiment now"},
    "audits": {"audit run", "audit estimate", "audit prove", "audit recheck"}
    | {"audit start", "audit show", "audit report", "audit start-recheck"},
    "checks": {"check equivalent", "check prove", "verify", "solve", "batch run"},
    "script": {"check script", "check pinyin"},
    "mcp": {"mcp"},
    "inspect": {"results export"},
    "ocr": {"check image"},
}
"""Commands that end with the name of an extra that they cannot do without."""
CHECKS = {
    "first_arithmetic_error": "touchstone.first_arithmetic_error('3 * 4 = 14')",
    "find_language_mismatch": "touchstone.find_language_mismatch('这是中文文本', 'en')",
    "find_simplified": "touchstone.find_simplified('图书馆')",
    "find_pinyin_errors": "touchstone.find_pinyin_errors('xue2')",
    "prove_answer": "touchstone.prove_answer('Factor x^2 - 1.', '(x - 1)(x + 1)')",
    "equivalent": "touchstone.equivalent('x^2 - 1', '(x - 1)(x + 1)')",
}
"""Checks of the library, each with a call that takes all that it needs."""
HIDING = """
import importlib.machinery, json, sys
hidden = set(json.loads(sys.argv[1]))
class Hide(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hide = name in hidden or name.partition(".")[0] in hidden
        return None if hide else super().find_spec(name, path, target)
sys.meta_path = [Hide if finder is importlib.machinery.PathFinder else finder for finder in sys.meta_path]
"""
"""Makes modules look as if they were not installed."""
ALONE = f"""{HIDING}
from typer.testing import CliRunner
from touchstone.cli.app import app
from touchstone.cli.terminal import waiting
waiting.pause = lambda seconds: None
for name, arguments, stdin in json.loads(sys.argv[2]):
    result = CliRunner().invoke(app, [*name.split(), *arguments], input=stdin, prog_name="touchstone")
    fault = result.exception if result.exception is not None and not isinstance(result.exception, SystemExit) else None
    print(json.dumps([name, result.exit_code, result.stderr, repr(fault) if fault else None]))
"""


def _ends(
    folder: Path, *, hidden: tuple[str, ...], runs: Sequence[tuple[str, tuple[str, ...], str | None]], **variables: str
) -> dict[str, tuple[int, str, str | None]]:
    """How commands end in a process in which some modules are not installed."""
    (folder / "task.json").write_text('{"description": "Compare.", "acceptance_criteria": ["It does."]}')
    (folder / "verdicts.jsonl").write_text(VERDICTS)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, json.dumps(hidden), json.dumps(runs)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, **variables},
    )
    return {name: (code, said, fault) for name, code, said, fault in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str | None]]:
    """Every command where nothing but [cli] is installed, asked of an address where nobody is."""
    hidden = tuple(module for extra, modules in MODULES.items() if extra != "cli" for module in modules)
    runs = [(name, HERE[name], STDIN.get(name)) for name in HERE]
    runs += [(name, LOCALLY[name], None) for name in LOCALLY]
    runs += [
        (name, tuple("http://127.0.0.1:9" if each == "URL" else each for each in ASKING[name]), STDIN.get(name))
        for name in ASKING
        if name not in {*HERE, *LOCALLY}
    ]
    folder = tmp_path_factory.mktemp("bare")
    home = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "STATE", "CACHE")}
    return _ends(
        folder, hidden=hidden, runs=runs, TOUCHSTONE_API_URL="http://127.0.0.1:9", TOUCHSTONE_TOKEN="x", **home
    )


def test_with_the_command_alone_every_reply_of_a_deployment_can_be_read(tmp_path: Path) -> None:
    hidden = [module for extra, modules in MODULES.items() if extra != "cli" for module in modules]
    loading = "from touchstone.cli.deployment.replies import SHAPES, adapter"
    reading = f"{loading}; [adapter(one) for one in SHAPES.values() if one is not None]"
    asked = [sys.executable, "-c", HIDING + reading, json.dumps(hidden)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_guide_says_what_each_check_needs(tmp_path: Path) -> None:
    guide = (EVENTS.parent / "docs/how-to/library.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*`) \|.*\|(.*)\|$", guide, re.MULTILINE)
    needs = {name: extra.strip() for names, extra in rows for name in re.findall(r"`(\w+)`", names)}
    hidden = [module for modules in MODULES.values() for module in modules]
    lines = [HIDING, "import touchstone"]
    for name, call in CHECKS.items():
        lines += [f"try: {call}; print({name!r})", "except (ModuleNotFoundError, touchstone.SettingsError): pass"]
    asked = [sys.executable, "-c", "\n".join(lines), json.dumps(hidden)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert sorted(done.stdout.split()) == sorted(name for name in CHECKS if not needs[name])


def test_every_command_is_tried() -> None:
    assert sorted({*HERE, *LOCALLY, *ASKING}) == sorted(names())


@pytest.mark.parametrize("name", sorted(names()))
def test_with_the_command_alone_no_command_ends_by_a_fault(
    bare: dict[str, tuple[int, str, str | None]], name: str
) -> None:
    code, said, fault = bare[name]
    assert fault is None
    needed = next((extra for extra, commands in NEEDED.items() if name in commands), None)
    if needed is None:
        assert "is not installed" not in said
        assert "are not installed" not in said
    else:
        assert (code, said.count("\n")) == (2, 1)
        assert f"pip install 'touchstone-verdicts[{needed}]'" in said


@pytest.mark.parametrize("name", ["experiment run", "solve", "batch run", "evaluate quiz", "oracle score"])
def test_a_judge_whose_sdk_is_missing_is_told_before_anything_is_asked(tmp_path: Path, name: str) -> None:
    given = {**HERE, **LOCALLY}[name]
    ends = _ends(
        tmp_path, hidden=MODULES["judges"], runs=[(name, given, None)], GEMINI_API_KEY="x",
        XDG_CACHE_HOME=str(tmp_path), XDG_STATE_HOME=str(tmp_path),
    )  # fmt: skip
    code, said, fault = ends[name]
    assert (code, fault) == (2, None)
    assert "pip install 'touchstone-verdicts[judges]'" in said


def test_what_a_check_proves_needs_no_sdk(tmp_path: Path) -> None:
    runs = [("verify", LOCALLY["verify"], None)]
    ends = _ends(tmp_path, hidden=MODULES["judges"], runs=runs, GEMINI_API_KEY="x", XDG_CACHE_HOME=str(tmp_path))
    assert ends["verify"][0] == 0


def test_a_part_that_is_missing_only_when_it_is_asked_for_is_named_too(
    touchstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'numpy.linalg'", name="numpy.linalg")

    monkeypatch.setattr("touchstone.judges.load_registry", broken)
    result = touchstone("models")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install 'touchstone-verdicts[statistics]'" in result.stderr
    assert type(touchstone("--debug", "models").exception) is ModuleNotFoundError


def test_a_module_that_belongs_to_no_extra_is_a_fault_of_ours(
    touchstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ModuleNotFoundError("No module named 'touchstone.none'", name="touchstone.none")

    monkeypatch.setattr("touchstone.judges.load_registry", broken)
    assert type(touchstone("models").exception) is ModuleNotFoundError


def test_a_place_on_disk_that_cannot_be_used_is_a_sentence(
    touchstone: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("touchstone.judges.load_registry", (tmp_path / "none" / "x").open)
    result = touchstone("models")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"Error: {tmp_path}/none/x cannot be used: No such file or directory. Name another place, or mend this one.\n"
    )


def test_several_are_installed_by_one_command() -> None:
    assert install_command("cli", "checks") == "pip install 'touchstone-verdicts[cli,checks]'"
    assert missing_module_sentence("google.genai.types") == missing_module_sentence("openai")
    assert missing_module_sentence("json") is None
    require_extras("checks", "statistics")


def test_a_part_that_is_there_in_half_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(SettingsError, match=r"needs the package's statistics, which are not installed: pip install"):
        require_extras("checks", "statistics")
