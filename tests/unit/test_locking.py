"""Files that one process at a time works with, also where there are no holds; folders that go with their process."""

import errno
import fcntl
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import pytest

from touchstone import locking
from touchstone.locking import own_folder, try_lock

MADE = "made-"
KILLED = f"""
import os
from touchstone.locking import own_folder
with own_folder({MADE!r}) as folder:
    (folder / "bundle").write_text("large")
    os._exit(1)
"""
"""A process that is killed while it has a folder."""
MAKES = f"from touchstone.locking import own_folder\nwith own_folder({MADE!r}): pass"


def test_one_holds_a_file_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("wb") as one, path.open("wb") as other:
        assert try_lock(one)
        assert not try_lock(other)
        one.close()
        assert try_lock(other)


def test_where_there_are_no_holds_nobody_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_here(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    with (tmp_path / "lock").open("wb") as file:
        monkeypatch.setattr(fcntl, "flock", none_here)
        assert try_lock(file)
        monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
        assert try_lock(file)


def test_a_folder_whose_process_was_killed_goes_before_the_next_one_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "other-").mkdir()
    with own_folder(MADE) as living:
        killed = subprocess.run([sys.executable, "-c", KILLED], env={"TMPDIR": str(tmp_path)}, check=False)
        assert killed.returncode == 1
        assert len(list(tmp_path.glob(f"{MADE}*"))) == 2
        with own_folder(MADE) as next_one:
            assert set(tmp_path.glob(f"{MADE}*")) == {living, next_one}
    assert [path.name for path in tmp_path.iterdir()] == ["other-"]


def test_a_folder_that_is_being_made_is_not_taken_for_one_that_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_first(file: IO[Any]) -> bool:
        subprocess.run([sys.executable, "-c", MAKES], env={"TMPDIR": str(tmp_path)}, check=True)
        return try_lock(file)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(locking, "try_lock", another_first)
    with own_folder(MADE) as made:
        assert made.is_dir()
