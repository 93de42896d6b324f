"""Files of the command: private, whole or not there, and in the user's own folders."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Command
from touchstone.cli.terminal import places
from touchstone.errors import InputError, StoreError


def test_a_private_document_is_read_back_and_readable_by_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "document.json"
    places.write_private(path, {"name": "值"})
    assert places.read_document(path) == {"name": "值"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_write_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"old")
    path.chmod(0o644)

    def parts() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        places.replace(path, parts())
    assert path.read_bytes() == b"old"
    places.replace(path, [b"new"])
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o644)
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_for_whom_the_umask_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        places.replace(tmp_path / "export.json", [b"{}"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "export.json").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["export.json"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "x.json", tmp_path / "none" / "y"):
        with pytest.raises(StoreError, match=str(path)):
            places.write_private(path, {}) if "file" in path.parts[-2] else places.replace(path, [b""])


def test_what_is_no_ordinary_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(StoreError, match=f"{name} is no ordinary file"):
            places.replace(tmp_path / name, [b"x"])
    assert (tmp_path / "pipe").is_fifo()


def test_a_linked_file_is_replaced_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for content in (b"one", b"two"):
        places.replace(tmp_path / "link", [content])
        assert (tmp_path / "file").read_bytes() == content
    assert (tmp_path / "link").is_symlink()


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StoreError, match="cannot be written: No space left on device"):
        places.replace(tmp_path / "file", parts())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_damaged_document_is_named_and_not_guessed_at(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        places.read_document(tmp_path / "x.json")


def test_a_document_that_is_not_there_is_none_and_a_folder_is_an_error(tmp_path: Path) -> None:
    assert places.read_document(tmp_path / "none.json") is None
    for read in (places.read_document, places.read_file):
        with pytest.raises(InputError, match="cannot be read"):
            read(tmp_path)


def test_whoever_has_no_home_is_told_what_to_set(touchstone: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    result = touchstone("logout")
    assert (result.exit_code, "set HOME or XDG_CONFIG_HOME" in result.stderr) == (2, True)


def test_a_relative_xdg_folder_is_ignored(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert places.state_folder() == home / "state" / "touchstone"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert places.state_folder() == home / ".local/state/touchstone"
