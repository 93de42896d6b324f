"""Files that one process at a time works with, also where there are no holds."""

import errno
import fcntl
import sys
from pathlib import Path

import pytest

from touchstone.locking import try_lock


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
