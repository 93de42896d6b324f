"""Every example in Python and JSON of README, the guides and the docstrings of the flat face is right as it stands.

Python is run, and gives what is said beside it; the judges are a loopback server. A block that is not run says why in a
comment before it.
"""

import ast
import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

import touchstone
from infra.layers import ROOT
from tests.support.guides import FENCE, Block, checkout, of_pages, run_python
from touchstone.judges import load_registry
from touchstone.surfaces import CATALOGUE

__all__ = ["checkout"]

PYTHON, DATA = of_pages("python"), of_pages("json")
FACES = [touchstone, *(getattr(touchstone, name) for name in dir(touchstone) if f"a{name}" in dir(touchstone))]
LIBRARY = ROOT / "layers/core/touchstone"
FILE = re.compile(r"[\w-]+/[\w./-]+\.[a-z]+")
FOLDERS = ("layers/", "functions/", "infra/", "events/", "tests/")
LONG_LINE = 90
LEFT_OUT = {"evaluate_quiz"}
"""Its docstring is that of a part, which is awaited and takes what its caller has."""


def imported(block: Block) -> Iterator[tuple[str, str]]:
    """The modules that a block imports names from, with the names."""
    for statement in ast.walk(ast.parse(block.text)):
        if isinstance(statement, ast.ImportFrom):
            yield from ((str(statement.module), name.name) for name in statement.names)


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.name)
def test_the_examples_of_a_guide_run_and_give_what_they_say(page: Path) -> None:
    run_python([block for block in PYTHON[page] if not block.not_run])
    for block in PYTHON[page]:
        for module, name in imported(block):
            assert hasattr(import_module(module), name), f"{block}: {module} has no {name}"


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("thing", [one for one in FACES if one.__name__ not in LEFT_OUT], ids=lambda one: one.__name__)
def test_the_example_of_a_docstring_runs_and_gives_what_it_says(thing: object) -> None:
    given = "import touchstone\nfrom pathlib import Path\nfrom touchstone.quizzes import curriculum_of_json\n"
    text = inspect.getdoc(thing) or ""
    found = [dedent(one["text"]) for one in FENCE.finditer(text)]
    run_python([Block(Path(str(thing)), 1, "python", given + one, None) for one in found])


@pytest.mark.parametrize("page", DATA, ids=lambda page: page.name)
def test_the_data_of_a_guide_can_be_read(page: Path) -> None:
    for block in DATA[page]:
        try:
            json.loads(block.text)
        except json.JSONDecodeError:
            for line in block.text.splitlines():
                assert isinstance(json.loads(line), dict), block


def test_the_overrides_of_a_guide_are_a_registry() -> None:
    (block,) = [one for page in DATA if page.name == "judges.md" for one in DATA[page] if "base_url" in one.text]
    assert "ollama" in load_registry({"TOUCHSTONE_REGISTRY_OVERRIDES": block.text}).providers


def test_every_metric_is_in_the_guide() -> None:
    guide = (ROOT / "docs/how-to/surfaces.md").read_text(encoding="utf-8")
    assert [name for name in CATALOGUE if f"| `{name}` |" not in guide] == []


@pytest.mark.parametrize("page", ["docs/how-to/add-a-job.md", "docs/concepts/architecture.md", "CONTRIBUTING.md"])
def test_the_files_that_a_guide_of_the_code_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = [one for one in re.findall(r"`([\w./-]+)`", text) if one.startswith(FOLDERS) or FILE.fullmatch(one)]
    assert len(named) > 25
    assert [one for one in named if not any((root / one).exists() for root in (ROOT, LIBRARY, LIBRARY.parent))] == []


def test_the_recipe_of_a_release_names_the_file_that_holds_the_version() -> None:
    built_from = tomllib.loads((ROOT / "layers/core/pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    recipe = (ROOT / "docs/how-to/release.md").read_text(encoding="utf-8")
    assert f"`__version__` in `layers/core/{built_from['version']['path']}`" in recipe


def test_nothing_is_said_on_two_pages() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name != "command.md"]
    said: dict[str, list[str]] = {}
    for page in [*pages, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for line in prose.splitlines():
            if len(line) >= LONG_LINE:
                said.setdefault(line, []).append(page.name)
    assert {line: where for line, where in said.items() if len(where) > 1} == {}
