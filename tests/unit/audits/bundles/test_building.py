"""Bundles: built once from wheels alone, the same for the same pin, and refused with uv's reason."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.wheels import make_wheel, make_wheels
from touchstone.audits.bundles import Bundle, Bundles, Target, building
from touchstone.clock import Deadline
from touchstone.errors import InputError, SettingsError

PIN = Target(requirement="tinylib==1.0")


def test_a_bundle_tells_what_it_is(bundle: Bundle) -> None:
    assert bundle.requirement == "tinylib==1.0"
    assert bundle.manifest.version == "1.0"
    assert bundle.modules == ("tinylib",)
    assert "tinydep==0.5" in bundle.lock
    assert bundle.lock.count("--hash=sha256:") == 2
    assert (bundle.site / "tinylib" / "boxes.py").exists()
    assert list(bundle.site.glob("tinylib/__pycache__/boxes.*.pyc"))
    assert bundle.folder.name == bundle.manifest.digest


def test_all_of_it_can_be_read_by_anybody(bundle: Bundle) -> None:
    modes = {path.stat().st_mode & 0o777 for path in bundle.folder.rglob("*")}
    assert modes <= {0o755, 0o644}


@pytest.mark.parametrize("change", ["write", "add", "replace", "rename", "remove"])
def test_a_bundle_that_was_touched_is_known(tmp_path: Path, wheels: Path, change: str) -> None:
    bundle = Bundles(tmp_path / "cache", wheels=wheels).build(PIN)
    before = bundle.state()
    assert bundle.state() == before
    file = bundle.site / "tinydep.py"
    told, times = file.read_text(), file.stat()
    match change:
        case "write":
            file.write_text(told.swapcase())
        case "add":
            (bundle.site / "tinylib" / "more.py").write_text("")
        case "replace":
            file.unlink()
            file.write_text(told)
        case "rename":
            file.rename(bundle.site / "another.py")
        case "remove":
            file.unlink()
    if file.exists():
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert bundle.state() != before


def test_the_same_pin_is_the_same_bundle_though_newer_wheels_came(tmp_path: Path) -> None:
    wheels = make_wheels(tmp_path / "wheels")
    bundles = Bundles(tmp_path / "cache", wheels=wheels)
    first = bundles.build(PIN)
    make_wheel(wheels, "tinydep", "0.6", {"tinydep.py": ""})
    assert bundles.build(PIN).folder == first.folder
    anew = bundles.build(PIN, anew=True)
    assert anew.folder != first.folder
    assert "tinydep==0.6" in anew.lock


def test_the_version_that_a_range_came_to_is_recorded(bundles: Bundles) -> None:
    assert bundles.build(Target(requirement="tinylib<2")).manifest.version == "1.0"
    assert bundles.build(Target(requirement="tinylib")).manifest.version == "2.0"


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        ("tinylib==9.9", "tinylib==9.9 cannot be resolved .*no version of tinylib==9.9"),
        ("nolib==1.0", "nolib==1.0 cannot be resolved .*nolib was not found"),
        ("needylib==1.0", "needylib==1.0 cannot be resolved .*nowhere-to-be-found"),
        ("emptylib==1.0", "emptylib==1.0 holds nothing that Python could import"),
    ],
)
def test_a_target_that_cannot_be_had_is_refused_with_the_reason(
    bundles: Bundles, requirement: str, reason: str
) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        bundles.build(Target(requirement=requirement))
    assert refused.value.where == "requirement"


def test_what_does_not_come_with_the_target_cannot_count_as_it(bundles: Bundles) -> None:
    with pytest.raises(InputError, match=r"tinylib==1\.0 does not bring a distribution tinydap"):
        bundles.build(Target(requirement="tinylib==1.0", also=("tinydap",)))


def test_a_wheel_that_was_changed_since_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = make_wheels(tmp_path / "wheels")
    cache = tmp_path / "cache"
    lock = Bundles(cache, wheels=wheels)._locked(PIN, anew=False, deadline=Deadline.after(60))
    make_wheel(wheels, "tinydep", "0.5", {"tinydep.py": "print('another')"})
    assert "tinydep" in lock
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "fresh"))  # uv would take the pinned one from its own cache
    with pytest.raises(InputError, match=r"tinylib==1.0 cannot be installed: .*[Hh]ash mismatch"):
        Bundles(cache, wheels=wheels).build(PIN)
    assert [path.name for path in cache.iterdir()] == ["locks"]


def test_what_takes_too_long_is_refused(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "RESOLVE_SECONDS", 0.0001)
    with pytest.raises(InputError, match=r"uv was not done after 0\.0001 s"):
        Bundles(tmp_path, wheels=wheels).build(PIN)


def test_each_part_of_building_has_the_time_that_those_before_it_left(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Bundles(tmp_path, wheels=wheels)._locked(PIN, anew=False, deadline=Deadline.after(60))
    with pytest.raises(InputError, match=r"tinylib==1.0 cannot be installed: uv was not done after \S+ s"):
        Bundles(tmp_path, wheels=wheels, seconds=0.0001).build(PIN)
    monkeypatch.setattr(building, "_uv", lambda *_, **__: "")
    monkeypatch.setattr(Deadline, "remaining", property(lambda _: 0.0001))
    with pytest.raises(InputError, match=r"tinylib==1.0 cannot be compiled: it was not done after 0\.0001 s"):
        Bundles(tmp_path, wheels=wheels).build(PIN)
    assert [path.name for path in tmp_path.iterdir()] == ["locks"]


def test_without_uv_it_says_what_to_install(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SettingsError, match="no uv to install a target with"):
        Bundles(tmp_path, wheels=wheels).build(PIN)


def test_a_shim_that_does_not_run_is_passed_over_and_named_where_there_is_no_other(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "shims" / "uv"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\necho 'pyenv: uv: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    real = shutil.which("uv")
    monkeypatch.setenv("PATH", f"{shim.parent}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SettingsError, match=rf"no uv to install a target with, and {shim} does not run: install it"):
        Bundles(tmp_path / "cache", wheels=wheels).build(PIN)
    assert real is not None
    (tmp_path / "uv").symlink_to(real)  # as beside the Python of an environment that has it
    assert Bundles(tmp_path / "cache", wheels=wheels).build(PIN).manifest.version == "1.0"
