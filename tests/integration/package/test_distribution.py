"""Wheel and sdist are built, and each extra is installed into an empty environment and works there.

What it depends on comes from the lock file, out of uv's cache where it is there.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from infra import toolchain
from infra.layers import ROOT
from touchstone import __version__
from touchstone.extras import DISTRIBUTION, MODULES

pytestmark = pytest.mark.package

CORE = ROOT / "layers" / "core"
STEM = f"{DISTRIBUTION.replace('-', '_')}-{__version__}"
WORKS: Mapping[str, str] = {
    "checks": "from touchstone import checks; assert checks.equivalent('sqrt(8)', '2*sqrt(2)')",
    "script": "from touchstone import checks; assert checks.find_simplified('学习')",
    "statistics": (
        "from touchstone.statistics import ItemPair, paired_difference; "
        "pairs = [ItemPair(source=str(n), a=0.1 * n, b=0.1 * n + n % 3) for n in range(12)]; "
        "assert paired_difference(pairs).interval"
    ),
    "audits": (
        "from touchstone.audits.bundles import Target; from touchstone.audits.loading.formats import read_yaml; "
        "Target(requirement='tinylib==1.0'); assert list(read_yaml('a: 1'))"
    ),
    "judges": (
        "from touchstone.extras import require_extras; require_extras('judges'); import openai; "
        "from touchstone.judges import Judges"
    ),
    "aws": "import boto3; from touchstone.records import Tenants",
    "runtime": "import aws_lambda_powertools; from touchstone.answers.view import AnswerView",
    "all": (
        "from touchstone.extras import MODULES, NOT_IN_ALL, require_extras; "
        "require_extras(*(name for name in MODULES if name not in NOT_IN_ALL))"
    ),
}
"""What shows that an extra is whole, beside what is there without any."""

type Install = Callable[[str], Path]


def _uv(*arguments: str) -> str:
    done = subprocess.run([toolchain.uv(), *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _run(*command: str | Path, code: int = 0) -> str:
    """What a command of an environment prints, in that environment alone."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TOUCHSTONE_", "PYTHON"))}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=clean)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    _uv("build", "--quiet", "--no-config", "--python", sys.executable, str(CORE), "--out-dir", str(folder))
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Makes an environment with the wheel and some extras, as `cli,checks`, and nothing else."""
    made: dict[str, Path] = {}

    def install(extras: str) -> Path:
        if extras in made:
            return made[extras]
        folder = tmp_path_factory.mktemp("environment")
        locked, environment = folder / "pylock.toml", folder / "environment"
        names = [part for extra in extras.split(",") if extra for part in ("--extra", extra)]
        _uv(
            "export", "--quiet", "--frozen", "--package", DISTRIBUTION, *names,
            "--no-emit-workspace", "--no-dev", "--format", "pylock.toml", "--output-file", str(locked),
        )  # fmt: skip
        _uv("venv", "--quiet", "--no-config", "--python", sys.executable, str(environment))
        into = ("--quiet", "--no-config", "--python", str(environment / "bin" / "python"))
        _uv("pip", "install", *into, "--requirements", str(locked))
        # No index: what the wheel asks for must be what the lock file has brought.
        wheel = (built / f"{STEM}-py3-none-any.whl").as_uri()
        _uv("pip", "install", *into, "--no-index", f"{DISTRIBUTION}{f'[{extras}]' if extras else ''} @ {wheel}")
        _uv("pip", "check", *into[:2], *into[2:])
        made[extras] = environment / "bin"
        return made[extras]

    return install


def test_the_metadata_says_what_it_is(built: Path) -> None:
    with zipfile.ZipFile(built / f"{STEM}-py3-none-any.whl") as wheel:
        names = wheel.namelist()
        said: Message = message_from_bytes(wheel.read(f"{STEM}.dist-info/METADATA"))
        licence = wheel.read(f"{STEM}.dist-info/licenses/LICENSE")
    assert (said["Name"], said["Version"], said["License-Expression"]) == (DISTRIBUTION, __version__, "Apache-2.0")
    assert said["Description-Content-Type"] == "text/markdown"
    assert f"pip install '{DISTRIBUTION}[" in str(said.get_payload())
    assert set(said.get_all("Provides-Extra", [])) == {*MODULES, "runtime", "all"}
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert {name.partition("/")[0] for name in names} == {"touchstone", f"{STEM}.dist-info"}
    assert "touchstone/py.typed" in names


def test_the_sdist_holds_the_package_and_nothing_else(built: Path) -> None:
    with tarfile.open(built / f"{STEM}.tar.gz") as archive:
        names = [Path(name).relative_to(STEM).parts[0] for name in archive.getnames()]
    # hatchling adds the ignore file, which says what was left out.
    assert {*names} - {".gitignore"} == {"touchstone", "README.md", "LICENSE", "pyproject.toml", "PKG-INFO"}


def test_everything_that_the_source_has_is_in_the_wheel(built: Path) -> None:
    with zipfile.ZipFile(built / f"{STEM}-py3-none-any.whl") as wheel:
        names = {name for name in wheel.namelist() if name.startswith("touchstone/")}
    sources = {
        path.relative_to(CORE).as_posix()
        for path in (CORE / "touchstone").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == sources


def test_without_extras_the_library_is_there_and_the_command_says_what_it_needs(installed: Install) -> None:
    there = installed("")
    _run(there / "python", "-c", "import touchstone, touchstone.answers.model, touchstone.surfaces.model")
    assert f"pip install '{DISTRIBUTION}[cli]'" in _run(there / "touchstone", "verify", code=2)


@pytest.mark.parametrize("extra", WORKS)
def test_each_extra_is_whole(installed: Install, extra: str) -> None:
    _run(installed(extra) / "python", "-W", "error::ImportWarning", "-c", WORKS[extra])


def test_the_command_works_and_names_what_it_lacks(installed: Install, tmp_path: Path) -> None:
    there = installed("cli")
    assert _run(there / "touchstone", "--version") == f"touchstone {__version__}\n"
    assert "gemini" in _run(there / "touchstone", "models")
    experiment = ("experiment", "run", ROOT / "events/experiment", "--out", tmp_path / "out")
    for extra, arguments in {
        "checks": ("check", "equivalent", "1/2", "0.5"),
        "statistics": experiment,
        "audits": ("audit", "estimate", ROOT / "events/benchmark.yaml"),
    }.items():
        said = _run(there / "touchstone", *arguments, code=2)
        assert said.count("\n") == 1
        assert f"pip install '{DISTRIBUTION}[{extra}]'" in said


def test_what_the_readme_shows_works(installed: Install, tmp_path: Path) -> None:
    there = installed("cli,checks")
    proved = _run(there / "touchstone", "verify", "--local", "--problem", "Compute 3/4 + 1/6.", "--answer", "11/12")
    assert "Verified" in proved
    (tmp_path / "solution.txt").write_text("3 boxes of 4 are 3 * 4 = 14 pieces.")
    assert "It should be: 12" in _run(there / "touchstone", "check", "arithmetic", tmp_path / "solution.txt", code=1)
    _run(there / "python", "-c", "from touchstone import checks; assert checks.equivalent('It is 1/2.', '0.5')")
