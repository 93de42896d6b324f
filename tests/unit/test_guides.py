"""Every example in Python of the guides runs as it is written, and gives what it says beside it.

The judges are a loopback server. Not run: the example of audits.md, whose target comes from a package registry.
"""

import ast
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.layers import ROOT
from tests.support.providers import ProviderServer
from tests.unit.quizzes.samples import evaluated, made

BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LIGHTER = "It is less dense than water."
PASSED = {"independent_answer": LIGHTER, "is_correct": True, "confidence": 0.9, "error_description": None}
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "layers" / "core" / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if BLOCK.search(page.read_text(encoding="utf-8")) and page.name != "audits.md"
]


@pytest.fixture
def at_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with what a checkout has for the guides, and judges behind every key."""
    shutil.copytree(ROOT / "events", tmp_path / "events")
    body = json.loads((ROOT / "events" / "api_experiment.json").read_text(encoding="utf-8"))["body"]
    (tmp_path / "request.json").write_text(json.dumps(json.loads(body)["experiment"]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with ProviderServer() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        server.reply(PASSED, schema="VerifyReply")
        server.reply(made(), schema="QuizReply")
        server.reply(evaluated(), schema="QuizVerdictsReply")
        yield


def said(line: str) -> object:
    """The value that a comment promises; `...` where it promises none."""
    comment = line.rpartition("  # ")[2] if "  # " in line else ""
    try:
        return ast.literal_eval(re.split(r"[:,;]", comment)[0])
    except (SyntaxError, ValueError):
        return ...


@pytest.mark.usefixtures("at_the_root")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_guide_run_and_give_what_they_say(page: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            source = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
            if isinstance(statement, ast.Expr):
                found = eval(compile(source.strip(), page.name, "eval"), names)  # noqa: S307 - the guides' own examples
                promised = said(lines[(statement.end_lineno or 1) - 1])
                assert promised is ... or found == promised, source
            else:
                exec(compile(source, page.name, "exec"), names)  # noqa: S102 - the guides' own examples
