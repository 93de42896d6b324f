"""The code blocks of README, the guides and the public docstrings; and a checkout in which they can be run."""

import ast
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.layers import ROOT
from tests.support.course_quizzes import evaluated, made
from tests.support.providers import ProviderServer

FENCE = re.compile(
    r"(?:^ *<!-- Not run: (?P<why>[^>]+) -->\n)?^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^ *```",
    re.DOTALL | re.MULTILINE,
)
LIGHTER = "It is less dense than water."
PASSED = {"independent_answer": LIGHTER, "is_correct": True, "confidence": 0.9, "error_description": None}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "layers/core/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
FILES = {
    "surfaces.md": "summaries.json",
    "oracle.md": "task.json",
    "tasks.md": "task.json",
    "judges.md": "labels.jsonl",
    "batch.md": "requests.jsonl",
}
"""What the first block of JSON of a page is called in its commands."""


@dataclass(frozen=True)
class Block:
    """A code block. `not_run` says why the tests do not run it; None where they do."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path, language: str) -> list[Block]:
    """The blocks of a page in one language, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start("language")) + 1,
            language=language,
            text=re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            not_run=found["why"],
        )
        for found in FENCE.finditer(text)
        if found["language"] == language
    ]


def of_pages(language: str) -> dict[Path, list[Block]]:
    """The pages that have blocks in a language, with those."""
    return {page: found for page in PAGES if (found := blocks(page, language))}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """A folder with what a checkout has for the guides and files that their readers have; judges behind every key."""
    shutil.copytree(ROOT / "events", tmp_path / "events")
    body = json.loads((ROOT / "events" / "api_experiment.json").read_text(encoding="utf-8"))["body"]
    (tmp_path / "request.json").write_text(json.dumps(json.loads(body)["experiment"]), encoding="utf-8")
    for name in ("report.md", "other.md"):
        shutil.copy(ROOT / "events/summary.md", tmp_path / name)
    (tmp_path / "my-quizzes").mkdir()
    shutil.copy(ROOT / "events/quiz_faults.json", tmp_path / "my-quizzes/faults.json")
    (tmp_path / "benchmarks").mkdir()
    shutil.copy(ROOT / "events/benchmark.yaml", tmp_path / "benchmarks")
    shutil.copy(ROOT / "events/answers.jsonl", tmp_path)
    (tmp_path / "solution.txt").write_text("3 boxes of 4 are 3 * 4 = 14 pieces\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with ProviderServer() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        server.reply(PASSED, schema="VerifyReply")
        server.reply({"steps": ["2x = 8", "x = 4"], "answer": "x = 4"}, schema="SolveReply")
        server.reply(made(), schema="QuizReply")
        server.reply(evaluated(), schema="QuizVerdictsReply")
        yield server


def said(line: str) -> object:
    """The value that a comment promises; `...` where it promises none."""
    comment = line.rpartition("  # ")[2] if "  # " in line else ""
    try:
        return ast.literal_eval(re.split(r"[:,;]", comment)[0])
    except (SyntaxError, ValueError):
        return ...


def run_python(found: list[Block]) -> None:
    """Run the blocks one after the other in one namespace; each expression must give what its comment promises."""
    names: dict[str, object] = {"__name__": "__main__"}
    for block in found:
        lines = block.text.splitlines()
        for statement in ast.parse(block.text).body:
            source = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
            if isinstance(statement, ast.Expr):
                value = eval(compile(source.strip(), str(block), "eval"), names)  # noqa: S307 - our own examples
                promised = said(lines[(statement.end_lineno or 1) - 1])
                assert promised is ... or value == promised, f"{block}: {source}"
            else:
                exec(compile(source, str(block), "exec"), names)  # noqa: S102 - our own examples
