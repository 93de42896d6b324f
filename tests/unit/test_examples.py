"""Every example runs as it stands, with judges on loopback, and says what its reader would look for."""

import ast
import asyncio
import json
import runpy
import zipfile
from collections.abc import Callable
from importlib.metadata import distribution
from inspect import CO_COROUTINE
from pathlib import Path
from types import FunctionType

import pytest

from infra.layers import ROOT
from tests.support.agents import called, concluded, proved
from tests.support.guides import PASSED, checkout
from tests.support.providers import ProviderServer
from tests.support.wire import Behaviour

__all__ = ["checkout"]

EXAMPLES = ROOT / "examples"
type Run = Callable[[str], str]


@pytest.fixture
def run(checkout: ProviderServer, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs an example as its first lines say, and gives what it printed."""

    def printed(name: str) -> str:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return printed


def test_each_example_is_listed_and_has_a_test() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    tests = Path(__file__).read_text(encoding="utf-8")
    for path in [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")]:
        assert f"[{path.name}]({path.name})" in listed
        assert f'"{path.name}"' in tests


def test_answers_are_verified(run: Run) -> None:
    lines = run("verify.py").splitlines()
    verdicts = [line.split()[0:3:2] for line in lines if " by " in line]
    assert verdicts[:4] == [
        ["verified", "proof"],
        ["caution", "proof"],
        ["verified", "expected"],
        ["verified", "expected"],
    ]
    assert "11/12" in lines[2]


def test_answers_are_verified_without_a_key(
    run: Run, checkout: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in checkout.environment():
        monkeypatch.delenv(name)
    assert "set GEMINI_API_KEY" in run("verify.py")
    assert not checkout.calls


def test_a_quiz_is_measured(run: Run) -> None:
    printed = run("measure_quiz.py")
    assert "cause: LONGEST_KEY" in printed
    assert "quiz_clarity " in printed
    assert "left out" not in printed


def test_a_quiz_for_learners_is_corrected_and_one_is_made(run: Run) -> None:
    printed = run("learner_quiz.py")
    assert "corrected: What does 「蘋果」 (píngguǒ) mean?" in printed
    assert "made: " in printed


def test_summaries_are_ranked(run: Run) -> None:
    printed = run("rank_summaries.py")
    assert "ann: 75.0 by itself" in printed
    assert "1. " in printed
    assert printed.splitlines()[-1] in {f"winner: {name}" for name in ("ann", "ben", "cleo")}


def test_variants_are_compared(run: Run) -> None:
    assert run("experiment.py").startswith("“terse” is better than “leaking”")


def test_a_benchmark_is_audited(
    run: Run, checkout: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_FIND_LINKS", str(repacked("packaging", tmp_path / "wheels")))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    compared = "from packaging.version import Version\nassert Version('2.0rc1') {} Version('2.0')\n"
    taken = {
        "A": "from packaging.version import LegacyVersion\nLegacyVersion('french-toast')\n",
        "B": "from packaging.specifiers import Specifier\nassert Specifier('===french-toast').version\n",
    }
    for question, scripts in (
        ("2.0rc1", {"A": compared.format("<"), "B": compared.format("=="), "C": compared.format(">")}),
        ("french-toast", taken),
    ):
        turns = [called(*proved(option, script)) for option, script in scripts.items()]
        checkout.rule(Behaviour(by_turn=(*turns, concluded("A", summary="Proved."))), prompt=question)
    printed = run("audit.py")
    assert "1 Valid" in printed
    assert "1 Incorrect" in printed
    assert "LegacyVersion" in printed


def repacked(name: str, folder: Path) -> Path:
    """A folder with the wheel of a package that is installed here."""
    folder.mkdir()
    found = distribution(name)
    with zipfile.ZipFile(folder / f"{name}-{found.version}-py3-none-any.whl", "w") as wheel:
        for file in found.files or ():
            if file.suffix != ".pyc" and ".." not in file.parts and file.name not in {"INSTALLER", "REQUESTED"}:
                wheel.write(str(file.locate()), str(file))
    return folder


async def test_the_notebook_runs_where_a_loop_runs(checkout: ProviderServer) -> None:
    checkout.reply({**PASSED, "independent_answer": "Yeast makes carbon dioxide in it."}, prompt="bread dough")
    assert asyncio.get_running_loop().is_running()
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))
    names: dict[str, object] = {"__name__": "__main__"}
    shown = [await cell("".join(each["source"]), names) for each in notebook["cells"] if each["cell_type"] == "code"]
    assert shown[0] == ("verified", "proof")
    assert shown[1] == (True, False)
    assert shown[3] == "verified"
    assert shown[4] == {"Solve 5x = 35.": "verified", "Compute 12 * 12.": "caution", "Compute 2^10.": "verified"}
    assert shown[5]["flashcard_answer_leakage"] == 50.0  # type: ignore[index]


async def cell(source: str, names: dict[str, object]) -> object:
    """Run a cell as a notebook does: `await` stands at its top, and the value of its last expression is shown."""
    body = ast.parse(source)
    assert isinstance(body.body[-1], ast.Expr)
    last = ast.Assign(targets=[ast.Name(id="_shown", ctx=ast.Store())], value=body.body[-1].value, lineno=1)
    body.body[-1] = last
    code = compile(ast.fix_missing_locations(body), "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    begun = FunctionType(code, names)()
    if code.co_flags & CO_COROUTINE:
        await begun
    return names["_shown"]
