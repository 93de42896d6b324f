"""The guide to the command says what `--help` says. TOUCHSTONE_WRITE_GUIDE=1 writes it anew."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from touchstone.cli.app import app

GUIDE = Path(__file__).parents[3] / "docs/how-to/command.md"
BEGIN = "<!-- What follows is written by TOUCHSTONE_WRITE_GUIDE=1 pytest tests/unit/cli/test_guide.py -->\n"


def _paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    shown = {name: part for name, part in getattr(command, "commands", {}).items() if not part.hidden}
    for name, part in shown.items():
        yield from _paths(part, (*path, name))


def _help(path: tuple[str, ...]) -> str:
    result = CliRunner(env={"TOUCHSTONE_DEBUG": None}).invoke(app, [*path, "--help"], prog_name="touchstone")
    lines = "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())
    return f"\n### {' '.join(('touchstone', *path))}\n\n```text\n{lines}\n```\n"


def test_the_guide_says_what_help_says() -> None:
    written, _, _ = GUIDE.read_text(encoding="utf-8").partition(BEGIN)
    guide = written + BEGIN + "".join(_help(path) for path in _paths(get_command(app)))
    if os.environ.get("TOUCHSTONE_WRITE_GUIDE"):
        GUIDE.write_text(guide, encoding="utf-8")
    assert GUIDE.read_text(encoding="utf-8") == guide
