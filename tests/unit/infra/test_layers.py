"""Building layers: what is shipped, what is left out, and that a build appears whole or not at all."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from infra import layers


def tree(root: Path, *files: str) -> Path:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"NAME = {name!r}\n", encoding="utf-8")
    return root


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_tests_stubs_headers_and_commands_are_left_out(tmp_path: Path) -> None:
    packages = tree(
        tmp_path / "python",
        "a/__init__.py",
        "a/tests/test_a.py",
        "a/testing.py",
        "a/core.pyi",
        "a/fast.h",
        "a-1.dist-info/RECORD",
        "a-1.dist-info/METADATA",
        "bin/a",
        "b/tests/__init__.py",
    )
    layers._trim(packages)
    assert names(packages) == {"a/__init__.py", "a/testing.py", "a-1.dist-info/METADATA", "b/tests/__init__.py"}


def test_a_command_stays_where_the_layer_is_there_for_it(tmp_path: Path) -> None:
    packages = tree(tmp_path / "python", "uv/__init__.py", "bin/uv", "share/man")
    layers._trim(packages, commands=True)
    assert names(packages) == {"uv/__init__.py", "bin/uv"}


def test_what_can_be_run_can_still_be_run_when_it_was_built(tmp_path: Path) -> None:
    def fill(target: Path) -> None:
        for name in ("command", "plain"):
            (target / name).touch()
        (target / "command").chmod(0o700)

    built = layers._once(tmp_path / "layer", fill)
    assert [(built / name).stat().st_mode & 0o777 for name in ("command", "plain")] == [0o755, 0o644]


def test_of_a_package_only_what_is_used_is_shipped(tmp_path: Path) -> None:
    packages = tree(tmp_path / "python", "scipy/__init__.py", "scipy/special/__init__.py", "scipy/stats/__init__.py")
    layers._trim(packages)
    assert names(packages) == {"scipy/__init__.py", "scipy/special/__init__.py"}


def test_a_third_party_package_runs_from_its_bytecode_alone(tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    packages = tree(layer / "python", "pack/__init__.py", "pack/part.py")
    layers._compile(layer, beside_source=True)
    layers._keep_bytecode_only(packages)
    assert names(packages) == {"pack/__init__.pyc", "pack/part.pyc"}
    spec = importlib.util.spec_from_file_location("pack_part", packages / "pack/part.pyc")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.NAME == "pack/part.py"


def test_bytecode_is_taken_as_it_is_whatever_the_times_say(tmp_path: Path) -> None:
    layers._compile(tree(tmp_path, "a.py"))
    (compiled,) = (tmp_path / "__pycache__").glob("a.*.pyc")
    assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 0b01  # hash-based, unchecked
    assert sys.implementation.cache_tag in compiled.name


def test_the_library_is_shipped_without_its_command(tmp_path: Path) -> None:
    source = tree(tmp_path / "touchstone", "__init__.py", "cli/__init__.py", "answers/model.py", "answers/p.md")
    built = layers._own("core", source, Path("python/touchstone"), tmp_path / "build", without=("cli",))
    sources = {name for name in names(built) if "__pycache__" not in name}
    assert sources == {
        "python/touchstone/__init__.py",
        "python/touchstone/answers/model.py",
        "python/touchstone/answers/p.md",
    }


def test_a_build_is_made_once_and_anew_when_a_source_changes(tmp_path: Path) -> None:
    source = tree(tmp_path / "functions", "a.py")
    first = layers._own("functions", source, Path("functions"), tmp_path / "build")
    assert layers._own("functions", source, Path("functions"), tmp_path / "build") == first
    (source / "a.py").write_text("NAME = 'changed'\n", encoding="utf-8")
    assert layers._own("functions", source, Path("functions"), tmp_path / "build") != first


def test_a_build_that_fails_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    def broken(target: Path) -> None:
        (target / "half").touch()
        raise layers.BuildError("no space left")

    with pytest.raises(layers.BuildError):
        layers._once(tmp_path / "layer", broken)
    assert list(tmp_path.iterdir()) == []


def test_what_was_built_long_ago_goes_when_its_successor_comes(tmp_path: Path) -> None:
    for name in ("core-1", "core-2", "core-3", "core-x86-1"):
        (tmp_path / name).mkdir()
    for name in ("core-1", "core-x86-1"):
        os.utime(tmp_path / name, (0, 0))
    layers.forget_old(tmp_path / "core-3")
    assert {path.name for path in tmp_path.iterdir()} == {"core-2", "core-3", "core-x86-1"}


@pytest.mark.parametrize(
    ("line", "name"),
    [("pydantic==2.14.3", "pydantic"), ("cffi==2.1.1 ; implementation_name != 'PyPy'", "cffi"), ("a[b]==1", "a")],
)
def test_a_requirement_is_known_by_its_name(line: str, name: str) -> None:
    assert layers._name(line) == name
