"""No command writes its report over a file that it reads: the file is all that its user has of it."""

from pathlib import Path

import pytest

from tests.support.commands import Command

TARGET = ("--target", "demo==1")
COMMANDS = [
    ("oracle", "score", "read", "--task", "other", "--dimensions-out", "read"),
    ("audit", "run", "read", *TARGET, "--junit", "read"),
    ("audit", "run", "other", *TARGET, "--previous", "read", "--sarif", "read"),
    ("audit", "recheck", "read", *TARGET, "--junit", "read"),
    ("audit", "recheck", "read", *TARGET, "--sarif", "read"),
    ("experiment", "run", "read", "--out", "work", "--junit", "read"),
    ("quiz", "generate", "--curriculum", "read", "--chapter", "1", "--out", "read"),
    ("quiz", "generate", "--curriculum", "other", "--chapter", "1", "--learner", "read", "--out", "read"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_file_that_is_read_is_not_overwritten(
    touchstone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("read", "other"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    result = touchstone(*command)
    assert result.exit_code == 2
    assert "read is the file to read, and would be overwritten; name another." in result.stderr
    assert (tmp_path / "read").read_text(encoding="utf-8") == "{}"
